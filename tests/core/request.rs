//! The body of a request, which is read by the head of the request.

use http::{Method, Request, StatusCode};
use http_body::SizeHint;
use http_body_util::BodyExt;
use presized::{Collect, CollectError, ContentLength, Mismatch, Reader, RequestExt};
use presized_support::drive::drive;
use presized_support::mock::{Mock, Unpolled};

use crate::bodies::{hello_with_trailers, reset_after, trailers};

fn request<B>(fields: &[(&str, &str)], body: B) -> Request<B> {
    let request = Request::builder().method(Method::POST).uri("/upload");
    fields
        .iter()
        .fold(request, |request, &(name, value)| request.header(name, value))
        .body(body)
        .unwrap()
}

#[tokio::test]
async fn content_length_of_a_request_is_its_declared_length() {
    let whole = request(&[("content-length", "5")], Mock::of(["hel", "lo"]));
    let read = whole.collect_presized(5).collected().await.unwrap();
    assert_eq!((&read.content[..], read.stats.reservations), (&b"hello"[..], 1));
    assert_eq!(read.stats.content_length, ContentLength::Exact(5));

    let cut = request(&[("content-length", "9")], Mock::of(["hello"]));
    let error = cut.collect_presized(9).await.unwrap_err();
    assert!(matches!(error, CollectError::Incomplete { declared: 9, received: 5, .. }), "{error}");
    assert_eq!(error.status(), StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn request_over_limit_is_refused_before_polling() {
    let table =
        [(&[("content-length", "6")][..], SizeHint::default()), (&[][..], SizeHint::with_exact(6))];
    for (fields, hint) in table {
        let error = request(fields, Unpolled(hint)).collect_presized(5).await.unwrap_err();
        assert!(
            matches!(error, CollectError::DeclaredTooLarge { declared: 6, limit: 5, .. }),
            "{error}"
        );
        assert_eq!(error.status(), StatusCode::PAYLOAD_TOO_LARGE);
    }
}

#[tokio::test]
async fn transfer_encoding_of_a_request_overrides_content_length() {
    let fields = [("content-length", "3"), ("transfer-encoding", "chunked")];
    let reader = Reader::new(10).mismatch(Mismatch::Reject);
    let read = request(&fields, Mock::of(["hello"])).collect_presized(reader).collected().await;
    let read = read.unwrap();
    assert_eq!(
        (&read.content[..], read.stats.content_length),
        (&b"hello"[..], ContentLength::Unknown)
    );
}

#[tokio::test]
async fn no_method_makes_a_request_empty() {
    for method in [Method::HEAD, Method::GET, Method::CONNECT, Method::DELETE] {
        let mut request = request(&[("content-length", "5")], Mock::of(["hello"]));
        *request.method_mut() = method.clone();
        assert_eq!(request.collect_presized(5).await.unwrap(), "hello", "{method}");
    }
}

#[tokio::test]
async fn coded_request_declares_only_a_hint() {
    let fields = [("content-length", "3"), ("content-encoding", "gzip")];
    let read = request(&fields, Mock::of(["hello"])).collect_presized(5).collected().await.unwrap();
    assert_eq!(
        (&read.content[..], read.stats.content_length),
        (&b"hello"[..], ContentLength::Hint(3))
    );
}

#[tokio::test]
async fn trailer_field_of_a_request_announces_trailers() {
    let complete = request(&[("content-length", "5")], reset_after("hello"));
    assert_eq!(complete.collect_presized(5).await.unwrap(), "hello");
    let announced = [("content-length", "5"), ("trailer", "x-sum")];
    let error = request(&announced, reset_after("hello")).collect_presized(5).await.unwrap_err();
    assert!(matches!(error, CollectError::Body { received: 5, .. }), "{error}");
    let read = request(&announced, hello_with_trailers()).collect_presized(5).collected().await;
    assert_eq!(read.unwrap().trailers, Some(trailers()));
}

#[tokio::test]
async fn presized_request_keeps_its_head_and_length() {
    let request = request(&[("content-length", "5")], hello_with_trailers()).into_presized(5);
    assert_eq!((request.method(), request.uri().path()), (&Method::POST, "/upload"));
    let collected = request.into_body().collect().await.unwrap();
    assert_eq!(collected.trailers(), Some(&trailers()));
    assert_eq!(collected.to_bytes(), "hello");

    let cut = self::request(&[("content-length", "9")], Mock::of(["hello"])).into_presized(9);
    let error = cut.into_body().collect().await.unwrap_err();
    assert!(matches!(error, CollectError::Incomplete { declared: 9, .. }), "{error}");
}

#[test]
fn reader_and_collect_read_a_request_as_its_extension_does() {
    let fields = [("content-length", "9"), ("trailer", "x-sum")];
    let by_extension = request(&fields, Mock::of(["hello"])).collect_presized(9);
    let by_reader = Reader::new(9).request(request(&fields, Mock::of(["hello"])));
    let (head, body) = request(&fields, Mock::of(["hello"])).into_parts();
    let by_collect = Collect::of_request(&head, body, 9);
    for collect in [by_extension, by_reader, by_collect] {
        let error = drive(collect.bytes()).unwrap_err();
        let message = "body ended early: 5 of 9 declared bytes received";
        assert_eq!(error.to_string(), message);
    }
}
