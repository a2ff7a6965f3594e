//! Trailers: which are kept, and what an announcement changes.

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method};
use http_body_util::BodyExt;
use presized::{Collect, CollectError, ContentLength, ResponseExt};
use presized_support::mock::{Mock, Step};

use crate::length::response;

#[tokio::test]
async fn trailers_after_last_declared_byte_are_kept() {
    let mut trailers = HeaderMap::new();
    trailers.insert("x-sum", HeaderValue::from_static("1"));
    let body = Mock::new([
        Step::Data(Bytes::from_static(b"hello")),
        Step::Wait,
        Step::Trailers(trailers.clone()),
    ]);
    let read = Collect::new(body, 5).content_length(Some(5)).collected().await.unwrap();
    assert_eq!(read.content, "hello");
    assert_eq!(read.trailers, Some(trailers));
}

#[tokio::test]
async fn several_trailer_sections_are_merged() {
    let trailers = |fields: &[(&'static str, &'static str)]| {
        let mut trailers = HeaderMap::new();
        for &(name, value) in fields {
            trailers.append(name, HeaderValue::from_static(value));
        }
        Step::Trailers(trailers)
    };
    let body = || {
        Mock::new([
            Step::Data(Bytes::from_static(b"he")),
            trailers(&[("x-sum", "1"), ("x-only", "a")]),
            Step::Data(Bytes::from_static(b"llo")),
            trailers(&[("x-sum", "2"), ("x-sum", "3"), ("x-late", "b"), ("x-late", "c")]),
            trailers(&[]),
        ])
    };
    let read = Collect::new(body(), 5).collected().await.unwrap();
    assert_eq!(read.content, "hello");
    let presized = Collect::new(body(), 5).into_presized().collect().await.unwrap();
    let presized = presized.trailers().unwrap();
    for trailers in [&read.trailers.unwrap(), presized] {
        let values = |name| trailers.get_all(name).iter().collect::<Vec<_>>();
        assert_eq!(values("x-sum"), ["1", "2", "3"]);
        assert_eq!(values("x-only"), ["a"]);
        assert_eq!(values("x-late"), ["b", "c"]);
        assert_eq!(trailers.len(), 6);
    }
}

#[tokio::test]
async fn more_trailers_than_a_map_holds_fail_as_stalled() {
    let many = |section: u32| {
        let field =
            |number| (format!("x-{section}-{number}").parse().unwrap(), "1".parse().unwrap());
        Step::Trailers(HeaderMap::from_iter((0..20_000).map(field)))
    };
    let body = Mock::new([Step::Data(Bytes::from_static(b"hello")), many(1), many(2)]);
    let error = Collect::new(body, 5).collected().await.unwrap_err();
    assert!(matches!(error, CollectError::Stalled { received: 5, .. }), "{error}");
    assert_eq!(error.into_partial(), "hello");
}

#[tokio::test]
async fn error_after_last_declared_byte_is_ignored_unless_trailers_are_due() {
    let body = || Mock::new([Step::Data(Bytes::from_static(b"hello")), Step::Fail("reset")]);
    let complete = Collect::new(body(), 10).content_length(Some(5));
    assert_eq!(complete.bytes().await.unwrap(), "hello");

    // Trailers that may validate the content are missing.
    let announced = Collect::new(body(), 10).content_length(Some(5)).trailers_announced(true);
    let error = announced.bytes().await.unwrap_err();
    assert!(matches!(error, CollectError::Body { declared: Some(5), received: 5, .. }), "{error}");

    // With a hint or without a length it is unknown whether the content is complete.
    let hinted = Collect::new(body(), 10).content_length(ContentLength::Hint(5));
    assert!(hinted.bytes().await.is_err());
    assert!(Collect::new(body(), 10).bytes().await.is_err());
}

#[tokio::test]
async fn error_after_announced_trailers_is_ignored() {
    let body = Mock::new([
        Step::Data(Bytes::from_static(b"hello")),
        Step::Trailers(HeaderMap::new()),
        Step::Fail("reset"),
    ]);
    let mut response = response(&[("content-length", b"5"), ("trailer", b"x-sum")], body);
    *response.status_mut() = http::StatusCode::OK;
    let read = response.collect_presized(&Method::GET, 10).collected().await.unwrap();
    assert_eq!((read.content, read.trailers), ("hello".into(), Some(HeaderMap::new())));
}

#[tokio::test]
async fn trailer_field_announces_trailers() {
    let body = Mock::new([Step::Data(Bytes::from_static(b"hello")), Step::Fail("reset")]);
    let response = response(&[("content-length", b"5"), ("trailer", b"x-sum")], body);
    let error = response.collect_presized(&Method::GET, 10).bytes().await.unwrap_err();
    assert!(matches!(error, CollectError::Body { .. }), "{error}");
}
