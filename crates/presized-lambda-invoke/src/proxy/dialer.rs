use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use http::Uri;
use http::uri::Scheme;
use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_util::client::legacy::connect::{Connected, Connection, HttpConnector};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tower_service::Service;

use super::tunnel::tunnel;
use super::{Proxy, ProxyError};
use crate::BoxError;
use crate::connect_error::ConnectError;
use crate::resolver::Resolver;

/// Makes TCP connections to the endpoint, or to its proxy.
///
/// Through a proxy, an https endpoint gets a tunnel (RFC 9110, section 9.3.6). For an http endpoint
/// the proxy gets the requests themselves (RFC 9112, section 3.2.2), because many proxies allow
/// tunnels to port 443 only.
#[derive(Clone)]
pub(crate) struct Dialer {
    tcp: HttpConnector<Resolver>,
    proxy: Option<Proxy>,
}

impl Dialer {
    pub(crate) fn new(tcp: HttpConnector<Resolver>, proxy: Option<Proxy>) -> Self {
        Self { tcp, proxy }
    }
}

impl Service<Uri> for Dialer {
    type Response = Dialed;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<Dialed, BoxError>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.tcp.poll_ready(cx).map_err(Into::into)
    }

    fn call(&mut self, endpoint: Uri) -> Self::Future {
        let Some(proxy) = self.proxy.clone() else {
            let connecting = self.tcp.call(endpoint);
            return Box::pin(async move { Ok(Dialed { tcp: connecting.await?, forwards: false }) });
        };
        let connecting = self.tcp.call(proxy.uri().clone());
        Box::pin(async move {
            let through_proxy = async {
                let tcp = connecting.await.map_err(|source| ProxyError::Unreachable {
                    proxy: proxy.clone(),
                    source: source.into(),
                })?;
                if endpoint.scheme() == Some(&Scheme::HTTP) {
                    return Ok(Dialed { tcp, forwards: true });
                }
                let tcp = tunnel(tcp, &proxy, endpoint).await?;
                Ok(Dialed { tcp, forwards: false })
            };
            through_proxy.await.map_err(|error| ConnectError::Proxy(error).into())
        })
    }
}

/// A TCP connection to the endpoint or to its proxy.
#[derive(Debug)]
pub(crate) struct Dialed {
    pub(crate) tcp: TokioIo<TcpStream>,
    /// True if a proxy reads the requests, which then need an absolute URI.
    forwards: bool,
}

impl Connection for Dialed {
    fn connected(&self) -> Connected {
        self.tcp.connected().proxy(self.forwards)
    }
}

impl Read for Dialed {
    #[inline]
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.tcp).poll_read(cx, buf)
    }
}

impl Write for Dialed {
    #[inline]
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.tcp).poll_write(cx, buf)
    }

    #[inline]
    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.tcp).poll_flush(cx)
    }

    #[inline]
    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.tcp).poll_shutdown(cx)
    }

    #[inline]
    fn is_write_vectored(&self) -> bool {
        self.tcp.is_write_vectored()
    }

    #[inline]
    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.tcp).poll_write_vectored(cx, bufs)
    }
}
