use super::ContentLength::{Exact, Hint, Invalid, Unknown};
use super::*;
use http::{HeaderValue, Response};

fn headers(fields: &[(&'static str, &[u8])]) -> HeaderMap {
    let mut map = HeaderMap::new();
    for &(name, value) in fields {
        map.append(name, HeaderValue::from_bytes(value).unwrap());
    }
    map
}

#[test]
fn one_value() {
    let table: &[(&[u8], ContentLength)] = &[
        (b"0", Exact(0)),
        (b"5", Exact(5)),
        (b" 5\t", Exact(5)),
        (b"\t 5", Exact(5)),
        (b"05", Exact(5)),
        (b"00000000000000000000000000000000000000000005", Exact(5)),
        (b"18446744073709551615", Exact(u64::MAX)),
        (b"9000000000000000000", Exact(9_000_000_000_000_000_000)),
        // One more than fits, and far more.
        (b"18446744073709551616", Exact(u64::MAX)),
        (b"99999999999999999999999999999999", Exact(u64::MAX)),
        (b"018446744073709551616, 18446744073709551616", Exact(u64::MAX)),
        (b"18446744073709551615, 18446744073709551616", Invalid),
        (b"18446744073709551616, 18446744073709551617", Invalid),
        (b"18446744073709551616, 0", Invalid),
        (b"18446744073709551616x", Invalid),
        (b"+18446744073709551616", Invalid),
        // Signs (CVE-2021-32715).
        (b"+5", Invalid),
        (b"-1", Invalid),
        (b"-0", Invalid),
        // Nothing, blanks, and blanks inside.
        (b"", Invalid),
        (b" ", Invalid),
        (b"\t", Invalid),
        (b"1 2", Invalid),
        (b"5 5", Invalid),
        // Other ways to write a number.
        (b"5_0", Invalid),
        (b"0x5", Invalid),
        (b"5.0", Invalid),
        (b"5e0", Invalid),
        (b"\xd9\xa5", Invalid),
        (b"\xff", Invalid),
        (b"five", Invalid),
        // Lists.
        (b"3,3", Exact(3)),
        (b"3 , 3", Exact(3)),
        (b"3,03,\t3", Exact(3)),
        (b"133172, 133172", Exact(133_172)),
        (b"42,30", Invalid),
        (b"42,", Invalid),
        (b",42", Invalid),
        (b"42,,42", Invalid),
        (b",", Invalid),
        (b"42,x", Invalid),
        (b"42x", Invalid),
        (b"42;42", Invalid),
    ];
    for (value, expected) in table {
        let found = ContentLength::from_headers(&headers(&[("content-length", value)]));
        assert_eq!(found, *expected, "{:?}", value.escape_ascii().to_string());
    }
}

#[test]
fn many_lines() {
    let table: &[(&[&[u8]], ContentLength)] = &[
        (&[], Unknown),
        (&[b"3", b"3"], Exact(3)),
        (&[b"3", b"3", b"3, 3"], Exact(3)),
        (&[b"5", b"05"], Exact(5)),
        (&[b"10", b"20"], Invalid),
        (&[b"20", b"10"], Invalid),
        (&[b"10", b"10,20"], Invalid),
        (&[b"42", b"\xff"], Invalid),
        (&[b"42", b""], Invalid),
        (&[b"", b"42"], Invalid),
    ];
    for (values, expected) in table {
        let fields: Vec<_> = values.iter().map(|v| ("content-length", *v)).collect();
        assert_eq!(ContentLength::from_headers(&headers(&fields)), *expected, "{values:?}");
    }
}

#[test]
fn transfer_encoding_overrides_the_field() {
    for coding in ["chunked", "gzip, chunked", "identity", ""] {
        let map = headers(&[("content-length", b"3"), ("transfer-encoding", coding.as_bytes())]);
        assert_eq!(ContentLength::from_headers(&map), Unknown, "{coding:?}");
    }
}

#[test]
fn content_coding_makes_a_hint() {
    let table: &[(&[&[u8]], ContentLength)] = &[
        (&[b"gzip"], Hint(3)),
        (&[b"GZIP"], Hint(3)),
        (&[b"identity, br"], Hint(3)),
        (&[b"identity", b"zstd"], Hint(3)),
        (&[b"\xff"], Hint(3)),
        (&[b"identity"], Exact(3)),
        (&[b"Identity , IDENTITY"], Exact(3)),
        (&[b""], Exact(3)),
        (&[b" , "], Exact(3)),
    ];
    for (codings, expected) in table {
        let mut fields: Vec<(&'static str, &[u8])> = vec![("content-length", b"3")];
        fields.extend(codings.iter().map(|v| ("content-encoding", *v)));
        assert_eq!(ContentLength::from_headers(&headers(&fields)), *expected, "{codings:?}");
    }
    let large = b"18446744073709551616";
    let large = headers(&[("content-length", large), ("content-encoding", b"gzip")]);
    assert_eq!(ContentLength::from_headers(&large), Hint(u64::MAX));
    let bad = headers(&[("content-length", b"x"), ("content-encoding", b"gzip")]);
    assert_eq!(ContentLength::from_headers(&bad), Invalid);
}

#[test]
fn method_and_status() {
    let table = [
        (Method::GET, 200, Exact(3501)),
        (Method::POST, 201, Exact(3501)),
        (Method::GET, 205, Exact(3501)),
        (Method::GET, 404, Exact(3501)),
        (Method::HEAD, 200, Exact(0)),
        (Method::HEAD, 404, Exact(0)),
        (Method::GET, 100, Exact(0)),
        (Method::GET, 103, Exact(0)),
        (Method::GET, 204, Exact(0)),
        (Method::GET, 304, Exact(0)),
        (Method::CONNECT, 200, Unknown),
        (Method::CONNECT, 204, Exact(0)),
        (Method::CONNECT, 407, Exact(3501)),
    ];
    for (method, status, expected) in table {
        let (head, ()) = Response::builder()
            .status(status)
            .header("content-length", "3501")
            .body(())
            .unwrap()
            .into_parts();
        assert_eq!(ContentLength::of_response(&method, &head), expected, "{method} {status}");
    }
}

#[test]
fn no_content_outranks_transfer_encoding() {
    let (head, ()) =
        Response::builder().header("transfer-encoding", "chunked").body(()).unwrap().into_parts();
    assert_eq!(ContentLength::of_response(&Method::HEAD, &head), Exact(0));
}
