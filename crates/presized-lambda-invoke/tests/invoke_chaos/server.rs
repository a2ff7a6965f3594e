//! A server of the Invoke API on hyper, which counts invocations.

use std::convert::Infallible;
use std::net::{Ipv4Addr, SocketAddr};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

use aws_smithy_eventstream::frame::write_message_to;
use aws_smithy_types::event_stream::{Header, HeaderValue, Message};
use bytes::Bytes;
use futures_util::stream;
use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt, Either, Full, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use presized_lambda_invoke::HttpVersion;
use presized_support::background::Background;
use presized_support::client::pem;
use presized_support::server::certify;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio::time::{sleep, timeout};

use crate::call::{CHUNK_MIN, Call, Scenario, log_uniform, rng};
use crate::open::Open;

/// A server. Dropping it ends its connections.
#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    /// In PEM, if the server speaks TLS.
    pub(crate) certificate: Option<String>,
    pub(crate) record: Arc<Record>,
    _background: Background,
}

/// The requests that reached the server.
#[derive(Debug)]
pub(crate) struct Record {
    seed: u64,
    /// The counts of each call.
    pub(crate) calls: Vec<Counts>,
    /// The complete requests that no call sent.
    pub(crate) garbled: AtomicU32,
    pub(crate) connections: AtomicU32,
    pub(crate) open: Arc<AtomicUsize>,
}

/// The counts of one call.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    /// The complete requests.
    pub(crate) requests: AtomicU32,
    /// The requests that ran the function.
    pub(crate) runs: AtomicU32,
}

impl Server {
    pub(crate) fn start(seed: u64, version: HttpVersion, tls: bool, calls: u32) -> Self {
        let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        listener.set_nonblocking(true).unwrap();
        let address = listener.local_addr().unwrap();
        let record = Arc::new(Record {
            seed,
            calls: (0..calls).map(|_| Counts::default()).collect(),
            garbled: AtomicU32::new(0),
            connections: AtomicU32::new(0),
            open: Arc::default(),
        });
        let kept = Arc::clone(&record);
        let protocol = if version == HttpVersion::Http2 { "h2" } else { "http/1.1" };
        let tls = tls.then(|| certify(&[protocol]).unwrap());
        let (certificate, acceptor) = tls.unzip();
        let serving = async move {
            let listener = TcpListener::from_std(listener).unwrap();
            while let Ok((stream, _)) = listener.accept().await {
                let number = record.connections.fetch_add(1, Relaxed);
                let (acceptor, record) = (acceptor.clone(), record.clone());
                tokio::spawn(async move {
                    let _open = Open::new(&record.open);
                    // It fails only if the connection is already closed.
                    let _ = stream.set_nodelay(true);
                    match acceptor {
                        None => serve(stream, version, number, &record).await,
                        Some(acceptor) => {
                            // An error means that the proxy has disturbed the handshake.
                            if let Ok(stream) = acceptor.accept(stream).await {
                                serve(stream, version, number, &record).await;
                            }
                        }
                    }
                });
            }
        };
        Self {
            address,
            certificate: certificate.map(|certificate| pem(&certificate)),
            record: kept,
            _background: Background::start("server", serving),
        }
    }
}

/// Serves one connection, and shuts it down gracefully after a while.
async fn serve(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    version: HttpVersion,
    number: u32,
    record: &Arc<Record>,
) {
    let lifetime = Duration::from_millis(rng(record.seed, [2, number]).u64(20..500));
    let stream = TokioIo::new(stream);
    let service = service_fn(|request| {
        let record = Arc::clone(record);
        async move { respond(request, &record).await }
    });
    if version == HttpVersion::Http2 {
        let mut builder = http2::Builder::new(TokioExecutor::new());
        builder.timer(TokioTimer::new()).max_concurrent_streams(STREAMS);
        let connection = builder.serve_connection(stream, service);
        serve_for(lifetime, connection, |connection| connection.graceful_shutdown()).await;
    } else {
        let mut builder = http1::Builder::new();
        builder.timer(TokioTimer::new());
        let connection = builder.serve_connection(stream, service);
        serve_for(lifetime, connection, |connection| connection.graceful_shutdown()).await;
    }
}

/// The error of a connection is ignored, because the proxy causes it and the client is tested.
async fn serve_for<C: Future>(lifetime: Duration, connection: C, shut_down: fn(Pin<&mut C>)) {
    let mut connection = pin!(connection);
    if timeout(lifetime, connection.as_mut()).await.is_err() {
        shut_down(connection.as_mut());
        connection.await;
    }
}

type Frames = stream::Iter<std::vec::IntoIter<Result<Frame<Bytes>, Infallible>>>;
type Body = Either<Full<Bytes>, StreamBody<Frames>>;

