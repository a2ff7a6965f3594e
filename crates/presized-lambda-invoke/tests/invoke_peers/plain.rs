//! Plain requests to a server, apart from its Invoke API.

use std::net::SocketAddr;

use bytes::Bytes;
use http::header::HOST;
use http::request::Builder;
use http::{HeaderValue, Response};
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

/// Sends a request over a new connection. The URI of the request is a path.
pub(crate) async fn send(
    address: SocketAddr,
    request: Builder,
    body: impl Into<Bytes>,
) -> hyper::Result<Response<Bytes>> {
    let stream = TcpStream::connect(address).await.unwrap();
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    tokio::spawn(connection);
    let host = HeaderValue::from_str(&address.to_string()).unwrap();
    let request = request.header(HOST, host).body(Full::new(body.into())).unwrap();
    let (head, body) = sender.send_request(request).await?.into_parts();
    Ok(Response::from_parts(head, body.collect().await?.to_bytes()))
}
