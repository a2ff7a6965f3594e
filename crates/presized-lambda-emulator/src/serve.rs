//! The HTTP server of one listener.

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

use crate::connection::Connection;
use crate::response_body::ResponseBody;

/// Serves HTTP/1.1, and HTTP/2 with prior knowledge, until it is dropped. Dropping it closes all
/// connections.
///
/// The head of an HTTP/1.1 request has at most `head_max` bytes. `connect` returns the service of a
/// new connection.
pub(crate) async fn serve<C, R, F>(listener: TcpListener, head_max: usize, connect: C)
where
    C: Fn() -> R,
    R: Fn(Request<Incoming>) -> F + Send + 'static,
    F: Future<Output = Response<ResponseBody>> + Send + 'static,
{
    let mut server = auto::Builder::new(TokioExecutor::new());
    server.http1().max_buf_size(head_max);
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    // If it fails, responses are only slower.
                    let _ = stream.set_nodelay(true);
                    let respond = connect();
                    let server = server.clone();
                    connections.spawn(async move {
                        let service = service_fn(move |request| {
                            let response = respond(request);
                            async { Ok::<_, Infallible>(response.await) }
                        });
                        // The client sees the error of its connection.
                        let _ = server.serve_connection(TokioIo::new(Connection::new(stream)), service).await;
                    });
                }
                // The process has no file descriptors left, or the client has disconnected.
                Err(_) => sleep(ACCEPT_AGAIN).await,
            },
            Some(_) = connections.join_next() => {}
        }
    }
}

const ACCEPT_AGAIN: Duration = Duration::from_millis(10);
