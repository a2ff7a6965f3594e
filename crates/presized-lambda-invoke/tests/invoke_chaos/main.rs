//! Calls through proxies that cut, delay, dribble, reset and duplicate bytes, driven by one seed.
//!
//! Only responses are duplicated, because the client did not send a duplicated request. A duplicate
//! has at most 64 bytes, which is no whole chunk or frame. The client detects it in HTTP/1.1 chunks
//! and in event streams. It cannot detect it within a content length or over HTTP/2: there the
//! payload may have bytes inserted, but no other difference.
//!
//! Over TLS, the proxies see only encrypted bytes, and the client detects every duplicate. An HTTP
//! proxy is behind the proxies of this test, so that the faults also affect the response to CONNECT.
//!
//! Each proxy keeps its port while it does not listen, by SO_REUSEPORT, which Windows does not have.

#![cfg(unix)]

mod call;
mod fault;
mod open;
mod proxy;
mod report;
mod server;
mod verdict;

use std::env;
use std::process;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use presized::{BufferPool, MemoryBudget, Reader};
use presized_lambda_invoke::{Client, Credentials, HttpVersion};
use presized_support::relay::{OPENED, Relay};
use tokio::task::JoinSet;
use tokio::time::sleep;

use crate::call::{Call, LENGTH_MAX, log_uniform, rng};
use crate::fault::Weather;
use crate::proxy::{Proxy, Tally};
use crate::report::Report;
use crate::server::Server;
use crate::verdict::{Way, make};

#[test]
fn call_over_http1_is_correct_or_fails_and_never_runs_twice() {
    chaos(Plan { version: HttpVersion::Http1, path: Path::Plain, calls: 10_000, in_flight: 32 });
}

#[test]
fn call_over_http1_and_tls_is_correct_or_fails_and_never_runs_twice() {
    chaos(Plan { version: HttpVersion::Http1, path: Path::Tls, calls: 4_000, in_flight: 32 });
}

#[test]
fn call_over_http2_is_correct_or_fails_and_never_runs_twice() {
    chaos(Plan { version: HttpVersion::Http2, path: Path::Plain, calls: 4_000, in_flight: 12 });
}

#[test]
fn call_over_http2_and_tls_is_correct_or_fails_and_never_runs_twice() {
    chaos(Plan { version: HttpVersion::Http2, path: Path::Tls, calls: 2_000, in_flight: 12 });
}

#[test]
fn call_over_http1_through_a_tunnel_is_correct_or_fails_and_never_runs_twice() {
    chaos(Plan { version: HttpVersion::Http1, path: Path::Tunnel, calls: 2_000, in_flight: 32 });
}

#[test]
fn call_over_http2_through_a_tunnel_is_correct_or_fails_and_never_runs_twice() {
    chaos(Plan { version: HttpVersion::Http2, path: Path::Tunnel, calls: 1_500, in_flight: 12 });
}

#[derive(Clone, Copy, Debug)]
struct Plan {
    version: HttpVersion,
    path: Path,
    calls: u32,
    in_flight: u32,
}

/// The path from the client to the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Path {
    Plain,
    Tls,
    /// TLS in a tunnel through an HTTP proxy.
    Tunnel,
}

fn chaos(plan: Plan) {
    let seed = env::var(SEED).map_or(0x70_7265_7369_7a65, |seed| seed.parse().unwrap());
    println!("{SEED}={seed}");
    let _watchdog = Watchdog::start(seed);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(run(seed, plan));
}

