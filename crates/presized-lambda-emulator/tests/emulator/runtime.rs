//! A runtime with one connection to the Runtime API.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::header::HOST;
use http::{HeaderMap, Method, Request};
use http_body::{Body, Frame};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use presized_lambda_emulator::Emulator;
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use tokio::time::timeout;

use super::PATIENCE;

pub(crate) type BoxError = Box<dyn std::error::Error + Send + Sync>;

pub(crate) struct TestRuntime {
    sender: http1::SendRequest<UnsyncBoxBody<Bytes, BoxError>>,
    host: String,
}

/// The response to `/next`.
#[derive(Debug)]
pub(crate) struct Event {
    pub(crate) id: String,
    pub(crate) headers: HeaderMap,
    pub(crate) payload: Bytes,
}

/// The response to any other request.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) body: String,
}

impl TestRuntime {
    pub(crate) async fn connect(emulator: &Emulator, function: &str) -> Self {
        let host = emulator.runtime_api(function).unwrap();
        let stream = TcpStream::connect(&host).await.unwrap();
        let (sender, connection) = http1::handshake(TokioIo::new(stream)).await.unwrap();
        tokio::spawn(connection);
        Self { sender, host }
    }

    /// Polls for an event, and waits for it.
    pub(crate) async fn next(&mut self) -> Event {
        self.try_next().await.unwrap()
    }

    /// Polls for an event, unless the connection breaks.
    pub(crate) async fn try_next(&mut self) -> Result<Event, BoxError> {
        let (status, headers, payload) =
            self.send(Method::GET, "invocation/next", &[], empty()).await?;
        assert_eq!(status, 200, "{payload:?}");
        let id = headers["lambda-runtime-aws-request-id"].to_str().unwrap().to_owned();
        Ok(Event { id, headers, payload })
    }

    pub(crate) async fn get(&mut self, path: &str) -> Reply {
        Reply::of(self.send(Method::GET, path, &[], empty()).await.unwrap())
    }

    pub(crate) async fn respond(&mut self, id: &str, payload: impl Into<Bytes>) -> Reply {
        self.post(&format!("invocation/{id}/response"), &[], payload).await
    }

    pub(crate) async fn fail(&mut self, id: &str, report: &'static str) -> Reply {
        self.post(&format!("invocation/{id}/error"), &[], report).await
    }

    pub(crate) async fn post(
        &mut self,
        path: &str,
        headers: &[(&str, &str)],
        payload: impl Into<Bytes>,
    ) -> Reply {
        let body = Full::new(payload.into()).map_err(|never| match never {});
        Reply::of(self.send(Method::POST, path, headers, body).await.unwrap())
    }

    /// Posts, unless the connection breaks.
    pub(crate) async fn try_post(
        &mut self,
        path: &str,
        payload: &'static str,
    ) -> Result<Reply, BoxError> {
        let body = Full::new(payload.into()).map_err(|never| match never {});
        self.send(Method::POST, path, &[], body).await.map(Reply::of)
    }

    /// Posts a streamed response with these frames.
    pub(crate) async fn stream(&mut self, id: &str, frames: Frames) -> Result<Reply, BoxError> {
        let headers = [
            ("lambda-runtime-function-response-mode", "streaming"),
            ("trailer", "lambda-runtime-function-error-type, lambda-runtime-function-error-body"),
        ];
        let path = format!("invocation/{id}/response");
        self.send(Method::POST, &path, &headers, frames).await.map(Reply::of)
    }

    /// Polls, and closes the connection without an event.
    pub(crate) async fn poll_and_go(mut self) {
        let next = self.send(Method::GET, "invocation/next", &[], empty());
        // No event is queued, so that the poll stays open.
        assert!(timeout(std::time::Duration::from_millis(100), next).await.is_err());
    }

    async fn send(
        &mut self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: impl Body<Data = Bytes, Error = BoxError> + Send + 'static,
    ) -> Result<(u16, HeaderMap, Bytes), BoxError> {
        let mut request = Request::builder()
            .method(method)
            .uri(format!("/2018-06-01/runtime/{path}"))
            .header(HOST, &self.host);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(body.boxed_unsync()).unwrap();
        within(async {
            self.sender.ready().await?;
            let (head, body) = self.sender.send_request(request).await?.into_parts();
            let body = body.collect().await?.to_bytes();
            Ok((head.status.as_u16(), head.headers, body))
        })
        .await
    }
}

impl Reply {
    fn of((status, _, body): (u16, HeaderMap, Bytes)) -> Self {
        Self { status, body: String::from_utf8(body.to_vec()).unwrap() }
    }

    /// Returns the status and the error type of a refusal.
    pub(crate) fn refusal(&self) -> (u16, String) {
        let json: serde_json::Value = serde_json::from_str(&self.body).expect(&self.body);
        assert!(json["errorMessage"].is_string(), "{json}");
        (self.status, json["errorType"].as_str().expect("no error type").to_owned())
    }
}

/// A body that a test writes frame by frame. An error closes the connection.
pub(crate) struct Frames(mpsc::Receiver<Result<Frame<Bytes>, BoxError>>);

pub(crate) struct FrameSender(mpsc::Sender<Result<Frame<Bytes>, BoxError>>);

pub(crate) fn frames() -> (FrameSender, Frames) {
    let (sender, frames) = mpsc::channel(1);
    (FrameSender(sender), Frames(frames))
}

impl FrameSender {
    pub(crate) async fn data(&self, data: impl Into<Bytes>) {
        self.0.send(Ok(Frame::data(data.into()))).await.unwrap();
    }

    /// Writes frames of this size until the body is dropped.
    pub(crate) async fn fill(&self, size: usize) {
        while self.0.send(Ok(Frame::data(vec![0; size].into()))).await.is_ok() {}
    }

    pub(crate) async fn trailers(&self, trailers: HeaderMap) {
        self.0.send(Ok(Frame::trailers(trailers))).await.unwrap();
    }

    pub(crate) async fn cut(&self) {
        self.0.send(Err("cut".into())).await.unwrap();
    }
}

impl Body for Frames {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        self.0.poll_recv(cx)
    }
}

/// Waits for a future, and panics if that takes too long.
pub(crate) async fn within<T>(future: impl Future<Output = T>) -> T {
    timeout(PATIENCE, future).await.expect("future hangs")
}

/// Lets the other tasks run once.
pub(crate) async fn pause() {
    let mut first = true;
    poll_fn(|cx| {
        cx.waker().wake_by_ref();
        if std::mem::take(&mut first) { Poll::Pending } else { Poll::Ready(()) }
    })
    .await;
}

fn empty() -> impl Body<Data = Bytes, Error = BoxError> + Send + 'static {
    Full::new(Bytes::new()).map_err(|never| match never {})
}
