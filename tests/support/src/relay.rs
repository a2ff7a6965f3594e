//! An HTTP proxy that opens every tunnel to one address.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};

use crate::background::Background;

/// A proxy on a free port of the loopback address. Dropping it ends its tunnels.
#[derive(Debug)]
pub struct Relay {
    address: SocketAddr,
    heads: Arc<Mutex<Vec<String>>>,
    _background: Background,
}

impl Relay {
    /// Starts a proxy that connects each tunnel to `target`, whichever address the client asks for.
    pub fn start(target: SocketAddr) -> Self {
        let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        listener.set_nonblocking(true).expect("a socket of our own");
        let address = listener.local_addr().expect("a bound socket");
        let heads = Arc::<Mutex<Vec<String>>>::default();
        let seen = Arc::clone(&heads);
        let serving = async move {
            let listener = TcpListener::from_std(listener).expect("the listener is non-blocking");
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, target, Arc::clone(&seen)));
            }
        };
        Self { address, heads, _background: Background::start("relay", serving) }
    }

    /// Returns the address of the proxy.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the requests so far, byte for byte.
    pub fn heads(&self) -> Vec<String> {
        self.heads.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

async fn serve(
    mut client: TcpStream,
    target: SocketAddr,
    heads: Arc<Mutex<Vec<String>>>,
) -> io::Result<()> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        // Byte for byte, because the bytes after the head are for the target.
        head.push(client.read_u8().await?);
    }
    let head = String::from_utf8_lossy(&head).into_owned();
    heads.lock().unwrap_or_else(PoisonError::into_inner).push(head);
    let mut server = TcpStream::connect(target).await?;
    client.set_nodelay(true)?;
    server.set_nodelay(true)?;
    // In two pieces, as a slow network may deliver it.
    let (begin, rest) = OPENED.split_at("HTTP/1.1 20".len());
    client.write_all(begin.as_bytes()).await?;
    client.flush().await?;
    client.write_all(rest.as_bytes()).await?;
    copy_bidirectional(&mut client, &mut server).await?;
    Ok(())
}

/// The response to CONNECT, after which the bytes of the target follow.
pub const OPENED: &str = "HTTP/1.1 200 Connection established\r\nVia: 1.1 relay\r\n\r\n";
