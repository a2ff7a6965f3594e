//! Raw bytes on a socket, read through a real hyper client.

use std::net::SocketAddr;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, Request, Response};
use http_body::Body;
use http_body_util::Empty;
use hyper::body::Incoming;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioIo};
use presized::{CollectError, ContentLength, Mismatch, Reader, ResponseExt};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::time::timeout;

/// Nothing here takes longer, unless it hangs.
const PATIENCE: Duration = Duration::from_secs(20);

/// What a server saw.
#[derive(Debug, PartialEq, Eq)]
enum Seen {
    Connection,
    Request(String),
    /// The client closed the connection.
    Close,
}

/// Answers the requests of each connection with the next of `answers`, byte for byte, and
/// closes it after the last.
async fn raw_server(
    answers: &'static [&'static [u8]],
) -> (SocketAddr, mpsc::UnboundedReceiver<Seen>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (seen, events) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        let mut answers = answers.iter();
        while let Ok((mut stream, _)) = listener.accept().await {
            let _ = seen.send(Seen::Connection);
            while let Some(request) = read_request(&mut stream).await {
                let _ = seen.send(Seen::Request(request));
                let Some(answer) = answers.next() else { break };
                if stream.write_all(answer).await.is_err() {
                    break;
                }
                let closes = answer.windows(17).any(|window| window == b"Connection: close");
                if closes {
                    break;
                }
            }
            let _ = seen.send(Seen::Close);
        }
    });
    (address, events)
}

/// The request line of the next request, none of which has a body.
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

fn request(method: &Method, address: SocketAddr, path: &str) -> Request<Empty<Bytes>> {
    Request::builder()
        .method(method)
        .uri(format!("http://{address}{path}"))
        .body(Empty::new())
        .unwrap()
}

/// The response to one request to a server that answers it with `answer`.
async fn respond(method: &Method, answer: &'static [u8]) -> Response<Incoming> {
    let answers = Vec::leak(vec![answer]);
    let (address, _) = raw_server(answers).await;
    timeout(PATIENCE, client().request(request(method, address, "/"))).await.unwrap().unwrap()
}

#[tokio::test]
async fn chunks_are_read_where_a_length_stands_beside_them() {
    let response = respond(
        &Method::GET,
        b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
    )
    .await;
    let read = response.collect_presized(&Method::GET, Reader::new(10).mismatch(Mismatch::Reject));
    let read = timeout(PATIENCE, read.collected()).await.unwrap().unwrap();
    assert_eq!(read.content, "hello");
    assert_eq!(read.stats.content_length, ContentLength::Unknown);
}

#[tokio::test]
async fn head_is_empty_at_once_on_an_open_connection() {
    let answers: &[&[u8]] = &[
        b"HTTP/1.1 200 OK\r\nContent-Length: 3501\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
    ];
    let (address, _) = raw_server(answers).await;
    let client = client();
    let response = client.request(request(&Method::HEAD, address, "/")).await.unwrap();
    // The field is metadata, and still there.
    assert_eq!(response.headers()["content-length"], "3501");
    let read = response.collect_presized(&Method::HEAD, 10).bytes();
    assert_eq!(timeout(PATIENCE, read).await.unwrap().unwrap(), "");
    let response = client.request(request(&Method::GET, address, "/")).await.unwrap();
    assert_eq!(response.collect_presized(&Method::GET, 10).bytes().await.unwrap(), "ok");
}

#[tokio::test]
async fn connection_closed_before_the_length_is_an_error() {
    let response = respond(
        &Method::GET,
        b"HTTP/1.1 200 OK\r\nContent-Length: 20\r\nConnection: close\r\n\r\n12345",
    )
    .await;
    let error = response.collect_presized(&Method::GET, 100).bytes().await.unwrap_err();
    // hyper notices by itself, and its error is the source.
    assert!(matches!(error, CollectError::Body { declared: Some(20), received: 5, .. }), "{error}");
    assert_eq!(error.into_partial(), "12345");
}

