//! The connections between the function and the emulator, which are cut according to plan.

use std::collections::HashMap;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::plan::{Fate, Plan};

/// The state that all connections share.
#[derive(Default)]
pub(crate) struct Wire {
    /// The calls whose response must be cut, by request id.
    to_cut: Mutex<HashMap<String, Fate>>,
    cuts: AtomicU64,
}

impl Wire {
    /// Listens in place of the Runtime API, as long as the tokio runtime exists.
    pub(crate) async fn start(runtime_api: String) -> io::Result<(SocketAddr, Arc<Self>)> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let wire = Arc::new(Self::default());
        let shared = Arc::clone(&wire);
        tokio::spawn(async move {
            while let Ok((function, _)) = listener.accept().await {
                let (shared, runtime_api) = (Arc::clone(&shared), runtime_api.clone());
                tokio::spawn(async move {
                    if let Ok(emulator) = TcpStream::connect(&*runtime_api).await {
                        // An error closes both connections, which is all that is needed.
                        let _: io::Result<()> = shared.carry(function, emulator).await;
                    }
                });
            }
        });
        Ok((address, wire))
    }

    /// Returns the number of connections that were cut.
    pub(crate) fn cuts(&self) -> u64 {
        self.cuts.load(Relaxed)
    }

    async fn carry(&self, mut function: TcpStream, mut emulator: TcpStream) -> io::Result<()> {
        function.set_nodelay(true)?;
        emulator.set_nodelay(true)?;
        let ((from_function, to_function), (from_emulator, to_emulator)) =
            (function.split(), emulator.split());
        let receipt_is_cut = AtomicBool::new(false);
        let events = self.copy(from_emulator, to_function, |head| {
            if receipt_is_cut.load(Relaxed) { Some(0) } else { self.event(head) }
        });
        let responses =
            self.copy(from_function, to_emulator, |head| match self.response(head)? {
                Fate::ResponseCut(after) => Some(head.len() as u64 + after),
                _ => {
                    receipt_is_cut.store(true, Relaxed);
                    None
                }
            });
        tokio::try_join!(events, responses).map(|_| ())
    }

    /// Copies until the end, or until the connection is cut. `cut` returns the number of bytes to
    /// copy from the start of a head.
    async fn copy(
        &self,
        mut from: impl AsyncRead + Unpin,
        mut to: impl AsyncWrite + Unpin,
        cut: impl Fn(&str) -> Option<u64>,
    ) -> io::Result<()> {
        let mut buffer = vec![0; READ_AT_ONCE];
        let mut left = None;
        loop {
            let mut read = from.read(&mut buffer).await?;
            if read == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            if left.is_none() && STARTS.iter().any(|start| buffer[..read].starts_with(start)) {
                let head = loop {
                    let end = buffer[..read].windows(4).position(|bytes| bytes == b"\r\n\r\n");
                    if let Some(end) = end {
                        break &buffer[..end + 4];
                    }
                    match from.read(&mut buffer[read..]).await? {
                        0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                        more => read += more,
                    }
                };
                left = cut(&String::from_utf8_lossy(head));
            }
            let passes = left.map_or(read, |left| usize::try_from(left).unwrap_or(read).min(read));
            to.write_all(&buffer[..passes]).await?;
            if let Some(left) = &mut left {
                *left -= passes as u64;
                if *left == 0 {
                    self.cuts.fetch_add(1, Relaxed);
                    return Err(io::ErrorKind::ConnectionAborted.into());
                }
            }
        }
    }

    /// Returns the number of bytes after which an event is cut.
    fn event(&self, head: &str) -> Option<u64> {
        let context = field(head, "lambda-runtime-client-context")?;
        let call = context.strip_prefix("{\"call\":")?.strip_suffix('}')?.parse().ok()?;
        match Plan::of(call).fate {
            Fate::EventCut(after) => Some(head.len() as u64 + after),
            fate @ (Fate::ResponseCut(_) | Fate::ReceiptCut) => {
                let id = field(head, "lambda-runtime-aws-request-id")?.to_owned();
                self.to_cut().insert(id, fate);
                None
            }
            Fate::Answered | Fate::Refused | Fate::Panics => None,
        }
    }

    /// Returns the fate of a response that must be cut, once.
    fn response(&self, head: &str) -> Option<Fate> {
        let id = head.strip_prefix("POST /2018-06-01/runtime/invocation/")?;
        let (id, _) = id.split_once("/response ")?;
        self.to_cut().remove(id)
    }

    fn to_cut(&self) -> std::sync::MutexGuard<'_, HashMap<String, Fate>> {
        self.to_cut.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn field<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    head.lines().find_map(|line| {
        let (found, value) = line.split_once(':')?;
        found.eq_ignore_ascii_case(name).then(|| value.trim())
    })
}

/// The starts of the messages. Each message begins a read, because no peer sends one before it has
/// read the last. No event or response contains these bytes.
const STARTS: [&[u8]; 2] = [b"HTTP/1.1 2", b"POST /2018-06-01/runtime/invocation/"];

/// The size of a read in bytes.
const READ_AT_ONCE: usize = 64 << 10;