async fn respond(
    request: Request<Incoming>,
    record: &Record,
) -> Result<Response<Body>, hyper::Error> {
    let streamed = request.uri().path().ends_with("/response-streaming-invocations");
    let payload = request.into_body().collect().await?.to_bytes();
    let call = Call::of_payload(record.seed, &payload);
    let Some(call) = call.filter(|call| call.scenario.is_streamed() == streamed) else {
        record.garbled.fetch_add(1, Relaxed);
        return Ok(response(StatusCode::BAD_REQUEST, "?", &[], Full::default()));
    };
    let counts = &record.calls[call.number as usize];
    let before = counts.requests.fetch_add(1, Relaxed);
    let mut rng = rng(record.seed, [3 + before, call.number]);
    let id = call.number.to_string();
    if let Some((status, code)) = refusal(rng.u32(..100)) {
        let headers = [("x-amzn-errortype", code), ("retry-after", "0")];
        return Ok(response(status, &id, &headers, Full::from(r#"{"message":"later"}"#)));
    }
    counts.runs.fetch_add(call.scenario.runs(), Relaxed);
    if rng.u32(..10) == 0 {
        sleep(Duration::from_micros(log_uniform(&mut rng, 30_000) as u64)).await;
    }
    let content = Full::from(call.content());
    Ok(match call.scenario {
        Scenario::Sized => response(StatusCode::OK, &id, &[], content),
        Scenario::FunctionError => {
            response(StatusCode::OK, &id, &[("x-amz-function-error", "Unhandled")], content)
        }
        Scenario::Queued => response(StatusCode::ACCEPTED, &id, &[], Full::default()),
        Scenario::DryRun => response(StatusCode::NO_CONTENT, &id, &[], Full::default()),
        Scenario::GatewayTimeout => {
            response(StatusCode::GATEWAY_TIMEOUT, &id, &[], Full::from("<html>too long</html>"))
        }
        Scenario::NotFound => {
            let headers = [("x-amzn-errortype", "ResourceNotFoundException")];
            response(StatusCode::NOT_FOUND, &id, &headers, Full::from("{}"))
        }
        Scenario::Chunked => streaming(&id, chunks(&call)),
        Scenario::Streamed | Scenario::StreamedError | Scenario::StreamedException => {
            let events = chunks(&call).map(|chunk| event(&[EVENT, CHUNK], chunk));
            let last = match call.scenario {
                Scenario::StreamedError => event(&[EVENT, COMPLETE], FAILED),
                Scenario::StreamedException => event(&[EXCEPTION, SERVICE_EXCEPTION], "{}"),
                _ => event(&[EVENT, COMPLETE], "{}"),
            };
            streaming(&id, events.chain([last]))
        }
    })
}

/// Returns a refusal before the function runs, for some requests.
fn refusal(random: u32) -> Option<(StatusCode, &'static str)> {
    match random {
        0..8 => Some((StatusCode::TOO_MANY_REQUESTS, "TooManyRequestsException")),
        8..11 => Some((StatusCode::SERVICE_UNAVAILABLE, "ServiceUnavailableException")),
        11..13 => Some((StatusCode::INTERNAL_SERVER_ERROR, "ServiceException")),
        _ => None,
    }
}

fn response(
    status: StatusCode,
    id: &str,
    headers: &[(&str, &str)],
    body: Full<Bytes>,
) -> Response<Body> {
    let mut response = Response::builder().status(status).header("x-amzn-requestid", id);
    for &(name, value) in headers {
        response = response.header(name, value);
    }
    response.body(Either::Left(body)).unwrap()
}

fn streaming(id: &str, data: impl Iterator<Item = Bytes>) -> Response<Body> {
    let frames: Vec<_> = data.map(|data| Ok(Frame::data(data))).collect();
    let body = Either::Right(StreamBody::new(stream::iter(frames)));
    Response::builder().header("x-amzn-requestid", id).body(body).unwrap()
}

/// Returns the response to `call` in pieces.
fn chunks(call: &Call) -> impl Iterator<Item = Bytes> + use<> {
    let mut rest = call.content();
    let mut rng = rng(u64::from(call.number), [0, 0]);
    std::iter::from_fn(move || {
        let length = rng.usize(CHUNK_MIN..16 << 10);
        let length = if rest.len() < length + CHUNK_MIN { rest.len() } else { length };
        let (chunk, after) = rest.split_at(length);
        rest = after;
        (!chunk.is_empty()).then_some(Bytes::from_static(chunk))
    })
}

fn event(headers: &[(&'static str, &'static str)], payload: impl Into<Bytes>) -> Bytes {
    let header = |&(name, value): &(&'static str, &'static str)| {
        Header::new(name, HeaderValue::String(value.into()))
    };
    let message = Message::new_from_parts(headers.iter().map(header).collect(), payload);
    let mut frame = Vec::new();
    write_message_to(&message, &mut frame).unwrap();
    frame.into()
}

const EVENT: (&str, &str) = (":message-type", "event");

const EXCEPTION: (&str, &str) = (":message-type", "exception");

const CHUNK: (&str, &str) = (":event-type", "PayloadChunk");

const COMPLETE: (&str, &str) = (":event-type", "InvokeComplete");

const SERVICE_EXCEPTION: (&str, &str) = (":exception-type", "ServiceException");

const FAILED: &str = r#"{"ErrorCode":"Runtime.Broken"}"#;

/// Fewer than the calls in flight, so that the server refuses some streams.
const STREAMS: u32 = 6;
