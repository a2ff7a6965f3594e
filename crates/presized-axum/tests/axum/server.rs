//! axum servers, and requests as raw bytes.

use std::net::SocketAddr;
use std::time::Duration;

use axum::Router;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, DuplexStream, duplex};
use tokio::net::TcpListener;
use tokio::time::timeout;

/// No test takes this long unless it hangs.
pub(crate) const DEADLINE: Duration = Duration::from_secs(120);

/// Serves `app` with `axum::serve`, over HTTP/1.1 and HTTP/2, until the runtime of the test ends.
pub(crate) async fn serve(app: Router) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, app).await });
    address
}

/// Serves `app` on one connection in memory, as `axum::serve` does on a socket.
pub(crate) fn connect(app: Router, buffer: usize) -> DuplexStream {
    let (client, server) = duplex(buffer);
    tokio::spawn(async move {
        let service = TowerToHyperService::new(app);
        // An error is the end of the connection, which the client sees.
        let _ = auto::Builder::new(TokioExecutor::new())
            .serve_connection(TokioIo::new(server), service)
            .await;
    });
    client
}

/// The head of an upload with these header fields.
pub(crate) fn head(fields: &str) -> String {
    format!("PUT /upload HTTP/1.1\r\nHost: a\r\n{fields}\r\n")
}

/// Reads one response with a Content-Length, and returns its head and its content.
pub(crate) async fn read_response(stream: &mut (impl AsyncRead + Unpin)) -> (String, String) {
    timeout(DEADLINE, async {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(stream.read_u8().await.unwrap());
        }
        let head = String::from_utf8(head).unwrap();
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
        let mut content = vec![0; length.map_or(0, |length| length.parse().unwrap())];
        stream.read_exact(&mut content).await.unwrap();
        (head, String::from_utf8(content).unwrap())
    })
    .await
    .expect("a response before the deadline")
}

/// Sends a whole request and reads its response.
pub(crate) async fn exchange(
    stream: &mut (impl AsyncRead + AsyncWrite + Unpin),
    request: impl AsRef<[u8]>,
) -> (String, String) {
    timeout(DEADLINE, stream.write_all(request.as_ref())).await.unwrap().unwrap();
    read_response(stream).await
}
