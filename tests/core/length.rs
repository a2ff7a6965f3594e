//! The declared length of a response, and what differs from it.

use bytes::Bytes;
use http::{HeaderValue, Method, Response};
use http_body::SizeHint;
use http_body_util::BodyExt;
use presized::{
    Collect, CollectError, ContentLength, Mismatch, Reader, ResponseExt, collect_presized,
};
use presized_support::mock::{Mock, Step, Unpolled};

pub(crate) fn response(fields: &[(&'static str, &'static [u8])], body: Mock) -> Response<Mock> {
    let mut response = Response::new(body);
    for &(name, value) in fields {
        response.headers_mut().append(name, HeaderValue::from_bytes(value).unwrap());
    }
    response
}

#[tokio::test]
async fn signed_content_length_is_invalid() {
    for value in [&b"+5"[..], b"-1", b"-0"] {
        let response = response(&[("content-length", value)], Mock::of(["hello"]));
        let read = response.collect_presized(&Method::GET, 10).collected().await.unwrap();
        assert_eq!(read.content, "hello");
        assert_eq!(read.stats.content_length, ContentLength::Invalid);
    }
}

#[tokio::test]
async fn content_length_of_2_to_the_64_and_more_is_refused_before_polling() {
    let large: [&[u8]; 3] =
        [b"18446744073709551616", b"18446744073709551616, 18446744073709551616", &[b'9'; 100]];
    for value in large {
        let unpolled = || Unpolled(SizeHint::default());
        let mut response = Response::new(unpolled());
        response.headers_mut().insert("content-length", HeaderValue::from_bytes(value).unwrap());
        let length = ContentLength::from_headers(response.headers());
        let read = response.collect_presized(&Method::GET, u64::MAX - 1);
        let error = read.bytes().await.unwrap_err();
        assert!(
            matches!(error, CollectError::DeclaredTooLarge { declared: u64::MAX, .. }),
            "{error}"
        );
        let error = collect_presized(unpolled(), length.value(), 10).await.unwrap_err();
        assert!(error.is_too_large(), "{error}");
        let limited = Collect::new(unpolled(), 10).content_length(length).into_limited();
        assert!(limited.collect().await.unwrap_err().is_too_large());
    }
}

#[tokio::test]
async fn body_that_ends_before_2_to_the_64_bytes_is_incomplete() {
    let fields: &[(&str, &[u8])] = &[("content-length", b"18446744073709551616")];
    let response = response(fields, Mock::of(["hello"]));
    let error = response.collect_presized(&Method::GET, u64::MAX).bytes().await.unwrap_err();
    assert!(matches!(error, CollectError::Incomplete { received: 5, .. }), "{error}");
}

#[tokio::test]
async fn empty_content_length_is_not_zero() {
    let response = response(&[("content-length", b"")], Mock::of(["abc"]));
    let read = response
        .collect_presized(&Method::GET, Reader::new(10).mismatch(Mismatch::Reject))
        .bytes()
        .await
        .unwrap();
    assert_eq!(read, "abc");
}

#[tokio::test]
async fn repeated_identical_content_lengths_are_one_length() {
    let spellings: [&[(&str, &[u8])]; 3] = [
        &[("content-length", b"3"), ("content-length", b"3")],
        &[("content-length", b"3,3")],
        &[("content-length", b"3 , 3")],
    ];
    for fields in spellings {
        let response = response(fields, Mock::of(["hey"]));
        let read = response.collect_presized(&Method::GET, 10).collected().await.unwrap();
        assert_eq!(read.content, "hey");
        assert_eq!(read.stats.content_length, ContentLength::Exact(3));
    }
}