#[tokio::test]
async fn connection_closed_between_chunks_is_an_error() {
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
async fn without_a_length_the_body_ends_with_the_connection() {
    let answer = b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n<x/>";
    let read = respond(&Method::GET, answer).await.collect_presized(&Method::GET, 4);
    assert_eq!(timeout(PATIENCE, read.bytes()).await.unwrap().unwrap(), "<x/>");
    let read = respond(&Method::GET, answer).await.collect_presized(&Method::GET, 3);
    let error = timeout(PATIENCE, read.bytes()).await.unwrap().unwrap_err();
    assert!(matches!(error, CollectError::TooLarge { limit: 3, received: 4, .. }), "{error}");
}

#[tokio::test]
async fn bytes_after_the_length_are_no_content_and_no_response() {
    let answers: &[&[u8]] = &[
        b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n11111\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
    ];
    let (address, mut seen) = raw_server(answers).await;
    let client = client();
    for content in ["1", "ok"] {
        let response = client.request(request(&Method::GET, address, "/")).await.unwrap();
        let read = response.collect_presized(&Method::GET, 10).bytes().await.unwrap();
        assert_eq!(read, content);
        assert_eq!(seen.recv().await, Some(Seen::Connection), "the connection was reused");
        assert_eq!(seen.recv().await, Some(Seen::Request("GET / HTTP/1.1".into())));
        if content == "1" {
            assert_eq!(seen.recv().await, Some(Seen::Close));
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
async fn silent_server_is_left_by_the_callers_timeout() {
    let answers: &[&[u8]] = &[b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n12345"];
    let (address, mut seen) = raw_server(answers).await;
    let client = client();
    let response = client.request(request(&Method::GET, address, "/")).await.unwrap();
    let mut arrived = Vec::new();
    let read = response.collect_presized(&Method::GET, 10).append_to(&mut arrived);
    assert!(timeout(Duration::from_millis(50), read).await.is_err());
    assert_eq!(arrived, b"12345");
    // Dropped with the future, the connection closes and is not waited for.
    seen.recv().await;
    seen.recv().await;
    assert_eq!(timeout(PATIENCE, seen.recv()).await.unwrap(), Some(Seen::Close));
}

#[tokio::test]
async fn cancelled_read_leaves_no_half_read_connection() {
    let answers: &[&[u8]] = &[
        b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n12345",
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nright",
    ];
    let (address, _) = raw_server(answers).await;
    let client = client();
    let response = client.request(request(&Method::GET, address, "/1")).await.unwrap();
    let (arrived, mut first_frame) = mpsc::unbounded_channel();
    let read = response
        .collect_presized(&Method::GET, 10)
        .on_progress(move |progress| {
            let _ = arrived.send(progress.received);
        })
        .bytes();
    tokio::select! {
        read = read => panic!("{read:?}"),
        received = first_frame.recv() => assert_eq!(received, Some(5)),
    }
    let response = timeout(PATIENCE, client.request(request(&Method::GET, address, "/2"))).await;
    let read = response.unwrap().unwrap().collect_presized(&Method::GET, 10).bytes();
    assert_eq!(read.await.unwrap(), "right");
}

/// Sends chunks until the client closes; the number of bytes sent comes back then.
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
async fn endless_body_is_dropped_at_the_limit_and_its_connection_closed() {
    let (address, mut closed) = endless_server().await;
    let client = client();
    for _ in 0..100 {
        let response = client.request(request(&Method::GET, address, "/")).await.unwrap();
        let read = response.collect_presized(&Method::GET, 1024).bytes();
        let error = timeout(PATIENCE, read).await.unwrap().unwrap_err();
        assert!(matches!(error, CollectError::TooLarge { limit: 1024, .. }), "{error}");
        assert!(error.received() < 1 << 20, "drained {} bytes", error.received());
        // The server sees the close: no socket stays open, and no rest is drained.
        timeout(PATIENCE, closed.recv()).await.unwrap().unwrap();
    }
}

/// What an HTTP/2 server sends for one path.
struct Stream {
    path: &'static str,
    content_length: Option<&'static str>,
    frames: &'static [&'static [u8]],
    trailers: bool,
}

/// An HTTP/2 server that sends what it is told, lengths that are wrong among it.
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
    // The end of a response without content, in a frame of its own.
    Stream { path: "/head", content_length: Some("3501"), frames: &[b""], trailers: false },
    Stream { path: "/large", content_length: None, frames: &[&MEBIBYTE], trailers: false },
    Stream {
        path: "/medium",
        content_length: None,
        frames: &[MEBIBYTE.split_at(200 << 10).0],
        trailers: false,
    },
];

/// Until that frame has come, hyper says of the body that it is as long as Content-Length says.
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
async fn http2_length_that_differs_from_its_data_is_a_stream_error() {
    let address = http2_server(STREAMS).await;
    let mut client = http2_client(address).await;
    for path in ["/empty", "/long", "/short"] {
        let outcome =
            timeout(PATIENCE, client.send_request(request(&Method::GET, address, path))).await;
        // hyper refuses the head where it can tell by then.
        if let Ok(response) = outcome.unwrap() {
            let read = response.collect_presized(&Method::GET, 100).bytes();
            let read = timeout(PATIENCE, read).await.unwrap();
            assert!(read.is_err(), "{path}: {read:?}");
        }
        // The other streams of the connection go on.
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
async fn refused_http2_body_gives_its_window_back() {
    let address = http2_server(STREAMS).await;
    let mut client = http2_client(address).await;
    // More than the window of the connection, again and again.
    for _ in 0..10 {
        let response = client.send_request(request(&Method::GET, address, "/large")).await.unwrap();
        let read = response.collect_presized(&Method::GET, 10 << 10).bytes();
        assert!(timeout(PATIENCE, read).await.unwrap().unwrap_err().is_too_large());
    }
    let response = client.send_request(request(&Method::GET, address, "/medium")).await.unwrap();
    let read = response.collect_presized(&Method::GET, 1 << 20).bytes();
    assert_eq!(timeout(PATIENCE, read).await.unwrap().unwrap().len(), 200 << 10);
}
