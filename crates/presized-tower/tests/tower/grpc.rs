//! Tests with tonic: the `Channel` of a client inside of the layer, and a tonic server.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::{Buf, BufMut, Bytes};
use futures_util::Stream;
use http_body::Frame;
use http_body_util::{BodyExt, Empty, StreamBody};
use hyper::body::Incoming;
use hyper::server::conn::http2;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use presized::CollectError;
use presized_tower::{Delivery, PresizedLayer, PresizedService, ResponseLimit};
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tonic::body::Body;
use tonic::client;
use tonic::codec::{Codec, DecodeBuf, Decoder, EncodeBuf, Encoder};
use tonic::transport::{Channel, Endpoint};
use tonic::{Code, Request, Response, Status};
use tower::{ServiceBuilder, ServiceExt};

use crate::read_error;

/// A codec whose messages are plain bytes.
#[derive(Clone, Copy, Default)]
struct BytesCodec;

impl Codec for BytesCodec {
    type Encode = Bytes;
    type Decode = Bytes;
    type Encoder = Self;
    type Decoder = Self;

    fn encoder(&mut self) -> Self {
        *self
    }

    fn decoder(&mut self) -> Self {
        *self
    }
}

impl Encoder for BytesCodec {
    type Item = Bytes;
    type Error = Status;

    fn encode(&mut self, item: Bytes, buffer: &mut EncodeBuf<'_>) -> Result<(), Status> {
        buffer.put(item);
        Ok(())
    }
}

impl Decoder for BytesCodec {
    type Item = Bytes;
    type Error = Status;

    fn decode(&mut self, buffer: &mut DecodeBuf<'_>) -> Result<Option<Bytes>, Status> {
        Ok(Some(buffer.copy_to_bytes(buffer.remaining())))
    }
}

/// The receiver of a tokio channel as a stream of messages.
struct Messages(mpsc::UnboundedReceiver<Result<Bytes, Status>>);

impl Stream for Messages {
    type Item = Result<Bytes, Status>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.poll_recv(cx)
    }
}

async fn echo(request: Request<Bytes>) -> Result<Response<Bytes>, Status> {
    match request.into_inner() {
        message if message == "fail" => Err(Status::data_loss("lost")),
        message => Ok(Response::new(message)),
    }
}

/// Responds with one message for each word, and then an error.
async fn words(request: Request<Bytes>) -> Result<Response<Messages>, Status> {
    let (sender, receiver) = mpsc::unbounded_channel();
    for word in request.into_inner().split(|&byte| byte == b' ') {
        let _ = sender.send(Ok(Bytes::copy_from_slice(word)));
    }
    let _ = sender.send(Err(Status::data_loss("no more words")));
    Ok(Response::new(Messages(receiver)))
}

/// Responds with one message, and does not end.
async fn events(_: Request<Bytes>) -> Result<Response<Messages>, Status> {
    let (sender, receiver) = mpsc::unbounded_channel();
    let _ = sender.send(Ok(Bytes::from("first")));
    tokio::spawn(async move { sender.closed().await });
    Ok(Response::new(Messages(receiver)))
}

/// Returns a response with the beginning of a message and a status as the error of its body.
fn broken() -> http::Response<Body> {
    let data = Frame::data(Bytes::from_static(b"\0\0\0\0\x09only"));
    let frames = [Ok(data), Err(Status::unavailable("broken"))];
    let body = StreamBody::new(futures_util::stream::iter(frames));
    let head = http::Response::builder().header("content-type", "application/grpc");
    head.body(Body::new(body)).unwrap()
}

async fn serve() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let respond = |request: http::Request<Incoming>| async move {
        let mut grpc = tonic::server::Grpc::new(BytesCodec);
        Ok::<_, Infallible>(match request.uri().path() {
            "/echo" => grpc.unary(tower::service_fn(echo), request).await,
            "/words" => grpc.server_streaming(tower::service_fn(words), request).await,
            "/events" => grpc.server_streaming(tower::service_fn(events), request).await,
            path => unreachable!("{path}"),
        })
    };
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let connection = http2::Builder::new(TokioExecutor::new())
                .serve_connection(TokioIo::new(stream), service_fn(respond));
            tokio::spawn(connection);
        }
    });
    address
}

async fn channel() -> Channel {
    Endpoint::from_shared(format!("http://{}", serve().await)).unwrap().connect_lazy()
}

async fn call<S>(service: S, path: &'static str, message: &'static str) -> Result<Bytes, Status>
where
    S: client::GrpcService<Body, ResponseBody: http_body::Body<Data = Bytes> + Send + 'static>,
    <S::ResponseBody as http_body::Body>::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let mut grpc = client::Grpc::new(service);
    grpc.ready().await.map_err(|error| Status::from_error(error.into()))?;
    let request = Request::new(Bytes::from(message));
    let path = http::uri::PathAndQuery::from_static(path);
    grpc.unary(request, path, BytesCodec).await.map(Response::into_inner)
}

fn presized(layer: PresizedLayer, channel: Channel) -> PresizedService<Channel> {
    ServiceBuilder::new().layer(layer).service(channel)
}

