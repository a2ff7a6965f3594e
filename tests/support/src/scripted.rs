//! A server that replies to each request with the bytes that a test chooses.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use bytes::Bytes;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime;
use tokio::sync::oneshot;

use crate::chunked;

/// The reaction of a server to a request that it has read to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// Writes these bytes and waits for the next request.
    Keep(Bytes),
    /// Writes these bytes and closes the connection.
    Close(Bytes),
    /// Writes these bytes and resets the connection.
    Reset(Bytes),
    /// Writes these bytes and waits until the client closes the connection.
    Hang(Bytes),
    /// Writes these bytes, then each piece after a pause of this length, and waits for the next request.
    Trickle(Bytes, Duration, Vec<Bytes>),
}

impl Reply {
    /// Creates a whole response with Content-Length.
    pub fn response(status: &str, headers: &[(&str, &str)], body: impl AsRef<[u8]>) -> Self {
        let body = body.as_ref();
        let mut response = format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\n", body.len());
        for (name, value) in headers {
            response.push_str(&format!("{name}: {value}\r\n"));
        }
        response.push_str("\r\n");
        Self::Keep([response.as_bytes(), body].concat().into())
    }
}

/// A request as it was read.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// Request line and headers, up to and without the empty line.
    pub head: String,
    /// The content, without the chunked coding.
    pub body: Vec<u8>,
    /// The body as received: chunks with their sizes, and trailers.
    pub wire: Vec<u8>,
    /// The number of the connection, from 0.
    pub connection: usize,
}

impl Recorded {
    /// Returns the path and query of the request line.
    pub fn target(&self) -> &str {
        self.head.split(' ').nth(1).unwrap_or_default()
    }

    /// Returns the value of a header field.
    pub fn header(&self, name: &str) -> Option<&str> {
        field(self.head.lines().skip(1), name)
    }

    /// Returns the value of a trailer field.
    pub fn trailer(&self, name: &str) -> Option<&str> {
        let trailers = chunked::split(&self.wire)?.trailers;
        field(std::str::from_utf8(trailers).ok()?.lines(), name)
    }
}

fn field<'a>(mut lines: impl Iterator<Item = &'a str>, name: &str) -> Option<&'a str> {
    lines.find_map(|line| {
        let (found, value) = line.split_once(':')?;
        found.eq_ignore_ascii_case(name).then(|| value.trim())
    })
}

/// An HTTP/1.1 server on a free port of the loopback address. Dropping it ends it.
#[derive(Debug)]
pub struct Scripted {
    address: SocketAddr,
    requests: Arc<Mutex<Vec<Recorded>>>,
    closed: Arc<AtomicUsize>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Scripted {
    /// Starts a server that replies as `reply` says. `reply` gets the number of earlier requests.
    pub fn start(reply: impl Fn(usize, &Recorded) -> Reply + Send + Sync + 'static) -> Self {
        let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        listener.set_nonblocking(true).expect("a socket of our own");
        let address = listener.local_addr().expect("a bound socket");
        let requests = Arc::new(Mutex::new(Vec::new()));
        let (stop, stopped) = oneshot::channel();
        let closed = Arc::new(AtomicUsize::new(0));
        let (seen, gone) = (Arc::clone(&requests), Arc::clone(&closed));
        let serving = move || {
            let runtime = runtime::Builder::new_current_thread().enable_all().build();
            runtime.expect("a runtime").block_on(async {
                tokio::select! {
                    _ = stopped => {}
                    () = accept(listener, Arc::new(reply), seen, gone) => {}
                }
            });
        };
        let thread = thread::Builder::new().name("scripted server".to_owned()).spawn(serving);
        Self {
            address,
            requests,
            closed,
            stop: Some(stop),
            thread: Some(thread.expect("a thread")),
        }
    }

    /// Starts a server that sends these replies in turn, and status 418 after the last.
    pub fn in_turn(replies: impl Into<Vec<Reply>>) -> Self {
        let replies = replies.into();
        Self::start(move |number, _| {
            let unexpected = || Reply::response("418 I'm a teapot", &[], "");
            replies.get(number).cloned().unwrap_or_else(unexpected)
        })
    }

    /// Returns the URL of the server.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Returns the address of the server.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the requests that were read to their end so far.
    pub fn requests(&self) -> Vec<Recorded> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns the number of connections that have ended so far, by the client or by the server.
    pub fn closed(&self) -> usize {
        self.closed.load(Ordering::SeqCst)
    }
}

impl Drop for Scripted {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // A panic of the server was printed, and made a request fail.
            let _ = thread.join();
        }
    }
}

