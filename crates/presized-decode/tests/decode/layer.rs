//! The layer, over a service that responds in the same process.

use std::convert::Infallible;
use std::sync::{Arc, Mutex};

use http::{HeaderMap, Method, Request, Response};
use http_body_util::BodyExt;
use presized::{CollectError, ResponseExt as _};
use presized_decode::{DecodeError, DecodeLayer, Decoder};
use presized_support::coded::bomb;
use presized_support::mock::Mock;
use tower::{Service, ServiceBuilder, ServiceExt, service_fn};

use crate::Form;

/// The header fields of the requests that a service has seen.
type Seen = Arc<Mutex<Vec<HeaderMap>>>;

/// Returns a service that always responds like this.
fn server(
    coding: &'static str,
    coded: Vec<u8>,
) -> (impl Service<Request<()>, Response = Response<Mock>, Error = Infallible> + Clone, Seen) {
    let seen = Seen::default();
    let requests = seen.clone();
    let service = service_fn(move |request: Request<()>| {
        requests.lock().unwrap().push(request.headers().clone());
        let response = Response::builder()
            .header("content-encoding", coding)
            .header("content-length", coded.len())
            .body(Mock::of([&coded]));
        async { Ok::<_, Infallible>(response.unwrap()) }
    });
    (service, seen)
}

#[tokio::test]
async fn accepted_codings_are_sent_unless_the_request_says_otherwise() {
    let (service, seen) = server("gzip", Form::Gzip.code(b"hello"));
    let client = ServiceBuilder::new().layer(DecodeLayer::new()).service(service);
    for (name, value) in [("x", "y"), ("accept-encoding", "br"), ("range", "bytes=0-")] {
        let request = Request::get("/").header(name, value).body(()).unwrap();
        let response = client.clone().oneshot(request).await.unwrap();
        assert!(response.headers().is_empty());
        assert_eq!(response.into_body().collect().await.unwrap().to_bytes(), "hello");
    }
    let seen = seen.lock().unwrap();
    let accepted = seen.iter().map(|headers| headers.get("accept-encoding")).collect::<Vec<_>>();
    let all = "zstd, br, gzip, deflate".parse().unwrap();
    assert_eq!(accepted, [Some(&all), Some(&"br".parse().unwrap()), None]);
}

#[tokio::test]
async fn unsupported_coding_fails_the_body_and_keeps_the_head() {
    let (service, _) = server("compress", b"coded".to_vec());
    let client = ServiceBuilder::new().layer(DecodeLayer::new()).service(service);
    let response = client.oneshot(Request::new(())).await.unwrap();
    assert_eq!(response.headers()["content-encoding"], "compress");
    assert_eq!(response.headers()["content-length"], "5");
    let error = response.collect_presized(&Method::GET, 64).await.unwrap_err();
    let CollectError::Body { source, .. } = error else { panic!("{error:?}") };
    assert!(matches!(source, DecodeError::UnsupportedCoding { .. }), "{source:?}");
}

#[tokio::test]
async fn memory_of_the_layer_bounds_its_bodies() {
    let coded = bomb("br", 1, 24);
    for (memory, decodes) in [(Decoder::DEFAULT_MEMORY, false), (17 << 20, true)] {
        let (service, _) = server("br", coded.clone());
        let layer = DecodeLayer::new().decoder(Decoder::new().memory(memory));
        let client = ServiceBuilder::new().layer(layer).service(service);
        let response = client.oneshot(Request::new(())).await.unwrap();
        let read = response.collect_presized(&Method::GET, 4 << 20).await;
        assert_eq!(read.is_ok(), decodes, "{memory}: {read:?}");
    }
}