#[tokio::test]
async fn transfer_encoding_overrides_content_length() {
    let fields: &[(&str, &[u8])] = &[("content-length", b"3"), ("transfer-encoding", b"chunked")];
    for mismatch in [Mismatch::RejectShorter, Mismatch::Reject, Mismatch::Allow] {
        let response = response(fields, Mock::of(["hello"]));
        let read = response
            .collect_presized(&Method::GET, Reader::new(10).mismatch(mismatch))
            .collected()
            .await;
        let read = read.unwrap();
        assert_eq!(read.content, "hello");
        assert_eq!(read.stats.content_length, ContentLength::Unknown);
    }
}

#[tokio::test]
async fn response_to_head_is_empty_whatever_it_declares() {
    // The test hangs if the read waits for the end of the body.
    let body = Mock::new([Step::Hang]).exact(0).end_stream();
    let response = response(&[("content-length", b"3501")], body);
    assert_eq!(response.collect_presized(&Method::HEAD, 10).bytes().await.unwrap(), "");

    // The caller passes the field without the method. The size hint of the body outranks it.
    let body = Mock::new([Step::Hang]).exact(0).end_stream();
    assert_eq!(collect_presized(body, Some(3501), 10_000).await.unwrap(), "");
}

#[tokio::test]
async fn statuses_204_and_304_are_empty_whatever_they_declare() {
    for status in [204, 304] {
        let mut response = response(&[("content-length", b"5")], Mock::default());
        *response.status_mut() = status.try_into().unwrap();
        let read = response.collect_presized(&Method::GET, 10).collected().await.unwrap();
        assert_eq!(read.content, "");
        assert_eq!(read.stats.content_length, ContentLength::Exact(0));
    }
}

#[tokio::test]
async fn exact_size_hint_outranks_content_length() {
    let read =
        Collect::new(Mock::of(["hello"]).exact(5), Reader::new(10).mismatch(Mismatch::Reject))
            .content_length(Some(3))
            .collected()
            .await
            .unwrap();
    assert_eq!(read.stats.content_length, ContentLength::Exact(5));

    let error = Collect::new(Mock::of(["hello"]).exact(7), 10)
        .content_length(Some(5))
        .bytes()
        .await
        .unwrap_err();
    assert!(matches!(error, CollectError::Incomplete { declared: 7, received: 5, .. }), "{error}");
}

#[tokio::test]
async fn lower_bound_of_size_hint_is_a_hint() {
    for lower in [1, 5, 9] {
        let body = Mock::of(["hello"]).hint(lower, None);
        let read = Collect::new(body, Reader::new(10).mismatch(Mismatch::Reject))
            .collected()
            .await
            .unwrap();
        assert_eq!(read.content, "hello");
        assert_eq!(read.stats.content_length, ContentLength::Hint(lower));
    }
}

#[tokio::test]
async fn fewer_bytes_than_declared_are_incomplete() {
    for (frames, received) in [(&["12345"][..], 5), (&["1", "2", "", "3"], 3), (&[], 0)] {
        let error = collect_presized(Mock::of(frames), Some(10), 100).await.unwrap_err();
        assert!(
            matches!(error, CollectError::Incomplete { declared: 10, received: n, .. } if n == received),
            "{error}"
        );
        assert_eq!(error.into_partial(), frames.concat());
    }
}

#[tokio::test]
async fn one_byte_short_of_a_mebibyte_is_incomplete() {
    let frame = Bytes::from(vec![b'x'; (1 << 20) - 1]);
    let body = Mock::new([Step::Data(frame.clone())]);
    let error = collect_presized(body, Some(1 << 20), u64::MAX).await.unwrap_err();
    assert!(
        matches!(error, CollectError::Incomplete { declared: 1_048_576, received: 1_048_575, .. }),
        "{error}"
    );
    assert_eq!(error.into_partial(), frame);
}

