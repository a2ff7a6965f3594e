//! Tests with hyper-util, tower-http and axum.

use std::io::Write;
use std::net::SocketAddr;

use axum::Router;
use axum::body::{Body as AxumBody, to_bytes};
use axum::routing::get as on_get;
use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use http::{Method, Request, Response, StatusCode};
use http_body::Body;
use http_body_util::{BodyExt, Empty, Full};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::client::legacy::{Client, connect::HttpConnector};
use hyper_util::rt::{TokioExecutor, TokioIo};
use presized::{BufferPool, CollectError, Reader};
use presized_support::chain::chain;
use presized_support::server::Server;
use presized_tower::{Delivery, PresizedLayer, ResponseLimit};
use tokio::net::TcpListener;
use tower::{BoxError, ServiceBuilder, ServiceExt};
use tower_http::decompression::DecompressionLayer;

use crate::read_error;

/// Returns a client that keeps no connection. The servers close it after each response, and hyper
/// may not have noticed before the next request.
fn client() -> Client<HttpConnector, Empty<Bytes>> {
    Client::builder(TokioExecutor::new()).pool_max_idle_per_host(0).build_http()
}

fn request(method: Method, server: &Server) -> Request<Empty<Bytes>> {
    let url = server.endpoint().url("/");
    Request::builder().method(method).uri(url).body(Empty::new()).unwrap()
}

/// Returns the bytes of a response with Content-Length: 1 MiB of zeros, which gzip codes in 1 KiB.
fn bomb() -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(&[0; 1 << 20]).unwrap();
    let coded = encoder.finish().unwrap();
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: {}\r\n\r\n",
        coded.len()
    );
    [head.as_bytes(), &coded].concat()
}

#[tokio::test]
async fn hyper_util_response_is_one_pooled_buffer() {
    let pool = BufferPool::new(1 << 20);
    let content = vec![7; 300_000];
    let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", content.len());
    let server = Server::raw([head.as_bytes(), &content].concat()).unwrap();
    let layer = PresizedLayer::new(Reader::new(1 << 20).pool(&pool));
    let client = ServiceBuilder::new().layer(layer).service(client());
    for _ in 0..2 {
        let response = client.clone().oneshot(request(Method::GET, &server)).await.unwrap();
        let mut body = response.into_body();
        let data = body.frame().await.unwrap().unwrap().into_data().unwrap();
        assert_eq!(data, content);
        assert!(body.frame().await.is_none());
        assert_eq!((pool.stats().outstanding, pool.stats().idle), (1, 0));
        drop(data);
        assert_eq!((pool.stats().outstanding, pool.stats().idle), (0, 1));
    }
}

#[tokio::test]
async fn hyper_util_response_to_head_is_empty() {
    let server = Server::raw("HTTP/1.1 200 OK\r\nContent-Length: 3501\r\n\r\n").unwrap();
    for delivery in [Delivery::Presized, Delivery::Streamed] {
        let layer = PresizedLayer::new(0).delivery(delivery);
        let client = ServiceBuilder::new().layer(layer).service(client());
        let response = client.oneshot(request(Method::HEAD, &server)).await.unwrap();
        assert_eq!(response.headers()["content-length"], "3501");
        assert_eq!(response.into_body().collect().await.unwrap().to_bytes(), "");
    }
}

#[tokio::test]
async fn error_of_hyper_is_among_the_sources() {
    let server = Server::raw("HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n12345").unwrap();
    let client = ServiceBuilder::new().layer(PresizedLayer::new(20)).service(client());
    let response = client.oneshot(request(Method::GET, &server)).await.unwrap();
    let error = response.into_body().collect().await.unwrap_err();
    assert!(chain(&error).any(|error| error.is::<hyper::Error>()), "{error:?}");
    assert!(matches!(error, CollectError::Body { declared: Some(20), received: 5, .. }), "{error}");
    assert_eq!(error.into_partial(), "12345");
}

#[tokio::test]
async fn limit_outside_of_decoder_counts_decoded_bytes() {
    let server = Server::raw(bomb()).unwrap();
    for delivery in [Delivery::Presized, Delivery::Streamed] {
        let client = ServiceBuilder::new()
            .layer(PresizedLayer::new(100_000).delivery(delivery))
            .layer(DecompressionLayer::new())
            .service(client());
        let response = client.clone().oneshot(request(Method::GET, &server)).await.unwrap();
        assert!(!response.headers().contains_key("content-length"));
        let error = response.into_body().collect().await.unwrap_err();
        assert!(matches!(error, CollectError::TooLarge { limit: 100_000, .. }), "{error}");

        let mut request = request(Method::GET, &server);
        request.extensions_mut().insert(ResponseLimit(1 << 20));
        let response = client.oneshot(request).await.unwrap();
        let content = response.into_body().collect().await.unwrap().to_bytes();
        assert!(content.len() == 1 << 20 && content.iter().all(|&byte| byte == 0));
    }
}

