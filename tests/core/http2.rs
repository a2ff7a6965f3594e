//! Responses of an HTTP/2 server that can send wrong lengths, read through a hyper client.

use std::net::SocketAddr;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, Request, Response};
use http_body::Body;
use http_body_util::Empty;
use hyper_util::rt::{TokioExecutor, TokioIo};
use presized::{ContentLength, ResponseExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;

use crate::http1::{DEADLINE, request};

/// The response of the HTTP/2 server for one path.
struct Stream {
    path: &'static str,
    content_length: Option<&'static str>,
    frames: &'static [&'static [u8]],
    trailers: bool,
}

/// Starts an HTTP/2 server that sends `streams`, also with wrong lengths.
async fn http2_server(streams: &'static [Stream]) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        let mut connection = h2::server::handshake(stream).await.unwrap();
        while let Some(Ok((request, mut respond))) = connection.accept().await {
            let stream = streams.iter().find(|stream| stream.path == request.uri().path()).unwrap();
            tokio::spawn(async move {
                let mut response = Response::new(());
                if let Some(length) = stream.content_length {
                    let length = HeaderValue::from_static(length);
                    response.headers_mut().insert("content-length", length);
                }
                let ends = stream.frames.is_empty() && !stream.trailers;
                let Ok(mut send) = respond.send_response(response, ends) else { return };
                for (position, frame) in stream.frames.iter().enumerate() {
                    let last = position + 1 == stream.frames.len() && !stream.trailers;
                    let _ = send.send_data(Bytes::from_static(frame), last);
                }
                if stream.trailers {
                    let trailer = ("x-sum".parse().unwrap(), HeaderValue::from_static("1"));
                    let _ = send.send_trailers(HeaderMap::from_iter([trailer]));
                }
            });
        }
    });
    address
}

async fn http2_client(
    address: SocketAddr,
) -> hyper::client::conn::http2::SendRequest<Empty<Bytes>> {
    let stream = TcpStream::connect(address).await.unwrap();
    let (client, connection) = hyper::client::conn::http2::Builder::new(TokioExecutor::new())
        // The default of RFC 9113 §6.9.2.
        .initial_stream_window_size(65_535)
        .initial_connection_window_size(65_535)
        .handshake(TokioIo::new(stream))
        .await
        .unwrap();
    tokio::spawn(connection);
    client
}

static MEBIBYTE: [u8; 1 << 20] = [b'x'; 1 << 20];

static STREAMS: &[Stream] = &[
    Stream { path: "/empty", content_length: Some("5"), frames: &[], trailers: false },
    Stream { path: "/long", content_length: Some("3"), frames: &[b"hello"], trailers: false },
    Stream { path: "/short", content_length: Some("5"), frames: &[b"hel"], trailers: false },
    Stream { path: "/right", content_length: Some("5"), frames: &[b"hel", b"lo"], trailers: false },
    Stream { path: "/trailers", content_length: Some("5"), frames: &[b"hello"], trailers: true },
    Stream { path: "/unknown", content_length: None, frames: &[b"hel", b"lo"], trailers: false },
    // The stream ends in an empty data frame and not with the head.
    Stream { path: "/head", content_length: Some("3501"), frames: &[b""], trailers: false },
    Stream { path: "/large", content_length: None, frames: &[&MEBIBYTE], trailers: false },
    Stream {
        path: "/medium",
        content_length: None,
        frames: &[MEBIBYTE.split_at(200 << 10).0],
        trailers: false,
    },
];

/// Until that frame arrives, the size hint of hyper is the Content-Length.
#[tokio::test]
async fn http2_response_to_head_that_ends_in_an_empty_frame_is_empty() {
    let mut client = http2_client(http2_server(STREAMS).await).await;
    for limit in [0, 10_000] {
        let request = Request::builder()
            .method(Method::HEAD)
            .uri("http://localhost/head")
            .body(Empty::<Bytes>::new())
            .unwrap();
        let response = client.send_request(request).await.unwrap();
        assert_eq!(response.body().size_hint().exact(), Some(3501));
        let read = response.collect_presized(&Method::HEAD, limit).collected().await.unwrap();
        assert_eq!(read.content, "");
        assert_eq!(read.stats.content_length, ContentLength::Exact(0));
    }
}

#[tokio::test]
async fn http2_length_that_differs_from_the_data_fails_one_stream() {
    let address = http2_server(STREAMS).await;
    let mut client = http2_client(address).await;
    for path in ["/empty", "/long", "/short"] {
        let outcome =
            timeout(DEADLINE, client.send_request(request(&Method::GET, address, path))).await;
        // hyper refuses the head if it knows the data by then.
        if let Ok(response) = outcome.unwrap() {
            let read = response.collect_presized(&Method::GET, 100).bytes();
            let read = timeout(DEADLINE, read).await.unwrap();
            assert!(read.is_err(), "{path}: {read:?}");
        }
        // The other streams of the connection are not affected.
        let response = client.send_request(request(&Method::GET, address, "/right")).await.unwrap();
        let read = response.collect_presized(&Method::GET, 100).collected().await.unwrap();
        assert_eq!(read.content, "hello");
        assert_eq!(read.stats.content_length, ContentLength::Exact(5));
    }
}

#[tokio::test]
async fn http2_trailers_are_kept() {
    let address = http2_server(STREAMS).await;
    let mut client = http2_client(address).await;
    let response = client.send_request(request(&Method::GET, address, "/trailers")).await.unwrap();
    let read = response.collect_presized(&Method::GET, 5).collected().await.unwrap();
    assert_eq!(read.content, "hello");
    assert_eq!(read.trailers.unwrap()["x-sum"], "1");
}

#[tokio::test]
async fn http2_body_without_a_length_is_read_to_its_end() {
    let address = http2_server(STREAMS).await;
    let mut client = http2_client(address).await;
    let response = client.send_request(request(&Method::GET, address, "/unknown")).await.unwrap();
    let read = response.collect_presized(&Method::GET, 5).collected().await.unwrap();
    assert_eq!(read.content, "hello");
    assert_eq!(read.stats.content_length, ContentLength::Unknown);
}

#[tokio::test]
async fn refused_http2_body_releases_its_flow_control_window() {
    let address = http2_server(STREAMS).await;
    let mut client = http2_client(address).await;
    // Each body is larger than the flow-control window of the connection.
    for _ in 0..10 {
        let response = client.send_request(request(&Method::GET, address, "/large")).await.unwrap();
        let read = response.collect_presized(&Method::GET, 10 << 10).bytes();
        assert!(timeout(DEADLINE, read).await.unwrap().unwrap_err().is_too_large());
    }
    let response = client.send_request(request(&Method::GET, address, "/medium")).await.unwrap();
    let read = response.collect_presized(&Method::GET, 1 << 20).bytes();
    assert_eq!(timeout(DEADLINE, read).await.unwrap().unwrap().len(), 200 << 10);
}
