//! The HTTP/1.1 server of all bodies, which runs on a thread of the first process.

use std::convert::Infallible;
use std::fmt;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::pin::Pin;
use std::str::FromStr;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::thread;

use bytes::Bytes;
use http::{Request, Response};
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;
use tokio::runtime;

use crate::Error;
use crate::content::Content;
use crate::usage::{self, Side};

/// The largest frame of a response body, in bytes.
const FRAME: usize = 16 << 10;

/// A response, as the path of a request describes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Served {
    /// The content length. A body without one is chunked.
    pub(crate) declared: Option<u64>,
    /// The number of bytes that are sent.
    pub(crate) sent: u64,
}

/// Starts the server, which runs until the process ends.
pub(crate) fn start() -> Result<SocketAddr, Error> {
    let runtime = runtime::Builder::new_current_thread().enable_io().build()?;
    let listener = runtime.block_on(TcpListener::bind((Ipv4Addr::LOCALHOST, 0)))?;
    let address = listener.local_addr()?;
    thread::spawn(move || {
        usage::pin(Side::Server);
        runtime.block_on(serve(listener))
    });
    Ok(address)
}

async fn serve(listener: TcpListener) -> io::Error {
    let content = Arc::new(Content::new());
    loop {
        let stream = match listener.accept().await {
            Ok((stream, _)) => stream,
            Err(error) => return error,
        };
        // With Nagle's algorithm, the end of a body may wait for an acknowledgement.
        let _ = stream.set_nodelay(true);
        let content = Arc::clone(&content);
        let service = service_fn(move |request| respond(request, Arc::clone(&content)));
        let connection = http1::Builder::new().serve_connection(TokioIo::new(stream), service);
        // A client that refuses a body closes the connection, which is no error here.
        tokio::spawn(async { drop(connection.await) });
    }
}

async fn respond(
    request: Request<Incoming>,
    content: Arc<Content>,
) -> Result<Response<Sending>, Error> {
    let served: Served = request.uri().path().parse()?;
    Ok(Response::new(Sending { served, at: 0, flushed: false, content }))
}

impl fmt::Display for Served {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.declared {
            Some(declared) => write!(f, "/{declared}/{}", self.sent),
            None => write!(f, "/chunked/{}", self.sent),
        }
    }
}

impl FromStr for Served {
    type Err = Error;

    fn from_str(path: &str) -> Result<Self, Error> {
        let parts = path.strip_prefix('/').and_then(|path| path.split_once('/'));
        let (declared, sent) = parts.ok_or_else(|| format!("no such path: {path}"))?;
        let declared = if declared == "chunked" { None } else { Some(declared.parse()?) };
        Ok(Self { declared, sent: sent.parse()? })
    }
}

/// The body of a response.
struct Sending {
    served: Served,
    at: u64,
    flushed: bool,
    content: Arc<Content>,
}

impl Body for Sending {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let left = self.served.sent - self.at;
        if left > 0 {
            let frame = self.content.slice(self.at, FRAME.min(left.try_into().unwrap_or(FRAME)));
            self.at += frame.len() as u64;
            return Poll::Ready(Some(Ok(Frame::data(frame))));
        }
        // hyper closes the connection if a body ends before its declared length. The end comes
        // one poll later, so that hyper sends the bytes that it has before.
        if self.served.declared.is_some_and(|declared| declared > self.at) && !self.flushed {
            self.flushed = true;
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        Poll::Ready(None)
    }

    fn is_end_stream(&self) -> bool {
        self.served.declared == Some(self.at)
    }

    fn size_hint(&self) -> SizeHint {
        match self.served.declared {
            Some(declared) => SizeHint::with_exact(declared - self.at),
            None => SizeHint::new(),
        }
    }
}
