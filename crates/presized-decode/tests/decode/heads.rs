//! Codings in the heads of messages.

use http::header::{CONTENT_ENCODING, CONTENT_LENGTH, TRANSFER_ENCODING};
use http::{HeaderMap, Request, Response, StatusCode};
use http_body_util::BodyExt;
use presized::{CollectError, RequestExt};
use presized_decode::{Coding, Codings, DecodeError, DecodeExt};
use presized_support::mock::Mock;

use crate::Form;

fn fields(values: &[&str]) -> HeaderMap {
    values.iter().map(|value| (CONTENT_ENCODING, value.parse().unwrap())).collect()
}

#[test]
fn codings_are_read_from_all_fields_in_order() {
    use Coding::{Brotli, Deflate, Gzip, Zstd};
    let table: [(&[&str], &[Coding]); 10] = [
        (&[], &[]),
        (&[""], &[]),
        (&["identity"], &[]),
        (&["gzip"], &[Gzip]),
        (&["X-Gzip"], &[Gzip]),
        (&["GZIP , br"], &[Gzip, Brotli]),
        (&["gzip,,identity,\tzstd "], &[Gzip, Zstd]),
        (&["deflate", "br"], &[Deflate, Brotli]),
        (&["gzip, gzip", "gzip", "gzip"], &[Gzip; 4]),
        (&["Identity, deflate"], &[Deflate]),
    ];
    for (values, expected) in table {
        let codings = Codings::from_headers(&fields(values)).unwrap();
        assert_eq!(codings.as_slice(), expected, "{values:?}");
    }
}

#[test]
fn unknown_coding_is_an_error_with_its_name() {
    for (value, name) in
        [("compress", "compress"), ("gzip, aws-chunked", "aws-chunked"), ("dcb", "dcb")]
    {
        let error = Codings::from_headers(&fields(&[value])).unwrap_err();
        assert_eq!(error.status(), StatusCode::UNSUPPORTED_MEDIA_TYPE);
        let DecodeError::UnsupportedCoding { coding, .. } = error else { panic!("{error:?}") };
        assert_eq!(&*coding, name);
    }
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_ENCODING, http::HeaderValue::from_bytes(b"gzi\xff").unwrap());
    let error = Codings::from_headers(&headers).unwrap_err();
    assert_eq!(error.to_string(), "content coding \"gzi\u{fffd}\" is not supported");
}

#[test]
fn more_than_four_codings_are_an_error() {
    let error = Codings::from_headers(&fields(&["gzip, gzip", "br, br, zstd"])).unwrap_err();
    assert!(matches!(error, DecodeError::TooManyCodings { bound: 4, .. }), "{error:?}");
    assert_eq!(error.status(), StatusCode::UNSUPPORTED_MEDIA_TYPE);
    let error = Codings::new([Coding::Gzip; 5]).unwrap_err();
    assert!(matches!(error, DecodeError::TooManyCodings { bound: 4, .. }), "{error:?}");
}

#[tokio::test]
async fn decoded_message_has_no_coding_and_no_length() {
    let coded = Form::Gzip.code(b"hello");
    let response = Response::builder()
        .header(CONTENT_ENCODING, "gzip")
        .header(CONTENT_LENGTH, coded.len())
        .header("etag", "\"1\"")
        .body(Mock::of([&coded]).exact(coded.len() as u64));
    let response = response.unwrap().decode().unwrap();
    let names: Vec<_> = response.headers().keys().collect();
    assert_eq!(names, ["etag"]);
    assert_eq!(http_body::Body::size_hint(response.body()).exact(), None);
    assert_eq!(response.into_body().collect().await.unwrap().to_bytes(), "hello");

    let request = Request::builder()
        .header(CONTENT_ENCODING, "gzip")
        .header(TRANSFER_ENCODING, "chunked")
        .body(Mock::of([&coded]));
    let request = request.unwrap().decode().unwrap();
    let names: Vec<_> = request.headers().keys().collect();
    assert_eq!(names, ["transfer-encoding"]);
    assert_eq!(request.into_body().collect().await.unwrap().to_bytes(), "hello");
}

#[tokio::test]
async fn head_stays_if_there_is_nothing_to_decode() {
    let head = Response::builder()
        .header(CONTENT_ENCODING, "gzip")
        .header(CONTENT_LENGTH, 3501)
        .body(Mock::default().end_stream().exact(0));
    let plain = Response::builder()
        .header(CONTENT_ENCODING, "identity")
        .header(CONTENT_LENGTH, 0)
        .body(Mock::default());
    for response in [head, plain] {
        let response = response.unwrap();
        let before = response.headers().clone();
        let response = response.decode().unwrap();
        assert_eq!(*response.headers(), before);
        assert!(response.into_body().collect().await.unwrap().to_bytes().is_empty());
    }
}

#[tokio::test]
async fn invalid_length_of_the_coded_form_is_ignored() {
    let coded = Form::Zstd.code(b"hello");
    for lengths in [&["+999"][..], &["999", "998"], &["x"], &[""], &["99999999999999999999999"]] {
        let mut response = Response::new(Mock::of([&coded]));
        response.headers_mut().insert(CONTENT_ENCODING, "zstd".parse().unwrap());
        for length in lengths {
            response.headers_mut().append(CONTENT_LENGTH, length.parse().unwrap());
        }
        let content = response.decode().unwrap().into_body().collect().await.unwrap();
        assert_eq!(content.to_bytes(), "hello", "{lengths:?}");
    }
}

#[tokio::test]
async fn reader_above_has_the_status_of_the_error() {
    let table = [
        // The head of a frame with a window of 64 MiB.
        (&[0x28, 0xb5, 0x2f, 0xfd, 0, 16 << 3][..], StatusCode::PAYLOAD_TOO_LARGE),
        (b"plain", StatusCode::BAD_REQUEST),
        (&[0x28], StatusCode::BAD_REQUEST),
    ];
    for (coded, status) in table {
        let request = Request::builder().header(CONTENT_ENCODING, "zstd").body(Mock::of([coded]));
        let request = request.unwrap().decode().unwrap();
        let error = request.collect_presized(1024).await.unwrap_err();
        let CollectError::Body { source, .. } = &error else { panic!("{error:?}") };
        assert_eq!((source.status(), error.status()), (status, status), "{source:?}");
        assert_eq!(error.boxed().status(), status);
    }
}
