//! The HTTP server of one listener.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use http::{Request, Response, Version};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use tokio::time::sleep;

use crate::connection::{Connection, ConnectionEnd};
use crate::cut_body::CutBody;
use crate::response_body::{Cut, ResponseBody};

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
                        let end = Arc::new(ConnectionEnd::default());
                        let stream = Connection::new(stream, Arc::clone(&end));
                        let service = service_fn(move |request| {
                            // Only a stream of HTTP/2 is cut.
                            let is_whole = request.version() < Version::HTTP_2;
                            let end = is_whole.then(|| Arc::clone(&end));
                            let response = respond(request);
                            async { cut(response.await, end) }
                        });
                        // The client sees the error of its connection.
                        let _ = server.serve_connection(TokioIo::new(stream), service).await;
                    });
                }
                // The process has no file descriptors left, or the client has disconnected.
                Err(_) => sleep(ACCEPT_AGAIN).await,
            },
            Some(_) = connections.join_next() => {}
        }
    }
}

/// Cuts a response that has a [`Cut`]. The error ends the connection.
fn cut(
    mut response: Response<ResponseBody>,
    connection: Option<Arc<ConnectionEnd>>,
) -> io::Result<Response<ResponseBody>> {
    let Some(cut) = response.extensions_mut().remove::<Cut>() else { return Ok(response) };
    if let Some(connection) = connection.as_ref().filter(|_| cut.resets) {
        connection.reset();
    }
    let after = cut.after.ok_or_else(|| io::Error::other("cut by a fault"))?;
    Ok(response.map(|body| ResponseBody::Cut(Box::new(CutBody::new(body, after, connection)))))
}

const ACCEPT_AGAIN: Duration = Duration::from_millis(10);