async fn accept<F>(
    listener: std::net::TcpListener,
    reply: Arc<F>,
    requests: Arc<Mutex<Vec<Recorded>>>,
    closed: Arc<AtomicUsize>,
) where
    F: Fn(usize, &Recorded) -> Reply + Send + Sync + 'static,
{
    let listener = TcpListener::from_std(listener).expect("the listener is non-blocking");
    let mut connections = 0;
    while let Ok((stream, _)) = listener.accept().await {
        let connection = connections;
        connections += 1;
        let (reply, requests) = (Arc::clone(&reply), Arc::clone(&requests));
        let closed = Arc::clone(&closed);
        tokio::spawn(async move {
            // An error means that the client closed the connection, which a test may do.
            let _: io::Result<()> = serve(stream, connection, |request| {
                let number = {
                    let mut requests = requests.lock().unwrap_or_else(PoisonError::into_inner);
                    requests.push(request.clone());
                    requests.len() - 1
                };
                reply(number, request)
            })
            .await;
            closed.fetch_add(1, Ordering::SeqCst);
        });
    }
}

async fn serve(
    mut stream: TcpStream,
    connection: usize,
    mut reply: impl FnMut(&Recorded) -> Reply,
) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut read = Vec::new();
    while let Some(request) = next_request(&mut stream, &mut read, connection).await? {
        match reply(&request) {
            Reply::Keep(bytes) => stream.write_all(&bytes).await?,
            Reply::Close(bytes) => {
                stream.write_all(&bytes).await?;
                return stream.shutdown().await;
            }
            Reply::Reset(bytes) => {
                stream.write_all(&bytes).await?;
                // On the loopback interface the written bytes arrive before the reset.
                return stream.set_zero_linger();
            }
            Reply::Hang(bytes) => {
                stream.write_all(&bytes).await?;
                return until_gone(&mut stream).await;
            }
            Reply::Trickle(bytes, pause, pieces) => {
                stream.write_all(&bytes).await?;
                for piece in pieces {
                    tokio::time::sleep(pause).await;
                    stream.write_all(&piece).await?;
                }
            }
        }
    }
    Ok(())
}

/// Returns the next request, or `None` if the client closed the connection. Bytes after the request
/// stay in `read`.
async fn next_request(
    stream: &mut TcpStream,
    read: &mut Vec<u8>,
    connection: usize,
) -> io::Result<Option<Recorded>> {
    let head_len = loop {
        if let Some(end) = read.windows(4).position(|window| window == b"\r\n\r\n") {
            break end;
        }
        if stream.read_buf(read).await? == 0 {
            return Ok(None);
        }
    };
    let head = String::from_utf8_lossy(&read[..head_len]).into_owned();
    let rest = read.split_off(head_len + 4);
    *read = rest;
    let mut request = Recorded { head, body: Vec::new(), wire: Vec::new(), connection };
    let is_chunked = request.header("transfer-encoding") == Some("chunked");
    let length = request.header("content-length").and_then(|value| value.parse().ok()).unwrap_or(0);
    let (content, end) = loop {
        let found = if is_chunked {
            chunked::split(read).map(|body| (body.content, read.len() - body.rest.len()))
        } else {
            read.get(..length).map(|body| (body.to_vec(), length))
        };
        match found {
            Some(found) => break found,
            None if stream.read_buf(read).await? == 0 => return Ok(None),
            None => {}
        }
    };
    let rest = read.split_off(end);
    request.wire = std::mem::replace(read, rest);
    request.body = content;
    Ok(Some(request))
}

async fn until_gone(stream: &mut TcpStream) -> io::Result<()> {
    let mut ignored = [0; 1024];
    while stream.read(&mut ignored).await? > 0 {}
    Ok(())
}
