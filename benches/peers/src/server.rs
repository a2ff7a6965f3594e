//! An Invoke API whose functions respond with as many bytes as their names say.

use std::convert::Infallible;
use std::net::Ipv4Addr;
use std::thread;

use bytes::Bytes;
use http::header::AUTHORIZATION;
use http::{Method, Request, Response, StatusCode};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use presized_support::client::{self, Error};
use presized_support::meter::{Side, pin};
use presized_support::pattern::{self, Pattern};
use presized_support::server::certify;
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime;
use tokio_rustls::TlsAcceptor;

use crate::api::{self, Endpoint};

/// The payload of each call. The functions refuse any other.
pub const PAYLOAD: Bytes = Bytes::from_static(br#"{"bucket":"reports","key":"2026/11"}"#);

/// Returns the name of the function that responds with this many bytes.
pub fn function(length: u64) -> String {
    format!("{PREFIX}{length}")
}

/// The protocol of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// HTTP/1.1 without TLS.
    Http1,
    /// HTTP/1.1 over TLS 1.3. The server offers no other.
    Http1Tls,
    /// HTTP/2 over TLS 1.3. The server offers HTTP/1.1 too, and closes a connection that does not
    /// agree to HTTP/2.
    Http2Tls,
}

impl Protocol {
    fn alpn_protocols(self) -> Option<&'static [&'static str]> {
        match self {
            Self::Http1 => None,
            Self::Http1Tls => Some(&["http/1.1"]),
            Self::Http2Tls => Some(&[H2, "http/1.1"]),
        }
    }
}

/// Starts the server on a thread of its own. It runs until the process ends.
pub fn start(protocol: Protocol) -> Result<Endpoint, Error> {
    pattern::prepare();
    let (certificate, acceptor) = protocol.alpn_protocols().map(certify).transpose()?.unzip();
    let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    listener.set_nonblocking(true)?;
    let address = listener.local_addr()?;
    let runtime = runtime::Builder::new_current_thread().enable_all().build()?;
    thread::Builder::new().name("server".to_owned()).spawn(move || {
        pin(Side::Server);
        runtime.block_on(accept(listener, protocol, acceptor))
    })?;
    Ok(Endpoint { address, certificate: certificate.as_ref().map(client::pem) })
}

async fn accept(
    listener: std::net::TcpListener,
    protocol: Protocol,
    acceptor: Option<TlsAcceptor>,
) -> std::io::Result<()> {
    let listener = TcpListener::from_std(listener)?;
    loop {
        let (stream, _) = listener.accept().await?;
        // Responses are written as a whole and must not wait for an acknowledgement.
        stream.set_nodelay(true)?;
        let acceptor = acceptor.clone();
        tokio::spawn(async move {
            // A client may close the connection at any time.
            let _: Result<(), Error> = serve(stream, protocol, acceptor).await;
        });
    }
}

async fn serve(
    stream: TcpStream,
    protocol: Protocol,
    acceptor: Option<TlsAcceptor>,
) -> Result<(), Error> {
    let http1 = http1::Builder::new();
    let Some(acceptor) = acceptor else {
        return Ok(http1.serve_connection(TokioIo::new(stream), service_fn(respond)).await?);
    };
    let stream = acceptor.accept(stream).await?;
    let is_http2 = stream.get_ref().1.alpn_protocol() == Some(H2.as_bytes());
    let stream = TokioIo::new(stream);
    match protocol {
        Protocol::Http2Tls if !is_http2 => Err("the client did not agree to HTTP/2".into()),
        Protocol::Http2Tls => {
            let http2 = http2::Builder::new(TokioExecutor::new());
            Ok(http2.serve_connection(stream, service_fn(respond)).await?)
        }
        _ => Ok(http1.serve_connection(stream, service_fn(respond)).await?),
    }
}

async fn respond(request: Request<Incoming>) -> Result<Response<Pattern>, Infallible> {
    let (status, body) = match run(request).await {
        Ok(body) => (StatusCode::OK, body),
        // The client reports the wrong status, which ends the benchmark.
        Err(status) => (status, Pattern::of(0)),
    };
    let mut response = Response::new(body);
    *response.status_mut() = status;
    for (name, value) in FIELDS {
        response.headers_mut().insert(name, http::HeaderValue::from_static(value));
    }
    Ok(response)
}

async fn run(request: Request<Incoming>) -> Result<Pattern, StatusCode> {
    let (head, body) = request.into_parts();
    let function = api::function_at(head.uri.path()).and_then(|name| name.strip_prefix(PREFIX));
    let length = function.and_then(|length| length.parse().ok()).ok_or(StatusCode::NOT_FOUND)?;
    if head.method != Method::POST {
        return Err(StatusCode::METHOD_NOT_ALLOWED);
    }
    let authorization = head.headers.get(AUTHORIZATION).ok_or(StatusCode::FORBIDDEN)?;
    if !api::is_signed(authorization.as_bytes()) {
        return Err(StatusCode::FORBIDDEN);
    }
    let payload = body.collect().await.map_err(|_| StatusCode::BAD_REQUEST)?.to_bytes();
    if payload == PAYLOAD { Ok(Pattern::of(length)) } else { Err(StatusCode::BAD_REQUEST) }
}

/// The ALPN name of HTTP/2 (RFC 9113, section 3.2).
const H2: &str = "h2";

const PREFIX: &str = "responds-with-";

/// The header fields of a response of Lambda.
const FIELDS: [(&str, &str); 5] = [
    ("content-type", "application/json"),
    ("x-amzn-requestid", "8fb4c6a2-6a1d-4f0c-9c57-2f0d3a1b7e64"),
    ("x-amzn-remapped-content-length", "0"),
    ("x-amz-executed-version", "$LATEST"),
    ("x-amzn-trace-id", "Root=1-674b0f2e-3c1d5a7e9b2f4c6d8e0a1b2c;Sampled=0;Lineage=1:5c2d9f1a:0"),
];
