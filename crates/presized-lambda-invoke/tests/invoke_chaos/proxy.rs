//! The proxy between client and server, which causes faults.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

use presized_support::background::Background;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{ReadHalf, WriteHalf};
use tokio::net::{TcpSocket, TcpStream};
use tokio::task::yield_now;
use tokio::time::{Instant, sleep, timeout_at};

use crate::call::rng;
use crate::fault::{DUPLICATED, Fault, Faults, Weather};
use crate::open::Open;

/// A proxy. Dropping it ends its connections.
#[derive(Debug)]
pub(crate) struct Proxy {
    pub(crate) address: SocketAddr,
    pub(crate) tally: Arc<Tally>,
    _background: Background,
}

/// The counts of the faults of a proxy.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub(crate) connections: AtomicU32,
    pub(crate) open: Arc<AtomicUsize>,
    /// The times without a listener.
    pub(crate) deaf: AtomicU32,
    /// The connections that were closed at once.
    pub(crate) unwelcome: AtomicU32,
    /// The connections that were closed because they were idle.
    pub(crate) quiet: AtomicU32,
    pub(crate) delays: AtomicU32,
    pub(crate) dribbles: AtomicU32,
    pub(crate) cuts: AtomicU32,
    pub(crate) resets: AtomicU32,
    pub(crate) stalls: AtomicU32,
    pub(crate) duplicates: AtomicU32,
    /// The cuts and resets before, in and directly after the response to CONNECT.
    pub(crate) openings: [AtomicU32; 3],
}

impl Proxy {
    /// Starts a proxy before `server`. `purpose` selects its random numbers.
    pub(crate) fn start(seed: u64, purpose: u32, server: SocketAddr, weather: Weather) -> Self {
        // It reserves the port while the proxy does not listen.
        let placeholder = socket((Ipv4Addr::LOCALHOST, 0).into()).unwrap();
        let address = placeholder.local_addr().unwrap();
        let tally = Arc::new(Tally::default());
        let proxied = Proxied { seed, purpose, server, weather, tally: tally.clone() };
        let serving = async move {
            let _placeholder = placeholder;
            accept(address, proxied).await.unwrap();
        };
        Self { address, tally, _background: Background::start("proxy", serving) }
    }
}

/// The shared state of the connections of a proxy.
#[derive(Clone)]
struct Proxied {
    seed: u64,
    purpose: u32,
    server: SocketAddr,
    /// For responses. For requests it is the same without duplicates.
    weather: Weather,
    tally: Arc<Tally>,
}

async fn accept(address: SocketAddr, proxied: Proxied) -> io::Result<()> {
    let mut rng = rng(proxied.seed, [proxied.purpose, u32::MAX]);
    let tally = &proxied.tally;
    loop {
        // The backlog holds all calls in flight, so that the kernel drops no connection.
        let listener = socket(address)?.listen(1024)?;
        loop {
            let (stream, _) = listener.accept().await?;
            let number = tally.connections.fetch_add(1, Relaxed);
            match rng.u32(..100) {
                0 => break,
                1..4 => {
                    tally.unwelcome.fetch_add(1, Relaxed);
                    if rng.bool() {
                        stream.set_zero_linger()?;
                    }
                }
                _ => drop(tokio::spawn(relay(stream, number, proxied.clone()))),
            }
        }
        drop(listener);
        tally.deaf.fetch_add(1, Relaxed);
        sleep(Duration::from_millis(rng.u64(1..8))).await;
    }
}

/// Makes a socket that shares its port.
fn socket(address: SocketAddr) -> io::Result<TcpSocket> {
    let socket = TcpSocket::new_v4()?;
    socket.set_reuseport(true)?;
    socket.bind(address)?;
    Ok(socket)
}

async fn relay(mut client: TcpStream, number: u32, proxied: Proxied) {
    let Proxied { seed, purpose, server, weather, tally } = proxied;
    let _open = Open::new(&tally.open);
    let Ok(mut server) = TcpStream::connect(server).await else { return };
    // Both fail only on a closed connection, which the first read shows.
    let _ = (client.set_nodelay(true), server.set_nodelay(true));
    let mut rng = rng(seed, [purpose, number]);
    let calm = Weather { duplicates: false, opening: 0, ..weather };
    let requests = Direction::new(Faults::new(rng.fork(), calm), 0, &tally);
    let responses = Direction::new(Faults::new(rng.fork(), weather), weather.opening, &tally);
    let (from_client, to_client) = client.split();
    let (from_server, to_server) = server.split();
    let ended = tokio::try_join!(
        requests.pass(from_client, to_server),
        responses.pass(from_server, to_client),
    );
    match ended {
        Err(Stop::Reset) => {
            let _ = (client.set_zero_linger(), server.set_zero_linger());
        }
        Err(Stop::Stall) => {
            // Waits until the client closes the connection.
            let mut ignored = [0; 1024];
            while client.read(&mut ignored).await.is_ok_and(|count| count > 0) {}
        }
        Ok(_) | Err(Stop::End) => {}
    }
}

