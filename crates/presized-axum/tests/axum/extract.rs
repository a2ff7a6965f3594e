//! Tests of the extractors and of the responses to rejected requests.

use std::error::Error;

use axum::body::Body;
use axum::extract::FromRef;
use axum::extract::{FromRequest, Request};
use axum::http::StatusCode;
use axum::response::IntoResponse;
use axum::routing::put;
use axum::{Json, Router};
use http_body_util::{BodyExt, Limited};
use presized::{BufferPool, CollectError, MemoryBudget, Reader};
use presized_axum::{PresizedBytes, PresizedJson, PresizedRejection, PresizedText};

use crate::server::{connect, exchange, head};

fn request(content_type: Option<&str>, body: impl Into<Body>) -> Request {
    let request = Request::put("/upload");
    let request =
        content_type.iter().fold(request, |request, value| request.header("content-type", *value));
    request.body(body.into()).unwrap()
}

/// Returns the response of a rejection as status and text.
async fn response(rejection: impl IntoResponse) -> (StatusCode, String) {
    let response = rejection.into_response();
    let status = response.status();
    let text = response.into_body().collect().await.unwrap().to_bytes();
    (status, String::from_utf8(text.to_vec()).unwrap())
}

#[tokio::test]
async fn content_comes_as_bytes_text_and_json() {
    let reader = Reader::new(8);
    let PresizedBytes(bytes) =
        PresizedBytes::from_request(request(None, "[1,2]"), &reader).await.unwrap();
    assert_eq!(bytes, "[1,2]");
    let PresizedText(text) =
        PresizedText::from_request(request(None, "[1,2]"), &reader).await.unwrap();
    assert_eq!(text, "[1,2]");
    let json = request(Some("application/json"), "[1,2]");
    let PresizedJson(numbers) = PresizedJson::<Vec<u8>>::from_request(json, &reader).await.unwrap();
    assert_eq!(numbers, [1, 2]);
}

#[tokio::test]
async fn limit_is_inclusive_and_rejection_names_limit_and_length() {
    let body = |length: usize| request(None, vec![b'a'; length]);
    assert!(PresizedBytes::from_request(body(8), &Reader::new(8)).await.is_ok());
    let rejection = PresizedBytes::from_request(body(9), &Reader::new(8)).await.unwrap_err();
    let text = "body declares 9 bytes, over the limit of 8 bytes";
    assert_eq!(rejection.to_string(), text);
    assert_eq!(response(rejection).await, (StatusCode::PAYLOAD_TOO_LARGE, text.to_owned()));
}

#[tokio::test]
async fn rejection_for_memory_is_503_and_tells_nothing_about_the_server() {
    let reader = Reader::new(9).budget(&MemoryBudget::new(4));
    let rejection = PresizedBytes::from_request(request(None, "hello"), &reader).await.unwrap_err();
    assert!(rejection.to_string().contains("budget of 4 bytes"), "{rejection}");
    let (status, text) = response(rejection).await;
    assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(text, "no memory for the request body at the moment, try again later");
}

#[tokio::test]
async fn text_that_is_not_utf8_is_rejected_with_400() {
    let body = request(None, b"ab\xff".to_vec());
    let rejection = PresizedText::from_request(body, &Reader::new(8)).await.unwrap_err();
    let (status, text) = response(rejection).await;
    assert_eq!(status, StatusCode::BAD_REQUEST);
    assert_eq!(text, "body is not UTF-8: invalid byte at 2 of 3 bytes");
}

#[tokio::test]
async fn failed_body_is_rejected_with_400_and_its_cause_is_a_source() {
    let frames = [Ok("hello"), Err(std::io::Error::other("reset"))];
    let body = Body::from_stream(futures_util::stream::iter(frames));
    let rejection =
        PresizedBytes::from_request(request(None, body), &Reader::new(8)).await.unwrap_err();
    assert!(matches!(rejection, PresizedRejection::Body(CollectError::Body { received: 5, .. })));
    assert_eq!(rejection.source().unwrap().to_string(), "reset");
    let (status, text) = response(rejection).await;
    assert_eq!((status.as_u16(), text.as_str()), (400, "body failed: 5 bytes received"));
}

/// The limit of a layer stays a limit in the error of a layer inside of it.
#[tokio::test]
async fn limit_of_a_layer_is_found_inside_of_an_io_error() {
    let body = Limited::new(Body::from("hello"), 4).map_err(std::io::Error::other);
    let request = request(None, Body::new(body));
    let rejection = PresizedBytes::from_request(request, &Reader::new(8)).await.unwrap_err();
    assert_eq!(rejection.status(), StatusCode::PAYLOAD_TOO_LARGE, "{rejection:?}");
}

