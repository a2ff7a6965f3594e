//! A server that replies to each request with the bytes that a test chooses.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use crate::background::Background;
use crate::{client, server};

use request::{next_head, read_body};

pub use early::{Early, End};
pub use request::Recorded;

mod early;
mod request;

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

/// An HTTP/1.1 server on a free port of the loopback address. Dropping it ends it.
#[derive(Debug)]
pub struct Scripted {
    address: SocketAddr,
    /// In PEM, if the server speaks TLS.
    certificate: Option<String>,
    requests: Arc<Mutex<Vec<Recorded>>>,
    closed: Arc<AtomicUsize>,
    _background: Background,
}

impl Scripted {
    /// Starts a server that replies as `reply` says. `reply` gets the number of earlier requests.
    pub fn start(reply: impl Fn(usize, &Recorded) -> Reply + Send + Sync + 'static) -> Self {
        Self::spawn(false, |_, _| None, reply)
    }

    /// Starts a server over TLS.
    pub fn start_tls(reply: impl Fn(usize, &Recorded) -> Reply + Send + Sync + 'static) -> Self {
        Self::spawn(true, |_, _| None, reply)
    }

    /// Starts a server that responds before the payload has arrived if `early` returns a response.
    /// Otherwise it replies with `reply`. `early` gets the number of earlier heads.
    pub fn start_early(
        tls: bool,
        early: impl Fn(usize, &Recorded) -> Option<Early> + Send + Sync + 'static,
        reply: Reply,
    ) -> Self {
        Self::spawn(tls, early, move |_, _| reply.clone())
    }

    fn spawn(
        tls: bool,
        early: impl Fn(usize, &Recorded) -> Option<Early> + Send + Sync + 'static,
        reply: impl Fn(usize, &Recorded) -> Reply + Send + Sync + 'static,
    ) -> Self {
        let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        listener.set_nonblocking(true).expect("a socket of our own");
        let address = listener.local_addr().expect("a bound socket");
        let tls = tls.then(|| server::certify(&[]).expect("a certificate of our own"));
        let (certificate, acceptor) = tls.unzip();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let closed = Arc::new(AtomicUsize::new(0));
        let script = Arc::new(Script {
            early,
            reply,
            heads: AtomicUsize::new(0),
            requests: Arc::clone(&requests),
            closed: Arc::clone(&closed),
        });
        let serving = accept(listener, acceptor, script);
        Self {
            address,
            certificate: certificate.map(|der| client::pem(&der)),
            requests,
            closed,
            _background: Background::start("scripted server", serving),
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
        let scheme = if self.certificate.is_some() { "https" } else { "http" };
        format!("{scheme}://{}", self.address)
    }

    /// Returns the certificate of the server in PEM, if it speaks TLS.
    pub fn certificate_pem(&self) -> Option<&str> {
        self.certificate.as_deref()
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

/// The reactions of a server, and its records.
struct Script<E, R> {
    early: E,
    reply: R,
    heads: AtomicUsize,
    requests: Arc<Mutex<Vec<Recorded>>>,
    closed: Arc<AtomicUsize>,
}

async fn accept<E, R>(
    listener: std::net::TcpListener,
    acceptor: Option<TlsAcceptor>,
    script: Arc<Script<E, R>>,
) where
    E: Fn(usize, &Recorded) -> Option<Early> + Send + Sync + 'static,
    R: Fn(usize, &Recorded) -> Reply + Send + Sync + 'static,
{
    let listener = TcpListener::from_std(listener).expect("the listener is non-blocking");
    let mut connections = 0;
    while let Ok((stream, _)) = listener.accept().await {
        let connection = connections;
        connections += 1;
        let (script, acceptor) = (Arc::clone(&script), acceptor.clone());
        tokio::spawn(async move {
            // An error means that the client closed the connection, which a test may do.
            let _: io::Result<()> = async {
                stream.set_nodelay(true)?;
                match acceptor {
                    Some(acceptor) => {
                        script.serve(acceptor.accept(stream).await?, connection).await
                    }
                    None => script.serve(stream, connection).await,
                }
            }
            .await;
            script.closed.fetch_add(1, Ordering::SeqCst);
        });
    }
}

impl<E, R> Script<E, R>
where
    E: Fn(usize, &Recorded) -> Option<Early>,
    R: Fn(usize, &Recorded) -> Reply,
{
    async fn serve<S: Socket>(&self, mut stream: S, connection: usize) -> io::Result<()> {
        let mut read = Vec::new();
        while let Some(mut request) = next_head(&mut stream, &mut read, connection).await? {
            let head = self.heads.fetch_add(1, Ordering::SeqCst);
            if let Some(early) = (self.early)(head, &request) {
                if early::respond(&mut stream, &request, &mut read, early).await? {
                    continue;
                }
                return Ok(());
            }
            if !read_body(&mut stream, &mut read, &mut request).await? {
                return Ok(());
            }
            let number = {
                let mut requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
                requests.push(request.clone());
                requests.len() - 1
            };
            if !send(&mut stream, (self.reply)(number, &request)).await? {
                return Ok(());
            }
        }
        Ok(())
    }
}

/// A TCP connection, or TLS over it.
trait Socket: AsyncRead + AsyncWrite + Unpin + Send {
    fn tcp(&self) -> &TcpStream;
}

impl Socket for TcpStream {
    fn tcp(&self) -> &TcpStream {
        self
    }
}

impl Socket for TlsStream<TcpStream> {
    fn tcp(&self) -> &TcpStream {
        self.get_ref().0
    }
}

/// Sends a reply, and returns whether another request can follow.
async fn send<S: Socket>(stream: &mut S, reply: Reply) -> io::Result<bool> {
    match reply {
        Reply::Keep(bytes) => write(stream, &bytes).await?,
        Reply::Close(bytes) => {
            write(stream, &bytes).await?;
            stream.shutdown().await?;
            return Ok(false);
        }
        Reply::Reset(bytes) => {
            write(stream, &bytes).await?;
            // On the loopback interface the written bytes arrive before the reset.
            stream.tcp().set_zero_linger()?;
            return Ok(false);
        }
        Reply::Hang(bytes) => {
            write(stream, &bytes).await?;
            until_gone(stream).await?;
            return Ok(false);
        }
        Reply::Trickle(bytes, pause, pieces) => {
            write(stream, &bytes).await?;
            for piece in pieces {
                tokio::time::sleep(pause).await;
                write(stream, &piece).await?;
            }
        }
    }
    Ok(true)
}

async fn write<S: Socket>(stream: &mut S, bytes: &[u8]) -> io::Result<()> {
    stream.write_all(bytes).await?;
    stream.flush().await
}

async fn until_gone<S: Socket>(stream: &mut S) -> io::Result<()> {
    let mut ignored = [0; 1024];
    while stream.read(&mut ignored).await? > 0 {}
    Ok(())
}