#[tokio::test]
async fn unary_call_returns_its_message_or_its_status() {
    let client = presized(PresizedLayer::new(1024), channel().await);
    assert_eq!(call(client.clone(), "/echo", "hello").await.unwrap(), "hello");
    let status = call(client, "/echo", "fail").await.unwrap_err();
    assert_eq!((status.code(), status.message()), (Code::DataLoss, "lost"));
}

#[tokio::test]
async fn grpc_trailers_follow_the_single_data_frame() {
    let client = presized(PresizedLayer::new(1024), channel().await);
    let message = http_body_util::Full::<Bytes>::from("\0\0\0\0\x05hello");
    let request = http::Request::post("http://host/echo").body(Body::new(message)).unwrap();
    let mut body = client.oneshot(request).await.unwrap().into_body();
    let data = body.frame().await.unwrap().unwrap().into_data().unwrap();
    assert_eq!(data, "\0\0\0\0\x05hello");
    let trailers = body.frame().await.unwrap().unwrap().into_trailers().unwrap();
    assert_eq!(trailers["grpc-status"], "0");
    assert!(body.frame().await.is_none());
}

#[tokio::test]
async fn status_in_trailers_follows_all_messages() {
    let mut grpc = client::Grpc::new(presized(PresizedLayer::new(1024), channel().await));
    grpc.ready().await.unwrap();
    let path = http::uri::PathAndQuery::from_static("/words");
    let request = Request::new(Bytes::from("one two"));
    let mut stream = grpc.server_streaming(request, path, BytesCodec).await.unwrap().into_inner();
    assert_eq!(stream.message().await.unwrap().unwrap(), "one");
    assert_eq!(stream.message().await.unwrap().unwrap(), "two");
    assert_eq!(stream.message().await.unwrap_err().code(), Code::DataLoss);
}

#[tokio::test]
async fn endless_stream_opts_out_by_request_extensions() {
    let mut grpc = client::Grpc::new(presized(PresizedLayer::new(0), channel().await));
    grpc.ready().await.unwrap();
    let mut request = Request::new(Bytes::new());
    request.extensions_mut().insert(Delivery::Streamed);
    request.extensions_mut().insert(ResponseLimit::NONE);
    let path = http::uri::PathAndQuery::from_static("/events");
    let mut stream = grpc.server_streaming(request, path, BytesCodec).await.unwrap().into_inner();
    assert_eq!(stream.message().await.unwrap().unwrap(), "first");
}

#[tokio::test]
async fn response_over_limit_is_a_status_with_collect_error_as_source() {
    // The limit also counts the five bytes before the message.
    let channel = channel().await;
    let client = presized(PresizedLayer::new(10), channel.clone());
    assert_eq!(call(client, "/echo", "hello").await.unwrap(), "hello");
    for delivery in [Delivery::Presized, Delivery::Streamed] {
        let client = presized(PresizedLayer::new(9).delivery(delivery), channel.clone());
        let status = call(client, "/echo", "hello").await.unwrap_err();
        assert_eq!(status.code(), Code::Unknown);
        assert!(
            matches!(read_error(&status), CollectError::TooLarge { limit: 9, .. }),
            "{status:?}"
        );
    }
}

#[tokio::test]
async fn tonic_finds_status_of_failed_body() {
    let service = || tower::service_fn(async |_| Ok::<_, Infallible>(broken()));
    let alone = call(service(), "/broken", "").await.unwrap_err();
    let service = ServiceBuilder::new().layer(PresizedLayer::new(1024)).service(service());
    let layered = call(service, "/broken", "").await.unwrap_err();
    for status in [&alone, &layered] {
        assert_eq!((status.code(), status.message()), (Code::Unavailable, "broken"));
    }
    assert!(matches!(read_error(&layered), CollectError::Body { received: 9, .. }), "{layered:?}");
}

/// The status tells whether the call succeeded. It must not get lost because the message is
/// complete.
#[tokio::test]
async fn tonic_finds_status_after_last_declared_byte() {
    let respond = async |_: http::Request<Body>| {
        let data = Frame::data(Bytes::from_static(b"\0\0\0\0\x05hello"));
        let frames = [Ok(data), Err(Status::unavailable("broken"))];
        let body = StreamBody::new(futures_util::stream::iter(frames));
        let head = http::Response::builder()
            .header("content-type", "application/grpc")
            .header("content-length", "10");
        Ok::<_, Infallible>(head.body(Body::new(body)).unwrap())
    };
    let alone = call(tower::service_fn(respond), "/broken", "").await.unwrap_err();
    let service = ServiceBuilder::new().layer(PresizedLayer::new(1024));
    let layered = call(service.service(tower::service_fn(respond)), "/broken", "").await;
    for status in [alone, layered.unwrap_err()] {
        assert_eq!((status.code(), status.message()), (Code::Unavailable, "broken"));
    }
}

#[test]
fn response_bodies_are_send() {
    fn is_send<T: Send>() {}
    is_send::<presized_tower::PresizedBody<Body>>();
    is_send::<presized_tower::PresizedBody<Empty<Bytes>>>();
}