#[tokio::test]
async fn json_has_the_same_status_as_the_extractor_of_axum() {
    let table = [
        (Some("application/json"), "[1,2]", 200),
        (Some("Application/Json; charset=utf-8"), "[1,2]", 200),
        (Some("application/vnd.api+json"), "[1,2]", 200),
        (None, "[1,2]", 415),
        (Some("text/plain"), "[1,2]", 415),
        (Some("text/json"), "[1,2]", 415),
        (Some("application/json-seq"), "[1,2]", 415),
        (Some("application/json"), "[1,2", 400),
        (Some("application/json"), "", 400),
        (Some("application/json"), "[1,2] x", 400),
        (Some("application/json"), "[1,2]\n", 200),
        (Some("application/json"), "\"secret\"", 422),
        (Some("application/json"), "[1,300]", 422),
        (Some("application/json"), "[1,-1] x", 422),
    ];
    let reader = Reader::new(64);
    for (content_type, content, status) in table {
        let ours =
            PresizedJson::<Vec<u8>>::from_request(request(content_type, content), &reader).await;
        let ours = ours.map_or_else(|rejection| rejection.status(), |_| StatusCode::OK);
        let of_axum = Json::<Vec<u8>>::from_request(request(content_type, content), &()).await;
        let of_axum = of_axum.map_or_else(|rejection| rejection.status(), |_| StatusCode::OK);
        assert_eq!((ours, of_axum.as_u16()), (of_axum, status), "{content_type:?} {content}");
    }
}

#[tokio::test]
async fn json_rejection_has_a_position_and_quotes_no_content() {
    let body = request(Some("application/json"), "\"secret\"");
    let rejection =
        PresizedJson::<Vec<u8>>::from_request(body, &Reader::new(64)).await.unwrap_err();
    let (_, text) = response(rejection).await;
    let expected = "body is not JSON of the requested type: 8 bytes received: \
                    JSON has an unexpected type or shape at line 1 column 8";
    assert_eq!(text, expected);
}

#[tokio::test]
async fn buffer_of_bytes_belongs_to_the_pool_and_to_the_budget() {
    let (pool, budget) = (BufferPool::new(1 << 20), MemoryBudget::new(1 << 20));
    let reader = Reader::new(50_000).pool(&pool).budget(&budget);
    for round in 0..2 {
        let frames = [Ok::<_, std::io::Error>(vec![7; 20_000]), Ok(vec![7; 20_000])];
        let body = Body::from_stream(futures_util::stream::iter(frames));
        let mut request = request(None, body);
        request.headers_mut().insert("content-length", "40000".parse().unwrap());
        let PresizedBytes(content) = PresizedBytes::from_request(request, &reader).await.unwrap();
        assert_eq!(content, [7; 40_000][..]);
        // The pool has buffers of certain sizes.
        assert!((40_000..=50_000).contains(&budget.in_use()), "{}", budget.in_use());
        assert_eq!((pool.stats().hits, pool.stats().outstanding), (round, 1));
        drop(content);
        assert_eq!((budget.in_use(), pool.stats().outstanding), (0, 0));
    }
}

/// A state with more than a reader, and another reader for one route.
#[tokio::test]
async fn reader_is_taken_from_a_larger_state_or_from_the_state_of_a_route() {
    #[derive(Clone)]
    struct App {
        reader: Reader,
        greeting: &'static str,
    }
    impl FromRef<App> for Reader {
        fn from_ref(app: &App) -> Self {
            app.reader.clone()
        }
    }
    let upload =
        async |axum::extract::State(app): axum::extract::State<App>,
               PresizedText(name): PresizedText| { format!("{} {name}", app.greeting) };
    let large = async |PresizedText(text): PresizedText| text;
    let app = App { reader: Reader::new(5), greeting: "hello" };
    let app = Router::new()
        .route("/upload", put(upload))
        .route("/large", put(large).with_state(Reader::new(6)))
        .with_state(app);
    let mut stream = connect(app, 4096);
    let (_, text) = exchange(&mut stream, head("Content-Length: 5\r\n") + "world").await;
    assert_eq!(text, "hello world");
    let (_, text) = exchange(&mut stream, head("Content-Length: 6\r\n") + "worlds").await;
    assert_eq!(text, "body declares 6 bytes, over the limit of 5 bytes");
    let large = head("Content-Length: 6\r\n").replace("/upload", "/large");
    let (_, text) = exchange(&mut stream, large + "worlds").await;
    assert_eq!(text, "worlds");
}
