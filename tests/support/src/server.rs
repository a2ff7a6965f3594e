//! Servers on the loopback address. Each runs on a thread of its own, which no ledger counts.

use std::convert::Infallible;
use std::future::Future;
use std::io;
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use http::{Request, Response, StatusCode};
use hyper::body::Incoming;
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime;
use tokio::sync::oneshot;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer};
use tokio_rustls::rustls::{self, ServerConfig, crypto};

use crate::client::Endpoint;
use crate::pattern::{self, Pattern};

/// The protocol of a server, which the client has to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// HTTP/1.1.
    Http1,
    /// HTTP/2 from the first byte ("prior knowledge").
    Http2,
    /// HTTP/1.1 over TLS 1.3.
    Tls,
}

/// Returns the path of `length` bytes of content with a declared length.
pub fn known(length: u64) -> String {
    format!("/known/{length}")
}

/// Returns the path of `length` bytes of content without a declared length: chunked in HTTP/1.1.
pub fn unknown(length: u64) -> String {
    format!("/unknown/{length}")
}

/// Returns the path of the same content in frames of `frame` bytes.
pub fn unknown_in_frames(length: u64, frame: usize) -> String {
    format!("/unknown/{length}/{frame}")
}

/// Returns the path of content that declares `length` bytes and stalls after the first frame.
pub fn stalled(length: u64) -> String {
    format!("/stalled/{length}")
}

/// A server on a free port of the loopback address. Dropping it ends its connections.
#[derive(Debug)]
pub struct Server {
    endpoint: Endpoint,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    /// Starts a server of [`Pattern`]s at the paths [`known`], [`unknown`], [`unknown_in_frames`]
    /// and [`stalled`].
    pub fn start(protocol: Protocol) -> io::Result<Self> {
        pattern::prepare();
        let tls = (protocol == Protocol::Tls).then(|| certify(&[])).transpose()?;
        let (certificate, acceptor) = tls.unzip();
        Self::spawn(protocol, certificate, move |stream| {
            let acceptor = acceptor.clone();
            async move {
                // An error means that the client closed the connection, which a test may do.
                let _: Result<(), _> = match (protocol, acceptor) {
                    (_, Some(acceptor)) => match acceptor.accept(stream).await {
                        Ok(stream) => serve_http1(stream).await,
                        Err(_) => return,
                    },
                    (Protocol::Http2, None) => serve_http2(stream).await,
                    (_, None) => serve_http1(stream).await,
                };
            }
        })
    }

    /// Starts a server that responds to every request with these bytes and closes the connection.
    pub fn raw(response: impl Into<Vec<u8>>) -> io::Result<Self> {
        let response: Arc<[u8]> = response.into().into();
        Self::spawn(Protocol::Http1, None, move |stream| {
            let response = Arc::clone(&response);
            async move {
                let _: io::Result<()> = respond_raw(stream, &response).await;
            }
        })
    }

    /// Returns what a client has to know of the server.
    pub fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    fn spawn<F>(
        protocol: Protocol,
        certificate: Option<CertificateDer<'static>>,
        serve: impl Fn(TcpStream) -> F + Send + 'static,
    ) -> io::Result<Self>
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let runtime = runtime::Builder::new_current_thread().enable_all().build()?;
        let (stop, stopped) = oneshot::channel();
        let thread =
            thread::Builder::new().name(format!("{protocol:?} server")).spawn(move || {
                runtime.block_on(async {
                    tokio::select! {
                        _ = stopped => {}
                        () = accept(listener, serve) => {}
                    }
                });
                // The runtime is dropped here, and drops the connections.
            })?;
        let endpoint = Endpoint { protocol, address, certificate };
        Ok(Self { endpoint, stop: Some(stop), thread: Some(thread) })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // A panic of the server was printed, and made a request fail.
            let _ = thread.join();
        }
    }
}

async fn accept<F>(listener: std::net::TcpListener, serve: impl Fn(TcpStream) -> F)
where
    F: Future<Output = ()> + Send + 'static,
{
    let listener = TcpListener::from_std(listener).expect("the listener is non-blocking");
    while let Ok((stream, _)) = listener.accept().await {
        // Responses are written at once, and must not wait for an acknowledgement.
        if stream.set_nodelay(true).is_ok() {
            tokio::spawn(serve(stream));
        }
    }
}

async fn serve_http1<S>(stream: S) -> hyper::Result<()>
where
    S: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin,
{
    http1::Builder::new().serve_connection(TokioIo::new(stream), service_fn(respond)).await
}

async fn serve_http2(stream: TcpStream) -> hyper::Result<()> {
    http2::Builder::new(TokioExecutor::new())
        .serve_connection(TokioIo::new(stream), service_fn(respond))
        .await
}

async fn respond(request: Request<Incoming>) -> Result<Response<Pattern>, Infallible> {
    let mut response = Response::new(Pattern::of(0));
    match body_at(request.uri().path()) {
        Some(body) => *response.body_mut() = body,
        None => *response.status_mut() = StatusCode::NOT_FOUND,
    }
    Ok(response)
}

/// Returns the body at a path of [`known`], [`unknown`], [`unknown_in_frames`] or [`stalled`].
fn body_at(path: &str) -> Option<Pattern> {
    let mut segments = path.strip_prefix('/')?.split('/');
    let (kind, length) = (segments.next()?, segments.next()?);
    let mut body = Pattern::of(length.parse().ok()?);
    if let Some(frame) = segments.next() {
        body = body.in_frames_of(frame.parse().ok()?);
    }
    match kind {
        "known" => Some(body),
        "unknown" => Some(body.of_unknown_length()),
        "stalled" => Some(body.stalling()),
        _ => None,
    }
}

async fn respond_raw(mut stream: TcpStream, response: &[u8]) -> io::Result<()> {
    let mut request = Vec::new();
    while !request.ends_with(b"\r\n\r\n") {
        if stream.read_buf(&mut request).await? == 0 {
            return Ok(());
        }
    }
    stream.write_all(response).await?;
    stream.shutdown().await
}

/// Returns a certificate for the loopback address, and an acceptor that presents it and agrees to
/// these protocols by ALPN.
pub fn certify(protocols: &[&str]) -> io::Result<(CertificateDer<'static>, TlsAcceptor)> {
    certify_for([], protocols)
}

/// Does the same as [`certify`] for a certificate that has other names too.
pub fn certify_for<const N: usize>(
    names: [&str; N],
    protocols: &[&str],
) -> io::Result<(CertificateDer<'static>, TlsAcceptor)> {
    let mut all = vec![Ipv4Addr::LOCALHOST.to_string()];
    all.extend(names.map(str::to_owned));
    let certified = rcgen::generate_simple_self_signed(all).map_err(io::Error::other)?;
    let certificate = certified.cert.der().clone();
    let key = PrivatePkcs8KeyDer::from(certified.signing_key.serialize_der());
    let mut config =
        ServerConfig::builder_with_provider(Arc::new(crypto::ring::default_provider()))
            .with_protocol_versions(&[&rustls::version::TLS13])
            .map_err(io::Error::other)?
            .with_no_client_auth()
            .with_single_cert(vec![certificate.clone()], key.into())
            .map_err(io::Error::other)?;
    config.alpn_protocols = protocols.iter().map(|name| name.as_bytes().to_vec()).collect();
    Ok((certificate, TlsAcceptor::from(Arc::new(config))))
}