#[tokio::test]
async fn mismatch_decides_whether_a_shorter_body_fails() {
    let read = |mismatch| {
        Collect::new(Mock::of(["12345"]), Reader::new(100).mismatch(mismatch))
            .content_length(Some(10))
            .collected()
    };
    let allowed = read(Mismatch::Allow).await.unwrap();
    assert_eq!(allowed.content, "12345");
    assert!(allowed.stats.is_shorter() && !allowed.stats.is_longer());
    for mismatch in [Mismatch::RejectShorter, Mismatch::Reject] {
        let error = read(mismatch).await.unwrap_err();
        assert!(matches!(error, CollectError::Incomplete { declared: 10, received: 5, .. }));
    }
}

#[tokio::test]
async fn mismatch_decides_whether_a_longer_body_fails() {
    let read = |mismatch| {
        Collect::new(Mock::of(["1", "1111"]), Reader::new(100).mismatch(mismatch))
            .content_length(Some(1))
            .collected()
    };
    for mismatch in [Mismatch::RejectShorter, Mismatch::Allow] {
        let read = read(mismatch).await.unwrap();
        assert_eq!(read.content, "11111");
        assert!(read.stats.is_longer() && !read.stats.is_shorter());
    }
    let error = read(Mismatch::Reject).await.unwrap_err();
    assert!(matches!(error, CollectError::Longer { declared: 1, received: 5, .. }), "{error}");
    assert_eq!(error.into_partial(), "1");
}

#[tokio::test]
async fn longer_body_fails_at_limit() {
    let error = collect_presized(Mock::of(["1", "1111"]), Some(1), 4).await.unwrap_err();
    assert!(matches!(error, CollectError::TooLarge { limit: 4, received: 5, .. }), "{error}");
}

#[tokio::test]
async fn length_of_coded_content_is_only_a_hint() {
    let coded = |body, limit, coding| {
        response(&[("content-length", b"3"), ("content-encoding", coding)], body)
            .collect_presized(&Method::GET, Reader::new(limit).mismatch(Mismatch::Reject))
            .collected()
    };
    let thirty_five = || Mock::of(["0123456789"; 3].into_iter().chain(["01234"]));

    let read = coded(thirty_five(), 35, b"gzip").await.unwrap();
    assert_eq!(read.content, "01234567890123456789012345678901234");
    assert_eq!(read.stats.content_length, ContentLength::Hint(3));
    assert!(!read.stats.is_longer());

    // The limit counts decoded bytes.
    let error = coded(thirty_five(), 34, b"gzip").await.unwrap_err();
    assert!(matches!(error, CollectError::TooLarge { limit: 34, received: 35, .. }), "{error}");

    // Fewer bytes than in the coded form are not an error either.
    assert_eq!(coded(Mock::of(["ab"]), 34, b"gzip").await.unwrap().content, "ab");

    // A coded length over the limit says nothing about the decoded length.
    assert_eq!(coded(Mock::of(["ab"]), 2, b"br").await.unwrap().content, "ab");

    let error = coded(thirty_five(), 35, b"identity").await.unwrap_err();
    assert!(matches!(error, CollectError::Longer { declared: 3, .. }), "{error}");
}

#[tokio::test]
async fn body_at_its_end_after_an_empty_first_frame_is_empty_whatever_it_declares() {
    let empty = || Step::Data(Bytes::new());
    for limit in [10, 5] {
        let body = Mock::new([empty()]).exact(5).end_stream_after(1);
        let read = Collect::new(body, limit).collected().await.unwrap();
        assert_eq!((read.content, read.stats.content_length), ("".into(), ContentLength::Exact(0)));
    }
    // Bytes are missing: the end came without the last frame, or after content.
    let hello = Step::Data(Bytes::from_static(b"hel"));
    for body in [
        Mock::new([]).exact(5).end_stream_after(1),
        Mock::new([empty()]).exact(5),
        Mock::new([empty(), hello, empty()]).exact(5).end_stream_after(3),
    ] {
        let error = Collect::new(body, 10).bytes().await.unwrap_err();
        assert!(matches!(error, CollectError::Incomplete { declared: 5, .. }), "{error}");
    }
}
