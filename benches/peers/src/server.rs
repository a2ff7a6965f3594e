//! An Invoke API whose functions respond with as many bytes as their names say.

use std::convert::Infallible;
use std::net::{Ipv4Addr, SocketAddr};
use std::thread;

use bytes::Bytes;
use http::header::AUTHORIZATION;
use http::{Method, Request, Response, StatusCode};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use presized_support::client::Error;
use presized_support::meter::{Side, pin};
use presized_support::pattern::{self, Pattern};
use tokio::net::TcpListener;
use tokio::runtime;

use crate::api;

/// The payload of each call. The functions refuse any other.
pub const PAYLOAD: Bytes = Bytes::from_static(br#"{"bucket":"reports","key":"2026/11"}"#);

/// Returns the name of the function that responds with this many bytes.
pub fn function(length: u64) -> String {
    format!("{PREFIX}{length}")
}

/// Starts the server on a thread of its own. It runs until the process ends.
pub fn start() -> Result<SocketAddr, Error> {
    pattern::prepare();
    let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    listener.set_nonblocking(true)?;
    let address = listener.local_addr()?;
    let runtime = runtime::Builder::new_current_thread().enable_all().build()?;
    thread::Builder::new().name("server".to_owned()).spawn(move || {
        pin(Side::Server);
        runtime.block_on(accept(listener))
    })?;
    Ok(address)
}

async fn accept(listener: std::net::TcpListener) -> std::io::Result<()> {
    let listener = TcpListener::from_std(listener)?;
    loop {
        let (stream, _) = listener.accept().await?;
        // Responses are written as a whole and must not wait for an acknowledgement.
        stream.set_nodelay(true)?;
        let connection =
            http1::Builder::new().serve_connection(TokioIo::new(stream), service_fn(respond));
        tokio::spawn(async {
            // A client may close the connection at any time.
            let _: hyper::Result<()> = connection.await;
        });
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

const PREFIX: &str = "responds-with-";

/// The header fields of a response of Lambda.
const FIELDS: [(&str, &str); 5] = [
    ("content-type", "application/json"),
    ("x-amzn-requestid", "8fb4c6a2-6a1d-4f0c-9c57-2f0d3a1b7e64"),
    ("x-amzn-remapped-content-length", "0"),
    ("x-amz-executed-version", "$LATEST"),
    ("x-amzn-trace-id", "Root=1-674b0f2e-3c1d5a7e9b2f4c6d8e0a1b2c;Sampled=0;Lineage=1:5c2d9f1a:0"),
];
