//! A server of HTTP on a socket.

use std::convert::Infallible;
use std::time::Duration;

use http::{Request, Response};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use tokio::time::sleep;

use super::body::Body;

/// Serves HTTP/1.1, and HTTP/2 to whoever begins with it, for as long as it is polled. To drop
/// it closes all connections.
pub(super) async fn serve<R, F>(listener: TcpListener, respond: R)
where
    R: Fn(Request<Incoming>) -> F + Clone + Send + Sync + 'static,
    F: Future<Output = Response<Body>> + Send + 'static,
{
    let mut server = auto::Builder::new(TokioExecutor::new());
    server.http1().max_buf_size(HTTP1_BUFFER);
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    // It is answered as well without, only later.
                    let _ = stream.set_nodelay(true);
                    let respond = respond.clone();
                    let server = server.clone();
                    connections.spawn(async move {
                        let service = service_fn(move |request| {
                            let response = respond(request);
                            async { Ok::<_, Infallible>(response.await) }
                        });
                        // What is wrong with a connection is told to its other end.
                        let _ = server.serve_connection(TokioIo::new(stream), service).await;
                    });
                }
                // There are no descriptors left, or this connection is gone already.
                Err(_) => sleep(ACCEPT_AGAIN).await,
            },
            Some(_) = connections.join_next() => {}
        }
    }
}

/// As the clients of this crate have it: blocks above 128 KiB are mapped anew, and each of
/// their pages faults, for every body.
const HTTP1_BUFFER: usize = 120 * 1024;

const ACCEPT_AGAIN: Duration = Duration::from_millis(10);
