//! Calls that end before their response over HTTP/2, whose streams the client resets.

use std::convert::Infallible;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::server::conn::http2;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use presized_lambda_invoke::{Client, Credentials, HttpVersion};
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

/// By default h2 counts the frames of streams that it has reset and forgotten, and ends the connection
/// after 1,024 of them.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn other_calls_on_the_connection_succeed_while_a_thousand_end_early() {
    for early in [Early::OverLimit, Early::TimedOut, Early::Dropped, Early::StreamDropped] {
        let (address, connections) = serve().await;
        let client = Client::builder()
            .region("us-east-1")
            .endpoint(format!("http://{address}"))
            .credentials(Credentials::new("AKIDEXAMPLE", "not-a-real-secret", None, None, "test"))
            .http_version(HttpVersion::Http2)
            .timeout(Duration::from_secs(60))
            .build()
            .unwrap();
        assert_eq!(client.invoke("small").send().await.unwrap().payload, "1");
        for wave in 0..WAVES {
            let others: JoinSet<_> = (0..50).map(|_| client.invoke("slow").send()).collect();
            let ended: JoinSet<_> =
                (0..1000).map(|number| early.end(client.clone(), number)).collect();
            for other in others.join_all().await {
                assert_eq!(other.unwrap().payload, "1", "{early:?}, wave {wave}");
            }
            assert!(ended.join_all().await.into_iter().all(|ended| ended), "{early:?}");
        }
        assert_eq!(client.invoke("small").send().await.unwrap().payload, "1");
        assert_eq!(connections.load(Ordering::SeqCst), 1, "{early:?}");
    }
}

/// The way in which a call ends early.
#[derive(Clone, Copy, Debug)]
enum Early {
    OverLimit,
    TimedOut,
    Dropped,
    StreamDropped,
}

impl Early {
    /// Makes a call that ends early, and returns whether it ended for this reason.
    async fn end(self, client: Client, number: u64) -> bool {
        // Around the time of the response, so that it is on its way.
        let soon = Duration::from_millis(LATE) + Duration::from_micros(number * 50);
        match self {
            Self::OverLimit => {
                let response = client.invoke("large").limit(10).send().await;
                response.is_err_and(|error| error.is_too_large())
            }
            Self::TimedOut => {
                let response = client.invoke("late").timeout(soon).send().await;
                // The response may have been in time.
                response.map_or_else(|error| error.is_timeout(), |_| true)
            }
            Self::Dropped => {
                let response = timeout(soon, client.invoke("late").send()).await;
                response.is_err() || response.is_ok_and(|response| response.is_ok())
            }
            Self::StreamDropped => client.invoke_streaming("large").send().await.is_ok(),
        }
    }
}

/// Starts a server, and returns its address and the number of its connections.
async fn serve() -> (SocketAddr, Arc<AtomicUsize>) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    let connections = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&connections);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            counted.fetch_add(1, Ordering::SeqCst);
            tokio::spawn(
                http2::Builder::new(TokioExecutor::new())
                    .max_concurrent_streams(10_000)
                    // The client is tested, not the protection of the server.
                    .max_pending_accept_reset_streams(100_000)
                    .max_local_error_reset_streams(None)
                    .serve_connection(TokioIo::new(stream), service_fn(respond)),
            );
        }
    });
    (address, connections)
}

async fn respond(request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    let path = request.uri().path().to_owned();
    // An error means that the client has reset the stream.
    let _ = request.into_body().collect().await;
    let large = || Bytes::from_static(&[b'x'; 1 << 20]);
    let content = match path.split('/').nth(3) {
        Some("large") => large(),
        Some("late") => {
            sleep(Duration::from_millis(LATE)).await;
            large()
        }
        Some("slow") => {
            sleep(Duration::from_millis(SLOW)).await;
            "1".into()
        }
        _ => "1".into(),
    };
    let mut response = Response::new(Full::from(content));
    if path.ends_with("/response-streaming-invocations") {
        let event_stream = "application/vnd.amazon.eventstream".parse().unwrap();
        response.headers_mut().insert("content-type", event_stream);
    }
    Ok(response)
}

const WAVES: usize = 2;

/// The time of a response that comes when its call has ended, in milliseconds.
const LATE: u64 = 100;

/// The time of a response that comes while other calls end early, in milliseconds.
const SLOW: u64 = 500;
