//! A TLS server in front of a plain server.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};

use presized_support::client::pem;
use presized_support::server::certify_for;
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

use crate::HOST;

/// A server on a free port of the loopback address. It ends with the runtime.
pub(crate) struct Terminator {
    pub(crate) address: SocketAddr,
    /// For the loopback address and for [`HOST`].
    pub(crate) certificate_pem: String,
}

impl Terminator {
    /// Starts a server that agrees on this protocol by ALPN, and passes the plain text on to `plain`.
    pub(crate) async fn start(plain: SocketAddr, protocol: &str) -> Self {
        let (certificate, acceptor) = certify_for([HOST], &[protocol]).unwrap();
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(pass(acceptor.clone(), stream, plain));
            }
        });
        Self { address, certificate_pem: pem(&certificate) }
    }
}

async fn pass(acceptor: TlsAcceptor, stream: TcpStream, plain: SocketAddr) -> io::Result<()> {
    let mut client = acceptor.accept(stream).await?;
    let mut server = TcpStream::connect(plain).await?;
    copy_bidirectional(&mut client, &mut server).await?;
    Ok(())
}
