//! Tests against servers that send scripted bytes, so that each failure occurs at a known point.

#[cfg(any(feature = "ring", feature = "aws-lc-rs"))]
mod connect;
mod http1;
mod http2;
mod unread;

use std::future::Future;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use bytes::Bytes;
use http::{Method, Request};
use http_body_util::{BodyExt, Full};
use tokio::io::AsyncReadExt;
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;

use super::*;
use crate::HttpVersion;

/// Fails a test that would hang.
async fn within<T>(work: impl Future<Output = T>) -> T {
    timeout(Duration::from_secs(10), work).await.expect("this must not hang")
}

async fn listen() -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    (listener, address)
}

fn plain(version: HttpVersion) -> Connector {
    Connector::tcp(version, Duration::from_secs(5), None)
}

fn transport(version: HttpVersion) -> Transport {
    Transport::new(plain(version), Duration::from_secs(60))
}

fn post(address: SocketAddr, payload: impl Into<Bytes>) -> Request<Full<Bytes>> {
    Request::builder()
        .method(Method::POST)
        .uri(format!("http://{address}/functions/f"))
        .body(Full::new(payload.into()))
        .unwrap()
}

/// Returns the body of the response, or how far a failed request came.
async fn exchange(sending: Sending) -> Result<Bytes, Phase> {
    let response = sending.await.map_err(|error| error.phase)?;
    Ok(response.into_body().collect().await.unwrap().to_bytes())
}

/// Reads one request with the payload `{}` from the wire.
async fn read_request(stream: &mut TcpStream) -> String {
    let mut request = Vec::new();
    while !request.ends_with(b"\r\n\r\n{}") {
        assert_ne!(stream.read_buf(&mut request).await.unwrap(), 0, "the request ends early");
    }
    String::from_utf8(request).unwrap()
}
