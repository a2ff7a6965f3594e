//! A proxy that opens every tunnel to one address.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};

/// A proxy on a free port of the loopback address. It ends with the runtime.
pub(crate) struct Relay {
    pub(crate) address: SocketAddr,
    heads: Arc<Mutex<Vec<String>>>,
}

impl Relay {
    pub(crate) async fn start(target: SocketAddr) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let heads = Arc::<Mutex<Vec<String>>>::default();
        let seen = Arc::clone(&heads);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, target, Arc::clone(&seen)));
            }
        });
        Self { address, heads }
    }

    /// Returns the requests so far, byte for byte.
    pub(crate) fn heads(&self) -> Vec<String> {
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
    // In two pieces, as a slow network may deliver it.
    client.write_all(b"HTTP/1.1 20").await?;
    client.flush().await?;
    client.write_all(b"0 Connection established\r\nVia: 1.1 relay\r\n\r\n").await?;
    copy_bidirectional(&mut client, &mut server).await?;
    Ok(())
}
