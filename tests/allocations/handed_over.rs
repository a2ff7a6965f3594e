//! What a frame keeps alive that is handed over: the buffer of the transport of which it is a
//! slice.

use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use http::{Method, Request, Response};
use http_body_util::{Empty, Full};
use hyper::body::Incoming;
use hyper_util::rt::{TokioExecutor, TokioIo};
use presized::{HTTP1_MAX_BUF_SIZE, Reader, ResponseExt};
use presized_support::drive::drive;
use presized_support::ledger::Ledger;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};

use crate::{KIB, MIB, PATTERN, alone};

/// The smallest frame that is handed over.
const FRAME: usize = 32 * KIB;

/// Reads a body of `PATTERN`, by a form that copies or by one that can hand over.
async fn read(response: Response<Incoming>, len: usize, copies: bool) -> Bytes {
    let collect = response.collect_presized(&Method::GET, Reader::new(u64::MAX));
    let content = match copies {
        true => collect.vec().await.unwrap().into(),
        false => collect.bytes().await.unwrap(),
    };
    assert_eq!(content, PATTERN[..len]);
    content
}

/// Returns how many bytes `content` keeps alive, if nothing else does.
fn kept_by(content: Bytes) -> usize {
    let before = Ledger::live();
    drop(content);
    (before - Ledger::live()) as usize
}

fn request() -> Request<Empty<Bytes>> {
    Request::builder()
        .uri("http://localhost/")
        .header("host", "localhost")
        .body(Empty::new())
        .unwrap()
}

fn block_on<T>(work: impl Future<Output = T>) -> T {
    Ledger::count_this_thread(true);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let value = runtime.block_on(work);
    drop(runtime);
    value
}

/// Reads a long body and then a short one over HTTP/1.1. Returns what the short one keeps alive.
fn kept_over_http1(max_buf_size: Option<usize>, [long, short]: [usize; 2], copies: bool) -> usize {
    let segments = [long, short].into_iter().flat_map(|len| {
        let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {len}\r\n\r\n");
        [None, Some(head.into()), Some(Bytes::from_static(&PATTERN[..len]))]
    });
    let transport = Transport { segments: segments.collect(), reader: None };
    kept_by(block_on(async {
        let mut builder = hyper::client::conn::http1::Builder::new();
        if let Some(bytes) = max_buf_size {
            builder.max_buf_size(bytes);
        }
        let (mut client, connection) = builder.handshake(TokioIo::new(transport)).await.unwrap();
        let connection = tokio::spawn(connection);
        read(client.send_request(request()).await.unwrap(), long, copies).await;
        let content = read(client.send_request(request()).await.unwrap(), short, copies).await;
        drop(client);
        connection.await.unwrap().unwrap();
        content
    }))
}

/// The same over HTTP/2, with frames of up to `max_frame_size` bytes.
fn kept_over_http2(max_frame_size: u32, lens: [usize; 2], copies: bool) -> usize {
    let server = Http2Server::start(lens);
    kept_by(block_on(async {
        let stream = TcpStream::connect(server.address).await.unwrap();
        let (mut client, connection) =
            hyper::client::conn::http2::Builder::new(TokioExecutor::new())
                .initial_stream_window_size(64 << 20)
                .initial_connection_window_size(64 << 20)
                .max_frame_size(max_frame_size)
                .handshake(TokioIo::new(stream))
                .await
                .unwrap();
        let connection = tokio::spawn(connection);
        let [long, short] = lens;
        read(client.send_request(request()).await.unwrap(), long, copies).await;
        let content = read(client.send_request(request()).await.unwrap(), short, copies).await;
        drop(client);
        connection.await.unwrap().unwrap();
        content
    }))
}

