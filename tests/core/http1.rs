//! Responses of an HTTP/1.1 server that are raw bytes on a socket, read through a hyper client.

use std::net::SocketAddr;
use std::ops::ControlFlow;
use std::time::Duration;

use bytes::Bytes;
use http::{Method, Request, Response};
use http_body_util::Empty;
use hyper::body::Incoming;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use presized::{CollectError, ContentLength, Mismatch, Reader, ResponseExt};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::time::timeout;

/// The time after which a test that hangs fails.
pub(crate) const DEADLINE: Duration = Duration::from_secs(20);

/// An event of a server.
#[derive(Debug, PartialEq, Eq)]
enum Event {
    Connection,
    Request(String),
    /// The connection was closed.
    Close,
}

/// Starts a server that sends the next of `responses` to each request, byte for byte.
///
/// It closes a connection after the last response, and after one with `Connection: close`.
async fn raw_server(
    responses: &'static [&'static [u8]],
) -> (SocketAddr, mpsc::UnboundedReceiver<Event>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (events, received) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        let mut responses = responses.iter();
        while let Ok((mut stream, _)) = listener.accept().await {
            let _ = events.send(Event::Connection);
            while let Some(request) = read_request(&mut stream).await {
                let _ = events.send(Event::Request(request));
                let Some(response) = responses.next() else { break };
                if stream.write_all(response).await.is_err() {
                    break;
                }
                let closes = response.windows(17).any(|window| window == b"Connection: close");
                if closes {
                    break;
                }
            }
            let _ = events.send(Event::Close);
        }
    });
    (address, received)
}

/// Reads the head of the next request and returns its first line. No request has a body.
async fn read_request(stream: &mut TcpStream) -> Option<String> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.ok()?);
    }
    String::from_utf8(head).ok()?.lines().next().map(str::to_owned)
}

fn client() -> Client<HttpConnector, Empty<Bytes>> {
    Client::builder(TokioExecutor::new()).build_http()
}

pub(crate) fn request(method: &Method, address: SocketAddr, path: &str) -> Request<Empty<Bytes>> {
    Request::builder()
        .method(method)
        .uri(format!("http://{address}{path}"))
        .body(Empty::new())
        .unwrap()
}

/// Sends one request to a server that responds with `response`, and returns the response as hyper
/// reads it.
async fn respond(method: &Method, response: &'static [u8]) -> Response<Incoming> {
    let (address, _) = raw_server(Vec::leak(vec![response])).await;
    timeout(DEADLINE, client().request(request(method, address, "/"))).await.unwrap().unwrap()
}

#[tokio::test]
async fn chunked_body_is_read_to_its_end_despite_a_content_length() {
    let response = respond(
        &Method::GET,
        b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
    )
    .await;
    let read = response.collect_presized(&Method::GET, Reader::new(10).mismatch(Mismatch::Reject));
    let read = timeout(DEADLINE, read.collected()).await.unwrap().unwrap();
    assert_eq!(read.content, "hello");
    assert_eq!(read.stats.content_length, ContentLength::Unknown);
}

#[tokio::test]
async fn response_to_head_is_empty_on_an_open_connection() {
    let responses: &[&[u8]] = &[
        b"HTTP/1.1 200 OK\r\nContent-Length: 3501\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
    ];
    let (address, _) = raw_server(responses).await;
    let client = client();
    let response = client.request(request(&Method::HEAD, address, "/")).await.unwrap();
    // The field is kept in the head, because it is metadata.
    assert_eq!(response.headers()["content-length"], "3501");
    let read = response.collect_presized(&Method::HEAD, 10).bytes();
    assert_eq!(timeout(DEADLINE, read).await.unwrap().unwrap(), "");
    let response = client.request(request(&Method::GET, address, "/")).await.unwrap();
    assert_eq!(response.collect_presized(&Method::GET, 10).bytes().await.unwrap(), "ok");
}

#[tokio::test]
async fn connection_closed_before_the_declared_length_fails() {
    let response = respond(
        &Method::GET,
        b"HTTP/1.1 200 OK\r\nContent-Length: 20\r\nConnection: close\r\n\r\n12345",
    )
    .await;
    let error = response.collect_presized(&Method::GET, 100).bytes().await.unwrap_err();
    // hyper detects it, and its error is the source.
    assert!(matches!(error, CollectError::Body { declared: Some(20), received: 5, .. }), "{error}");
    assert_eq!(error.into_partial(), "12345");
}

#[tokio::test]
async fn connection_closed_between_chunks_fails() {
    let response = respond(
        &Method::GET,
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n5\r\nhello\r\n",
    )
    .await;
    let error = response.collect_presized(&Method::GET, 100).bytes().await.unwrap_err();
    assert!(matches!(error, CollectError::Body { declared: None, received: 5, .. }), "{error}");
    assert_eq!(error.into_partial(), "hello");
}

