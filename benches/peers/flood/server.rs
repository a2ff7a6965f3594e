//! An Invoke API that breaks responses on purpose, and records each call.

use std::io;
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::thread;

use presized_peers::api::{self, Endpoint};
use presized_support::client::{self, Error};
use presized_support::meter::{Side, pin};
use presized_support::pattern;
use presized_support::server::certify;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use crate::response::Fate;

/// The name of the function. Its payload is the number of the call.
pub(crate) const FUNCTION: &str = "flood";

/// The calls that the server has seen.
#[derive(Debug)]
pub(crate) struct Record {
    /// The number of runs of each call.
    pub(crate) runs: Vec<AtomicU32>,
    /// The number of connections.
    pub(crate) connections: AtomicU32,
}

/// Starts the server, with TLS or without, on a thread of its own. It runs until the process ends.
pub(crate) fn start(calls: u32, tls: bool) -> Result<(Endpoint, Arc<Record>), Error> {
    pattern::prepare();
    let (certificate, acceptor) = tls.then(|| certify(&["http/1.1"])).transpose()?.unzip();
    let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    listener.set_nonblocking(true)?;
    let address = listener.local_addr()?;
    let runtime = runtime::Builder::new_current_thread().enable_all().build()?;
    let runs = (0..calls).map(|_| AtomicU32::new(0)).collect();
    let record = Arc::new(Record { runs, connections: AtomicU32::new(0) });
    let kept = Arc::clone(&record);
    thread::Builder::new().name("server".to_owned()).spawn(move || {
        pin(Side::Server);
        runtime.block_on(accept(listener, acceptor, &kept))
    })?;
    Ok((Endpoint { address, certificate: certificate.as_ref().map(client::pem) }, record))
}

async fn accept(
    listener: std::net::TcpListener,
    acceptor: Option<TlsAcceptor>,
    record: &Arc<Record>,
) -> io::Result<()> {
    let listener = TcpListener::from_std(listener)?;
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        record.connections.fetch_add(1, Relaxed);
        let (record, acceptor) = (Arc::clone(record), acceptor.clone());
        tokio::spawn(async move {
            let served = match acceptor {
                Some(acceptor) => match acceptor.accept(stream).await {
                    Ok(stream) => serve(stream, &record).await,
                    Err(error) => Err(error.into()),
                },
                None => serve(stream, &record).await,
            };
            if let Err(error) = served {
                // The client counts the failed call.
                eprintln!("a connection of the server ended: {error}");
            }
        });
    }
}

/// A connection, with TLS or without.
trait Stream: AsyncRead + AsyncWrite + Unpin {
    fn tcp(&self) -> &TcpStream;
}

impl Stream for TcpStream {
    fn tcp(&self) -> &TcpStream {
        self
    }
}

impl Stream for TlsStream<TcpStream> {
    fn tcp(&self) -> &TcpStream {
        self.get_ref().0
    }
}

async fn serve(mut stream: impl Stream, record: &Record) -> Result<(), Error> {
    let mut received = Vec::new();
    while let Some(call) = read_call(&mut stream, &mut received).await? {
        record.runs.get(call as usize).ok_or("the call number is too large")?.fetch_add(1, Relaxed);
        let fate = Fate::of(call);
        stream.write_all(&fate.bytes(call)).await?;
        // TLS buffers what it writes.
        stream.flush().await?;
        match fate {
            Fate::Whole => {}
            Fate::Reset(_) => {
                stream.tcp().set_zero_linger()?;
                return Ok(());
            }
            _ => return Ok(()),
        }
    }
    Ok(())
}

/// Reads the next request and returns its payload, the number of a call.
async fn read_call(stream: &mut impl Stream, received: &mut Vec<u8>) -> Result<Option<u32>, Error> {
    loop {
        if let Some((call, length)) = parse(received)? {
            received.drain(..length);
            return Ok(Some(call));
        }
        if stream.read_buf(received).await? == 0 {
            return if received.is_empty() {
                Ok(None)
            } else {
                Err("the request is incomplete".into())
            };
        }
    }
}

/// Returns the call number in a request and the length of the request, if it is complete.
fn parse(received: &[u8]) -> Result<Option<(u32, usize)>, Error> {
    let Some(end) = received.windows(4).position(|window| window == b"\r\n\r\n") else {
        return Ok(None);
    };
    let head = std::str::from_utf8(&received[..end])?;
    let mut lines = head.split("\r\n");
    let mut request = lines.next().unwrap_or_default().split(' ');
    let function = (request.next() == Some("POST")).then(|| request.next()).flatten();
    if function.and_then(api::function_at) != Some(FUNCTION) {
        return Err(format!("the request is not a call: {head}").into());
    }
    let (mut length, mut signed) = (0, false);
    for (name, value) in lines.filter_map(|line| line.split_once(": ")) {
        match name.to_ascii_lowercase().as_str() {
            "content-length" => length = value.parse()?,
            "authorization" => signed = api::is_signed(value.as_bytes()),
            _ => {}
        }
    }
    if !signed {
        return Err("the call is not signed".into());
    }
    let payload = &received[end + 4..];
    let Some(payload) = payload.get(..length) else { return Ok(None) };
    Ok(Some((std::str::from_utf8(payload)?.parse()?, end + 4 + length)))
}
