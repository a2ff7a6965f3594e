//! Tests of the layer for request bodies.

use std::convert::Infallible;
use std::io::Write;
use std::sync::Mutex;
use std::time::Duration;

use axum::Router;
use axum::body::Body as AxumBody;
use axum::routing::put;
use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use http::{Method, Request, Response, StatusCode};
use http_body::Body;
use http_body_util::{BodyExt, Empty, Full};
use presized::{BufferPool, CollectError, MemoryBudget, Reader, collect_presized};
use presized_support::chain::messages;
use presized_support::mock::{Mock, Step, Unpolled};
use presized_tower::{Delivery, PresizedBody, PresizedRequestLayer, ResponseLimit};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tower::{BoxError, Layer, ServiceBuilder, ServiceExt, service_fn};
use tower_http::decompression::RequestDecompressionLayer;

use crate::stacks::serve;
use crate::trailers;

/// Returns the request that the service inside of `layer` gets.
async fn pass<B: Body>(
    layer: PresizedRequestLayer,
    request: Request<B>,
) -> Request<PresizedBody<B>> {
    let passed = Mutex::new(None);
    let service = layer.layer(service_fn(|request: Request<PresizedBody<B>>| {
        *passed.lock().unwrap() = Some(request);
        std::future::ready(Ok::<_, Infallible>(Response::new(Empty::<Bytes>::new())))
    }));
    service.oneshot(request).await.unwrap();
    passed.into_inner().unwrap().unwrap()
}

fn upload<B>(length: Option<u64>, body: B) -> Request<B> {
    let request = Request::put("/upload");
    let request =
        length.iter().fold(request, |request, length| request.header("content-length", *length));
    request.body(body).unwrap()
}

const DELIVERIES: [Delivery; 2] = [Delivery::Presized, Delivery::Streamed];

#[tokio::test]
async fn content_is_one_frame_or_the_frames_of_the_request() {
    for (delivery, frames) in DELIVERIES.into_iter().zip([&["hello"][..], &["hel", "lo"]]) {
        let steps = [
            Step::Data("hel".into()),
            Step::Wait,
            Step::Data("lo".into()),
            Step::Trailers(trailers()),
        ];
        let layer = PresizedRequestLayer::new(5).delivery(delivery);
        let mut body = pass(layer, upload(Some(5), Mock::new(steps))).await.into_body();
        for frame in frames {
            assert_eq!(body.frame().await.unwrap().unwrap().into_data().unwrap(), frame);
        }
        assert_eq!(body.frame().await.unwrap().unwrap().into_trailers().unwrap(), trailers());
        assert!(body.frame().await.is_none());
    }
}

#[tokio::test]
async fn limit_of_requests_is_inclusive_and_no_extension_changes_it() {
    for (limit, is_accepted) in [(5, true), (4, false)] {
        for delivery in DELIVERIES {
            let mut request = upload(None, Mock::of(["hel", "lo"]));
            request.extensions_mut().insert(ResponseLimit(if is_accepted { 0 } else { 9 }));
            request.extensions_mut().insert(Delivery::Streamed);
            let layer = PresizedRequestLayer::new(limit).delivery(delivery);
            let request = pass(layer, request).await;
            assert!(request.extensions().get::<ResponseLimit>().is_some());
            let read = request.into_body().collect().await;
            assert_eq!(read.is_ok(), is_accepted, "{delivery:?} {read:?}");
            assert!(read.err().is_none_or(|error| error.status() == StatusCode::PAYLOAD_TOO_LARGE));
        }
    }
}

#[tokio::test]
async fn declared_length_of_a_request_over_limit_is_refused_before_polling() {
    for delivery in DELIVERIES {
        let layer = PresizedRequestLayer::new(5).delivery(delivery);
        let body = pass(layer, upload(Some(6), Unpolled(Default::default()))).await.into_body();
        let error = body.collect().await.unwrap_err();
        assert!(
            matches!(error, CollectError::DeclaredTooLarge { declared: 6, limit: 5, .. }),
            "{error}"
        );
    }
}

#[tokio::test]
async fn head_of_a_request_is_unchanged_and_no_method_makes_it_empty() {
    for method in [Method::GET, Method::HEAD, Method::CONNECT] {
        let mut request = upload(Some(5), Mock::of(["hello"]));
        *request.method_mut() = method.clone();
        let request = pass(PresizedRequestLayer::new(5), request).await;
        assert_eq!((request.method(), request.uri().path()), (&method, "/upload"));
        assert_eq!(request.headers()["content-length"], "5");
        assert_eq!(request.into_body().collect().await.unwrap().to_bytes(), "hello");
    }
}

