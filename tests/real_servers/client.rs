//! A hyper connection of HTTP/1.1 or HTTP/2.

use std::future::Future;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::header::{AsHeaderName, HOST};
use http::{Method, Request, Response};
use http_body::{Body, Frame, SizeHint};
use http_body_util::Empty;
use hyper::body::Incoming;
use hyper::client::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::net::TcpStream;
use tokio::time::timeout;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Version {
    Http1,
    /// HTTP/2 with prior knowledge, without TLS.
    Http2,
}

pub(crate) const VERSIONS: [Version; 2] = [Version::Http1, Version::Http2];

pub(crate) struct Connection {
    address: SocketAddr,
    sender: Sender,
}

enum Sender {
    Http1(http1::SendRequest<Empty<Bytes>>),
    Http2(http2::SendRequest<Empty<Bytes>>),
}

impl Connection {
    pub(crate) async fn open(address: SocketAddr, version: Version) -> Self {
        let stream = TokioIo::new(TcpStream::connect(address).await.unwrap());
        // An error of the connection shows in the response that is read from it.
        let sender = match version {
            Version::Http1 => {
                let (sender, connection) = http1::handshake(stream).await.unwrap();
                tokio::spawn(connection);
                Sender::Http1(sender)
            }
            Version::Http2 => {
                let (sender, connection) =
                    http2::handshake(TokioExecutor::new(), stream).await.unwrap();
                tokio::spawn(connection);
                Sender::Http2(sender)
            }
        };
        Self { address, sender }
    }

    pub(crate) async fn get(&mut self, path: &str) -> Response<Incoming> {
        self.send(&Method::GET, path, &[]).await
    }

    pub(crate) async fn send(
        &mut self,
        method: &Method,
        path: &str,
        headers: &[(&str, &str)],
    ) -> Response<Incoming> {
        let mut request = Request::builder().method(method);
        for &(name, value) in headers {
            request = request.header(name, value);
        }
        match &mut self.sender {
            Sender::Http1(sender) => {
                sender.ready().await.unwrap();
                let request = request.uri(path).header(HOST, self.address.to_string());
                sender.send_request(request.body(Empty::new()).unwrap()).await.unwrap()
            }
            Sender::Http2(sender) => {
                sender.ready().await.unwrap();
                let request = request.uri(format!("http://{}{path}", self.address));
                sender.send_request(request.body(Empty::new()).unwrap()).await.unwrap()
            }
        }
    }
}

/// Runs `test`, and fails if it takes more than 20 s.
pub(crate) async fn within_time<T>(test: impl Future<Output = T>) -> T {
    timeout(Duration::from_secs(20), test).await.expect("the test took more than 20 s")
}

/// Returns the value of a header field. The field must not be repeated.
pub(crate) fn field<B>(response: &Response<B>, name: impl AsHeaderName) -> Option<String> {
    let mut values = response.headers().get_all(name).iter();
    let value = values.next().map(|value| value.to_str().unwrap().to_owned());
    assert_eq!(values.next(), None);
    value
}

/// A body that panics if it is polled.
pub(crate) struct Unpolled<B>(pub(crate) B);

impl<B: Body> Body for Unpolled<B> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<B::Data>, B::Error>>> {
        panic!("the body was polled");
    }

    fn is_end_stream(&self) -> bool {
        self.0.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.0.size_hint()
    }
}