async fn run(seed: u64, plan: Plan) {
    let Plan { version, path, calls, in_flight } = plan;
    let tls = path != Path::Plain;
    let begin = Instant::now();
    // An error means that another test has installed it. The crate has none without features.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let server = Server::start(seed, version, tls, calls);
    let http2 = version == HttpVersion::Http2;
    // All calls share one HTTP/2 connection, so that each fault affects all of them.
    let respite = if http2 { 64 << 10 } else { 0 };
    let relay = (path == Path::Tunnel).then(|| Relay::start(server.address));
    let opening = if relay.is_some() { OPENED.len() } else { 0 };
    let target = relay.as_ref().map_or(server.address, Relay::address);
    let proxy = |purpose, duplicates| {
        Proxy::start(seed, purpose, target, Weather { duplicates, respite, opening })
    };
    let (harsh, altering) = (proxy(HARSH, false), proxy(ALTERING, true));
    let (pool, budget) = (BufferPool::new(16 << 20), MemoryBudget::new(BUDGET));
    let reports = Arc::new(AtomicU32::new(0));
    let client = |proxy: &Proxy| {
        let reports = reports.clone();
        let mut builder = Client::builder();
        let mut scheme = "http";
        if let Some(certificate) = &server.certificate {
            builder = builder.system_roots(false).root_certificates_pem(certificate.as_str());
            scheme = "https";
        }
        let endpoint = if path == Path::Tunnel {
            builder = builder.proxy(format!("http://Aladdin:open%20sesame@{}", proxy.address));
            server.address
        } else {
            proxy.address
        };
        builder
            .region("us-east-1")
            .endpoint(format!("{scheme}://{endpoint}"))
            .credentials(Credentials::new("AKIDEXAMPLE", "not-a-real-secret", None, None, "test"))
            .backoff(Duration::from_millis(2), Duration::from_millis(4))
            .idle_timeout(Duration::from_millis(100))
            .http_version(version)
            .reader(Reader::new(LENGTH_MAX as u64).pool(&pool).budget(&budget))
            .on_call(move |_| {
                reports.fetch_add(1, Relaxed);
            })
            .build()
            .unwrap()
    };
    let altered = if tls { Way::True } else { Way::Altering { http2 } };
    let clients = [(client(&harsh), Way::True), (client(&altering), altered)];

    let next = Arc::new(AtomicU32::new(0));
    let mut callers = JoinSet::new();
    for _ in 0..in_flight {
        let (next, clients) = (next.clone(), clients.clone());
        callers.spawn(async move {
            let mut verdicts = Vec::new();
            loop {
                let number = next.fetch_add(1, Relaxed);
                if number >= calls {
                    return verdicts;
                }
                let call = Call::of(seed, number);
                let mut rng = rng(seed, [PAUSES, number]);
                if rng.u32(..10) == 0 {
                    sleep(Duration::from_micros(log_uniform(&mut rng, 50_000) as u64)).await;
                }
                let is_altered = call.scenario.bears_alteration() && rng.u32(..3) == 0;
                let (client, way) = &clients[usize::from(is_altered)];
                verdicts.push((call, make(client, call, *way).await));
            }
        });
    }
    let verdicts: Vec<_> = callers.join_all().await.into_iter().flatten().collect();

    assert_eq!(verdicts.len(), calls as usize);
    assert_eq!(reports.load(Relaxed), calls);
    assert_eq!((budget.in_use(), pool.stats().outstanding), (0, 0));
    let proxies: [&Tally; 2] = [&harsh.tally, &altering.tally];
    let open = || proxies.iter().map(|tally| tally.open.load(Relaxed)).sum::<usize>();
    until("no more sockets than calls", || open() <= in_flight as usize).await;
    drop(clients);
    until("no sockets", || open() + server.record.open.load(Relaxed) == 0).await;

    if let Some(relay) = &relay {
        let heads = relay.heads();
        let expected = format!(
            "CONNECT {0} HTTP/1.1\r\nHost: {0}\r\n\
             Proxy-Authorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==\r\n\r\n",
            server.address
        );
        assert_eq!(heads.iter().find(|head| **head != expected), None);
        let connections = || server.record.connections.load(Relaxed) as usize;
        until("one connection for each tunnel", || connections() == heads.len()).await;
    }
    let mut report = Report::new(calls, proxies, &server, relay.is_some());
    for (call, verdict) in &verdicts {
        report.add(call, verdict);
    }
    println!("{report}in {:.1?}", begin.elapsed());
    report.verify();
}

/// Waits until the condition is true.
async fn until(what: &str, is_so: impl Fn() -> bool) {
    let begin = Instant::now();
    while !is_so() {
        assert!(begin.elapsed() < Duration::from_secs(20), "waiting for {what}");
        sleep(Duration::from_millis(5)).await;
    }
}

/// Ends the process if the test hangs. A task that spins blocks the timers of tokio.
struct Watchdog {
    _test: mpsc::Sender<()>,
}

impl Watchdog {
    fn start(seed: u64) -> Self {
        let (test, ended) = mpsc::channel();
        thread::spawn(move || {
            if let Err(mpsc::RecvTimeoutError::Timeout) = ended.recv_timeout(WATCHDOG) {
                eprintln!("hangs with {SEED}={seed}");
                process::exit(1);
            }
        });
        Self { _test: test }
    }
}

/// The variable with the seed. It determines everything except the scheduling.
const SEED: &str = "PRESIZED_CHAOS_SEED";

const WATCHDOG: Duration = Duration::from_secs(240);

/// The memory of three responses of the maximum length with an unknown length, so that calls wait.
const BUDGET: u64 = 2 << 20;

/// The purpose of random numbers, which differ between purposes.
const PAUSES: u32 = 50;
const HARSH: u32 = 100;
const ALTERING: u32 = 101;
