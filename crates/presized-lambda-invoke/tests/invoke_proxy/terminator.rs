//! A TLS server in front of a plain server.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use rustls::ServerConfig;
use rustls::crypto::ring::default_provider;
use rustls::pki_types::PrivatePkcs8KeyDer;
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
    pub(crate) async fn start(plain: SocketAddr, protocol: &[u8]) -> Self {
        let names = [Ipv4Addr::LOCALHOST.to_string(), HOST.to_owned()];
        let certified = rcgen::generate_simple_self_signed(names).unwrap();
        let key = PrivatePkcs8KeyDer::from(certified.signing_key.serialize_der());
        let mut config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certified.cert.der().clone()], key.into())
            .unwrap();
        config.alpn_protocols = vec![protocol.to_vec()];
        let acceptor = TlsAcceptor::from(Arc::new(config));
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(pass(acceptor.clone(), stream, plain));
            }
        });
        Self { address, certificate_pem: certified.cert.pem() }
    }
}

async fn pass(acceptor: TlsAcceptor, stream: TcpStream, plain: SocketAddr) -> io::Result<()> {
    let mut client = acceptor.accept(stream).await?;
    let mut server = TcpStream::connect(plain).await?;
    copy_bidirectional(&mut client, &mut server).await?;
    Ok(())
}
