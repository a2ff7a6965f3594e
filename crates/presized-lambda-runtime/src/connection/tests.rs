use std::io::IoSlice;
use std::ops::Range;
use std::sync::{Arc, Mutex};

use http::Method;
use http::header::HOST;
use http_body_util::BodyExt;
use hyper::rt::ReadBufCursor;
use presized_support::scripted::{Reply, Scripted};

use super::*;

/// A socket that records the addresses of the bytes that are written to it.
#[derive(Debug)]
struct Recording {
    socket: TokioIo<TcpStream>,
    written: Arc<Mutex<Vec<Range<usize>>>>,
}

impl Recording {
    fn note(&self, slices: &[IoSlice<'_>], mut written: usize) {
        for slice in slices {
            let len = slice.len().min(written);
            written -= len;
            let start = slice.as_ptr().addr();
            if len > 0 {
                self.written.lock().unwrap().push(start..start + len);
            }
        }
    }
}

impl Read for Recording {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_read(cx, buffer)
    }
}

impl Write for Recording {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        data: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.poll_write_vectored(cx, &[IoSlice::new(data)])
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.socket).poll_write_vectored(cx, slices);
        if let Poll::Ready(Ok(written)) = polled {
            self.note(slices, written);
        }
        polled
    }

    fn is_write_vectored(&self) -> bool {
        self.socket.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_shutdown(cx)
    }
}

fn post(body: Outgoing) -> Request<Outgoing> {
    let mut request = Request::new(body);
    *request.method_mut() = Method::POST;
    request.headers_mut().insert(HOST, "test".parse().unwrap());
    request
}

async fn connect(server: &Scripted) -> TokioIo<TcpStream> {
    TokioIo::new(TcpStream::connect(server.address()).await.unwrap())
}

/// Each byte of a response must be written from its address in the response, so that only the
/// kernel copies it.
#[tokio::test]
async fn response_is_written_from_its_own_memory() {
    for len in [1, 1 << 10, 64 << 10, 6 << 20] {
        let server = Scripted::in_turn([Reply::response("202 Accepted", &[], "")]);
        let written = Arc::new(Mutex::new(Vec::new()));
        let socket = connect(&server).await;
        let connection =
            Connection::new(Recording { socket, written: Arc::clone(&written) }).await.unwrap();

        let payload: Bytes = (0..len).map(|i| i as u8).collect();
        let start = payload.as_ptr().addr();
        let payload_range = start..start + len;
        let request = post(Either::Left(Full::new(payload.clone())));
        let (head, _exchange) = connection.send(request).await.unwrap();
        assert_eq!(head.status, 202);
        assert_eq!(server.requests()[0].body, payload);

        let written = written.lock().unwrap();
        let (of_payload, of_head): (Vec<_>, Vec<_>) =
            written.iter().cloned().partition(|range| payload_range.contains(&range.start));
        let mut next = payload_range.start;
        for range in &of_payload {
            assert_eq!(range.start, next, "{len} bytes");
            next = range.end;
        }
        assert_eq!(next, payload_range.end, "{len} bytes");
        let head_len: usize = of_head.iter().map(Range::len).sum();
        assert_eq!(head_len, server.requests()[0].head.len() + "\r\n\r\n".len(), "{len} bytes");
    }
}

#[tokio::test]
async fn connection_carries_several_requests_in_turn() {
    let response = Reply::response("200 OK", &[], "body");
    let server = Scripted::in_turn([response.clone(), response]);
    let mut connection = Connection::new(connect(&server).await).await.unwrap();
    for _ in 0..2 {
        let request = post(Either::Left(Full::from("a")));
        let (_, mut exchange) = connection.send(request).await.unwrap();
        assert_eq!((&mut exchange).collect().await.unwrap().to_bytes(), "body");
        exchange.sent().await;
        connection = exchange.into_connection();
    }
    let connections: Vec<_> = server.requests().iter().map(|request| request.connection).collect();
    assert_eq!(connections, [0, 0]);
}

#[tokio::test]
async fn connection_is_closed_when_its_exchange_is_dropped() {
    let server = Scripted::start(|_, _| Reply::Hang(Bytes::new()));
    let connection = Connection::new(connect(&server).await).await.unwrap();
    {
        let mut sending = pin!(connection.send(post(Either::Left(Full::from("a")))));
        while server.requests().is_empty() {
            tokio::select! {
                biased;
                _ = &mut sending => panic!("the server sends no response"),
                () = tokio::task::yield_now() => {}
            }
        }
    }
    while server.closed() == 0 {
        tokio::task::yield_now().await;
    }
}