#[tokio::test]
async fn limit_inside_of_decoder_counts_coded_bytes() {
    let server = Server::raw(bomb()).unwrap();
    let read = async |limit| {
        let client = ServiceBuilder::new()
            .layer(DecompressionLayer::new())
            .layer(PresizedLayer::new(limit))
            .service(client());
        let response = client.oneshot(request(Method::GET, &server)).await.unwrap();
        response.into_body().collect().await.map(|content| content.to_bytes().len())
    };
    // The limit is below the decoded length, and above the coded length.
    assert_eq!(read(2000).await.unwrap(), 1 << 20);
    let error: BoxError = read(500).await.unwrap_err();
    assert!(
        matches!(read_error(&*error), CollectError::DeclaredTooLarge { limit: 500, .. }),
        "{error}"
    );
}

#[tokio::test]
async fn axum_to_bytes_returns_the_pooled_buffer() {
    let pool = BufferPool::new(1 << 20);
    let head = "HTTP/1.1 200 OK\r\nContent-Length: 40000\r\n\r\n";
    let server = Server::raw([head.as_bytes(), &[7; 40_000]].concat()).unwrap();
    let layer = PresizedLayer::new(Reader::new(40_000).pool(&pool));
    let client = ServiceBuilder::new().layer(layer).service(client());
    let response = client.clone().oneshot(request(Method::GET, &server)).await.unwrap();
    let content = to_bytes(AxumBody::new(response.into_body()), usize::MAX).await.unwrap();
    // The content is the buffer of the pool.
    assert_eq!((content.len(), pool.stats().outstanding), (40_000, 1));

    let mut request = request(Method::GET, &server);
    request.extensions_mut().insert(ResponseLimit(39_999));
    let response = client.oneshot(request).await.unwrap();
    let error = to_bytes(AxumBody::new(response.into_body()), usize::MAX).await.unwrap_err();
    assert!(matches!(read_error(&error), CollectError::DeclaredTooLarge { declared: 40_000, .. }));
}

/// Serves `router` with hyper, as `axum::serve` does.
pub(crate) async fn serve(router: Router) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let router = router.clone();
            let service = service_fn(move |request: Request<Incoming>| {
                router.clone().oneshot(request.map(AxumBody::new))
            });
            tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
        }
    });
    address
}

#[tokio::test]
async fn axum_router_accepts_the_layer() {
    async fn large() -> (StatusCode, AxumBody) {
        let frames = ["hello, ", "world"].map(Ok::<_, BoxError>);
        (StatusCode::CREATED, AxumBody::from_stream(futures_util::stream::iter(frames)))
    }
    let router = Router::new().route("/", on_get(large)).layer(PresizedLayer::new(12));
    let address = serve(router).await;
    let get = |method: Method| {
        let request = Request::builder().method(method).uri(format!("http://{address}/"));
        client().request(request.body(Empty::new()).unwrap())
    };
    let response = get(Method::GET).await.unwrap();
    assert_eq!(response.status(), StatusCode::CREATED);
    assert_eq!(response.into_body().collect().await.unwrap().to_bytes(), "hello, world");
    // A GET route of axum also responds to HEAD.
    let response = get(Method::HEAD).await.unwrap();
    assert_eq!(response.status(), StatusCode::CREATED);
    assert_eq!(response.into_body().collect().await.unwrap().to_bytes(), "");
}

#[tokio::test]
async fn server_response_over_limit_breaks_off() {
    let router = Router::new()
        .route("/", on_get(async || Response::new(Full::<Bytes>::from("hello"))))
        .layer(PresizedLayer::new(4));
    let address = serve(router).await;
    let request = Request::get(format!("http://{address}/")).body(Empty::<Bytes>::new()).unwrap();
    // hyper may or may not have sent the head before.
    let failed = match client().request(request).await {
        Ok(response) => response.into_body().collect().await.map(drop).is_err(),
        Err(_) => true,
    };
    assert!(failed, "the response looks complete");
}

/// Servers set Content-Length from the size hint.
#[tokio::test]
async fn size_hint_of_presized_body_is_unchanged() {
    let server = Server::raw("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello").unwrap();
    let client = ServiceBuilder::new().layer(PresizedLayer::new(5)).service(client());
    let response = client.oneshot(request(Method::GET, &server)).await.unwrap();
    assert_eq!(response.body().size_hint().exact(), Some(5));
}