#[tokio::test]
async fn body_without_a_length_ends_with_the_connection() {
    let response = b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n<x/>";
    let read = respond(&Method::GET, response).await.collect_presized(&Method::GET, 4);
    assert_eq!(timeout(DEADLINE, read.bytes()).await.unwrap().unwrap(), "<x/>");
    let read = respond(&Method::GET, response).await.collect_presized(&Method::GET, 3);
    let error = timeout(DEADLINE, read.bytes()).await.unwrap().unwrap_err();
    assert!(matches!(error, CollectError::TooLarge { limit: 3, received: 4, .. }), "{error}");
}

#[tokio::test]
async fn bytes_after_the_declared_length_are_neither_content_nor_a_response() {
    let responses: &[&[u8]] = &[
        b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n11111\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
    ];
    let (address, mut events) = raw_server(responses).await;
    let client = client();
    for content in ["1", "ok"] {
        let response = client.request(request(&Method::GET, address, "/")).await.unwrap();
        let read = response.collect_presized(&Method::GET, 10).bytes().await.unwrap();
        assert_eq!(read, content);
        assert_eq!(events.recv().await, Some(Event::Connection), "each request opens a connection");
        assert_eq!(events.recv().await, Some(Event::Request("GET / HTTP/1.1".into())));
        if content == "1" {
            assert_eq!(events.recv().await, Some(Event::Close));
        }
    }
}

#[tokio::test]
async fn trailers_of_a_chunked_body_are_kept() {
    let response = respond(
        &Method::GET,
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: x-sum\r\n\r\n5\r\nhello\r\n0\r\nx-sum: 1\r\n\r\n",
    )
    .await;
    let read = response.collect_presized(&Method::GET, 5).collected().await.unwrap();
    assert_eq!(read.content, "hello");
    assert_eq!(read.trailers.unwrap()["x-sum"], "1");
}

#[tokio::test]
async fn timeout_keeps_received_bytes_and_closes_the_connection() {
    let responses: &[&[u8]] = &[b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n12345"];
    let (address, mut events) = raw_server(responses).await;
    let client = client();
    let response = client.request(request(&Method::GET, address, "/")).await.unwrap();
    let mut arrived = Vec::new();
    let read = response.collect_presized(&Method::GET, 10).append_to(&mut arrived);
    assert!(timeout(Duration::from_millis(50), read).await.is_err());
    assert_eq!(arrived, b"12345");
    // Dropping the future closes the connection.
    events.recv().await;
    events.recv().await;
    assert_eq!(timeout(DEADLINE, events.recv()).await.unwrap(), Some(Event::Close));
}

#[tokio::test]
async fn connection_of_a_cancelled_read_is_not_reused() {
    let responses: &[&[u8]] = &[
        b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n12345",
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nright",
    ];
    let (address, _) = raw_server(responses).await;
    let client = client();
    let response = client.request(request(&Method::GET, address, "/1")).await.unwrap();
    let (arrived, mut first_frame) = mpsc::unbounded_channel();
    let read = response
        .collect_presized(&Method::GET, 10)
        .on_progress(move |progress| {
            let _ = arrived.send(progress.received);
            ControlFlow::Continue(())
        })
        .bytes();
    tokio::select! {
        read = read => panic!("{read:?}"),
        received = first_frame.recv() => assert_eq!(received, Some(5)),
    }
    let response = timeout(DEADLINE, client.request(request(&Method::GET, address, "/2"))).await;
    let read = response.unwrap().unwrap().collect_presized(&Method::GET, 10).bytes();
    assert_eq!(read.await.unwrap(), "right");
}

/// Starts a server that sends chunks until the client closes the connection. Each closed connection
/// reports the number of bytes that were sent.
async fn endless_server() -> (SocketAddr, mpsc::UnboundedReceiver<usize>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (closed, events) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let closed = closed.clone();
            tokio::spawn(async move {
                read_request(&mut stream).await;
                let head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
                stream.write_all(head).await.unwrap();
                let mut sent = 0;
                while stream.write_all(b"400\r\n").await.is_ok()
                    && stream.write_all(&[b'x'; 1024]).await.is_ok()
                    && stream.write_all(b"\r\n").await.is_ok()
                {
                    sent += 1024;
                }
                let _ = closed.send(sent);
            });
        }
    });
    (address, events)
}

#[tokio::test]
async fn endless_body_fails_at_the_limit_and_closes_its_connection() {
    let (address, mut closed) = endless_server().await;
    let client = client();
    for _ in 0..100 {
        let response = client.request(request(&Method::GET, address, "/")).await.unwrap();
        let read = response.collect_presized(&Method::GET, 1024).bytes();
        let error = timeout(DEADLINE, read).await.unwrap().unwrap_err();
        assert!(matches!(error, CollectError::TooLarge { limit: 1024, .. }), "{error}");
        assert!(error.received() < 1 << 20, "{} bytes were read", error.received());
        // The server sees the close: no socket stays open, and the rest of the body is not read.
        timeout(DEADLINE, closed.recv()).await.unwrap().unwrap();
    }
}