#[test]
fn frame_over_http1_keeps_less_than_twice_the_largest_read_buffer() {
    const DEFAULT: usize = 408 * KIB;
    let _alone = alone();
    let sizes = [
        // size of the buffer, the least that is kept after a long body
        (None, 256 * KIB),
        (Some(HTTP1_MAX_BUF_SIZE), 64 * KIB),
        (Some(256 * MIB), 16 * MIB),
    ];
    for (max_buf_size, least) in sizes {
        let most = 2 * max_buf_size.unwrap_or(DEFAULT);
        for long in [1, 300 * KIB, 3 * MIB, 64 * MIB] {
            let kept = kept_over_http1(max_buf_size, [long, FRAME], false);
            assert!((FRAME..most).contains(&kept), "{kept} of {max_buf_size:?} after {long}");
            assert!(kept > least || long < 64 * MIB, "{kept} of {max_buf_size:?} after {long}");
            let copied = kept_over_http1(max_buf_size, [long, FRAME], true);
            assert_eq!(copied, FRAME, "{max_buf_size:?} after {long}");
        }
    }
}

#[test]
fn frame_over_http2_keeps_less_than_twice_its_length() {
    let _alone = alone();
    for max_frame_size in [64 * KIB, MIB, 16 * MIB - 1] {
        for len in [FRAME, 100 * KIB, MIB, 9 * MIB].into_iter().filter(|&len| len <= max_frame_size)
        {
            let lens = [max_frame_size, len];
            let kept = kept_over_http2(max_frame_size as u32, lens, false);
            assert!((len..2 * len).contains(&kept), "{kept} by {len} of {max_frame_size}");
            assert_eq!(kept_over_http2(max_frame_size as u32, lens, true), len);
        }
    }
}

#[test]
fn frame_that_is_a_slice_keeps_its_whole_buffer_and_a_vec_keeps_its_length() {
    let _alone = alone();
    Ledger::count_this_thread(true);
    let slice = || Full::new(Bytes::from(vec![0; 256 * MIB]).slice(..100 * KIB));
    let reader = Reader::new(u64::MAX);
    let kept = kept_by(drive(reader.collect(slice()).bytes()).unwrap());
    assert!((256 * MIB..257 * MIB).contains(&kept), "{kept}");
    let copied = drive(reader.collect(slice()).vec()).unwrap();
    assert_eq!(kept_by(copied.into()), 100 * KIB);
    Ledger::count_this_thread(false);
}

/// An HTTP/2 server on a thread of its own, which is not counted.
struct Http2Server {
    address: std::net::SocketAddr,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Http2Server {
    /// Starts a server that accepts one connection and sends a body of each of these lengths.
    fn start(lens: [usize; 2]) -> Self {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let address = listener.local_addr().unwrap();
        let thread = std::thread::spawn(move || {
            let runtime =
                tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let listener = TcpListener::from_std(listener).unwrap();
                let (stream, _) = listener.accept().await.unwrap();
                let mut connection = h2::server::handshake(stream).await.unwrap();
                let mut lens = lens.into_iter();
                while let Some(Ok((_, mut respond))) = connection.accept().await {
                    let body = &PATTERN[..lens.next().unwrap()];
                    let head = Response::builder().header("content-length", body.len()).body(());
                    let mut stream = respond.send_response(head.unwrap(), false).unwrap();
                    stream.send_data(Bytes::from_static(body), true).unwrap();
                }
            });
        });
        Self { address, thread: Some(thread) }
    }
}

impl Drop for Http2Server {
    fn drop(&mut self) {
        let ended = self.thread.take().map(std::thread::JoinHandle::join);
        assert!(std::thread::panicking() || matches!(ended, Some(Ok(()))));
    }
}

/// A transport that is always ready to send its next segment. `None` waits for a request.
///
/// A socket gives no more at a time than its own buffer has, so it would hide how far the buffer of
/// hyper can grow.
struct Transport {
    segments: VecDeque<Option<Bytes>>,
    reader: Option<Waker>,
}

impl AsyncRead for Transport {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let Some(Some(segment)) = self.segments.front_mut() else {
            self.reader = Some(cx.waker().clone());
            return Poll::Pending;
        };
        let count = segment.len().min(buffer.remaining());
        buffer.put_slice(&segment.split_to(count));
        if segment.is_empty() {
            self.segments.pop_front();
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Transport {
    fn poll_write(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        written: &[u8],
    ) -> Poll<io::Result<usize>> {
        if written.ends_with(b"\r\n\r\n") {
            assert!(matches!(self.segments.pop_front(), Some(None)));
            self.reader.take().into_iter().for_each(Waker::wake);
        }
        Poll::Ready(Ok(written.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