#[tokio::test]
async fn error_of_a_request_body_is_a_source_even_after_the_last_byte() {
    for delivery in DELIVERIES {
        let steps = [Step::Data("hello".into()), Step::Fail("wrong checksum")];
        let layer = PresizedRequestLayer::new(5).delivery(delivery);
        let body = pass(layer, upload(Some(5), Mock::new(steps))).await.into_body();
        let error = body.collect().await.unwrap_err();
        let expected =
            ["body failed: 5 of 5 declared bytes received", "body error", "wrong checksum"];
        assert_eq!(messages(&error), expected);
        assert_eq!(error.status(), StatusCode::BAD_REQUEST);
    }
}

#[tokio::test]
async fn pool_and_budget_are_shared_by_requests() {
    let (pool, budget) = (BufferPool::new(1 << 20), MemoryBudget::new(1 << 20));
    let layer = PresizedRequestLayer::new(Reader::new(40_000).pool(&pool).budget(&budget));
    for hits in 0..2 {
        let request = upload(Some(40_000), Mock::of([[7; 20_000]; 2]));
        let content =
            pass(layer.clone(), request).await.into_body().collect().await.unwrap().to_bytes();
        assert_eq!((content.len(), pool.stats().hits, pool.stats().outstanding), (40_000, hits, 1));
        assert!(budget.in_use() >= 40_000);
        drop(content);
        assert_eq!((pool.stats().outstanding, budget.in_use()), (0, 0));
    }
}

/// Reads a request, and returns its length, or the status for its error.
async fn read<B: Body<Error: Into<BoxError>>>(request: Request<B>) -> Result<usize, StatusCode> {
    let read = collect_presized(request.into_body(), None, 2 << 20).await;
    read.map(|content| content.len()).map_err(|error| error.boxed().status())
}

/// A request passes the outermost layer first.
#[tokio::test]
async fn limit_inside_of_a_decoder_of_requests_counts_decoded_bytes() {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(&[0; 1 << 20]).unwrap();
    let coded: Bytes = encoder.finish().unwrap().into();
    let bomb = || {
        let request = Request::put("/").header("content-encoding", "gzip");
        request.body(Full::new(coded.clone())).unwrap()
    };
    let found = Mutex::new(Vec::new());
    for (inside, limit) in [(true, 1 << 20), (true, 100_000), (false, 2000), (false, 500)] {
        let limited = PresizedRequestLayer::new(limit);
        let decoded = RequestDecompressionLayer::new();
        if inside {
            let service = service_fn(async |request: Request<_>| {
                let length = read(request).await;
                found.lock().unwrap().push(length);
                Ok::<_, Infallible>(Response::new(Empty::<Bytes>::new()))
            });
            let service = ServiceBuilder::new().layer(decoded).layer(limited).service(service);
            service.oneshot(bomb()).await.unwrap();
        } else {
            let service = service_fn(async |request: Request<_>| {
                let length = read(request).await;
                found.lock().unwrap().push(length);
                Ok::<_, Infallible>(Response::new(Empty::<Bytes>::new()))
            });
            let service = ServiceBuilder::new().layer(limited).layer(decoded).service(service);
            service.oneshot(bomb()).await.unwrap();
        }
    }
    let refused = Err(StatusCode::PAYLOAD_TOO_LARGE);
    assert_eq!(found.into_inner().unwrap(), [Ok(1 << 20), refused, Ok(1 << 20), refused]);
}

/// Sends a request to a server as raw bytes, and returns the response. The server closes the
/// connection.
async fn exchange(request: &str, router: Router) -> String {
    let mut stream = TcpStream::connect(serve(router).await).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut response = String::new();
    let reading = timeout(Duration::from_secs(60), stream.read_to_string(&mut response));
    reading.await.expect("a response in time").unwrap();
    response
}

#[tokio::test]
async fn refusal_of_an_expecting_client_by_its_head_sends_no_100_continue() {
    async fn upload(body: AxumBody) -> Result<String, StatusCode> {
        let read = collect_presized(body, None, 1 << 20).await;
        read.map(|content| content.len().to_string()).map_err(|error| error.status())
    }
    for delivery in DELIVERIES {
        let layer = PresizedRequestLayer::new(5).delivery(delivery);
        let router = Router::new().route("/", put(upload)).layer(layer);
        let request = |length, content| {
            format!(
                "PUT / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nExpect: 100-continue\r\n\
                 Content-Length: {length}\r\n\r\n{content}"
            )
        };
        let refused = exchange(&request(6, ""), router.clone()).await;
        assert!(refused.starts_with("HTTP/1.1 413 "), "{refused}");
        let accepted = exchange(&request(5, "hello"), router).await;
        let start = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n";
        assert!(accepted.starts_with(start) && accepted.ends_with("\r\n\r\n5"), "{accepted}");
    }
}