/// The reason why no more bytes are passed on.
enum Stop {
    /// The receiver sees the end of the stream.
    End,
    /// Both sides see a reset.
    Reset,
    /// Neither side sees anything.
    Stall,
}

impl From<io::Error> for Stop {
    fn from(_: io::Error) -> Self {
        Self::Reset
    }
}

/// One direction of a connection.
struct Direction<'a> {
    faults: Faults,
    tally: &'a Tally,
    /// The length of the response to CONNECT in this direction, or 0.
    opening: usize,
    /// The number of bytes that were passed on, without duplicates.
    passed: usize,
    /// The last bytes that were passed on, which may be duplicated.
    last: Vec<u8>,
    /// The remaining bytes of a dribble.
    dribbling: usize,
    /// The time of the reset after a duplicate.
    reset_at: Option<Instant>,
}

impl<'a> Direction<'a> {
    fn new(faults: Faults, opening: usize, tally: &'a Tally) -> Self {
        let (passed, dribbling) = (0, 0);
        Self { faults, tally, opening, passed, last: Vec::new(), dribbling, reset_at: None }
    }

    /// Passes bytes on until the end of the stream. Any other reason to stop is an error, which stops
    /// the other direction too.
    async fn pass(mut self, mut from: ReadHalf<'_>, mut to: WriteHalf<'_>) -> Result<(), Stop> {
        match self.pass_until_stopped(&mut from, &mut to).await {
            // A head with duplicated bytes may have lost its content length. The end of the connection
            // would then be the valid end of the response.
            Err(Stop::End) if self.reset_at.is_some() => Err(Stop::Reset),
            Ok(()) | Err(Stop::End) => Ok(to.shutdown().await?),
            Err(stop) => Err(stop),
        }
    }

    async fn pass_until_stopped(
        &mut self,
        from: &mut ReadHalf<'_>,
        to: &mut WriteHalf<'_>,
    ) -> Result<(), Stop> {
        let mut buffer = vec![0; 16 << 10];
        loop {
            let until = self.reset_at.unwrap_or_else(|| Instant::now() + self.faults.patience);
            let mut rest = match timeout_at(until, from.read(&mut buffer)).await {
                Ok(Ok(0)) => return Err(Stop::End),
                Ok(read) => &buffer[..read?],
                Err(_) if self.reset_at.is_some() => return Err(Stop::Reset),
                Err(_) => {
                    self.tally.quiet.fetch_add(1, Relaxed);
                    return Err(if self.faults.coin() { Stop::End } else { Stop::Reset });
                }
            };
            while let Some(count) = self.faults.due_in(rest.len()) {
                let (before, after) = rest.split_at(count);
                self.write(before, to).await?;
                rest = after;
                let fault = self.faults.take();
                self.commit(fault, to).await?;
            }
            self.write(rest, to).await?;
        }
    }

    async fn commit(&mut self, fault: Fault, to: &mut WriteHalf<'_>) -> Result<(), Stop> {
        let tally = self.tally;
        if matches!(fault, Fault::Cut | Fault::Reset) && self.passed <= self.opening {
            let place = usize::from(self.passed > 0) + usize::from(self.passed == self.opening);
            tally.openings[place].fetch_add(1, Relaxed);
        }
        match fault {
            Fault::Delay(time) => {
                tally.delays.fetch_add(1, Relaxed);
                sleep(time).await;
            }
            Fault::Dribble(count) => {
                tally.dribbles.fetch_add(1, Relaxed);
                self.dribbling = count;
            }
            Fault::Cut => {
                tally.cuts.fetch_add(1, Relaxed);
                return Err(Stop::End);
            }
            Fault::Reset => {
                tally.resets.fetch_add(1, Relaxed);
                return Err(Stop::Reset);
            }
            Fault::Stall => {
                tally.stalls.fetch_add(1, Relaxed);
                return Err(Stop::Stall);
            }
            Fault::Duplicate { count, reset_after } if self.reset_at.is_none() => {
                tally.duplicates.fetch_add(1, Relaxed);
                to.write_all(&self.last[self.last.len().saturating_sub(count)..]).await?;
                self.reset_at = Some(Instant::now() + reset_after);
            }
            // One duplicate a connection, so that the effect is the effect of one fault.
            Fault::Duplicate { .. } => {}
        }
        Ok(())
    }

    async fn write(&mut self, data: &[u8], to: &mut WriteHalf<'_>) -> io::Result<()> {
        let (dribbling, rest) = data.split_at(self.dribbling.min(data.len()));
        self.dribbling -= dribbling.len();
        for drop in dribbling.chunks(self.faults.drop_size()) {
            to.write_all(drop).await?;
            yield_now().await;
        }
        to.write_all(rest).await?;
        self.passed += data.len();
        let kept = data.len().saturating_sub(*DUPLICATED.end());
        self.last.extend_from_slice(&data[kept..]);
        self.last.drain(..self.last.len().saturating_sub(*DUPLICATED.end()));
        Ok(())
    }
}
