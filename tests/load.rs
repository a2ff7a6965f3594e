//! A thousand bodies at once over loopback, under one bound.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::Duration;

use bytes::Bytes;
use http::{Method, Request};
use http_body_util::{BodyExt, Empty};
use hyper_util::rt::{TokioExecutor, TokioIo};
use presized::{BufferPool, LengthHistory, MemoryBudget, Reader, ResponseExt};
use presized_support::client::Client;
use presized_support::ledger::{Ledger, Mark};
use presized_support::pattern;
use presized_support::server::{Protocol, Server, known, stalled, unknown};
use presized_support::usage::minor_faults;
use tokio::net::TcpStream;
use tokio::time::timeout;

#[global_allocator]
static LEDGER: Ledger = Ledger;

const MIB: u64 = 1 << 20;
const LENGTH: u64 = 6 * MIB;
const BUDGET: u64 = 256 * MIB;
const CONNECTIONS: usize = 32;
const BODIES: usize = 1000;

/// The window of a stream: what its server may send before it is read (RFC 9113 §6.9.2).
const WINDOW: u32 = 65_535;

/// What a body can have beside its share: a window of unread data and a frame in hand, in
/// read buffers of which they are slices; and its future.
const PER_BODY: u64 = 2 * (WINDOW as u64 + 16_384) + 8192;

fn block_on<F: Future>(future: F) -> F::Output {
    let _alone = Ledger::alone();
    // One thread, which is the one that counts.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async { timeout(Duration::from_secs(300), future).await.expect("hangs") })
}

type Http2 = hyper::client::conn::http2::SendRequest<Empty<Bytes>>;

/// A connection with room for the windows of all its streams, so that those which wait for
/// memory do not keep those which have it from reading.
async fn connect(address: SocketAddr) -> Http2 {
    let stream = TcpStream::connect(address).await.unwrap();
    let (client, connection) = hyper::client::conn::http2::Builder::new(TokioExecutor::new())
        .initial_stream_window_size(WINDOW)
        .initial_connection_window_size(WINDOW * (BODIES.div_ceil(CONNECTIONS) as u32 + 1))
        .handshake(TokioIo::new(stream))
        .await
        .unwrap();
    tokio::spawn(connection);
    client
}

/// Asks for all bodies at once and reads them under one budget. On every second connection
/// they stall after a frame if `half_stall`.
async fn read_all(half_stall: bool) {
    let server = Server::start(Protocol::Http2).unwrap();
    let address = server.endpoint().address;
    let budget = MemoryBudget::new(BUDGET);
    Ledger::count_this_thread(true);
    let mark = Mark::now();
    let mut connections = Vec::new();
    for _ in 0..CONNECTIONS {
        connections.push(connect(address).await);
    }
    let right = Arc::new(AtomicUsize::new(0));
    let waited = Arc::new(AtomicUsize::new(0));
    let mut tasks = tokio::task::JoinSet::new();
    for index in 0..BODIES {
        let connection = index % CONNECTIONS;
        let stalls = half_stall && connection % 2 == 0;
        let mut client = connections[connection].clone();
        let (budget, right, waited) = (budget.clone(), right.clone(), waited.clone());
        tasks.spawn(async move {
            let path = if stalls { stalled(LENGTH) } else { known(LENGTH) };
            let request = Request::get(format!("http://{address}{path}"));
            let request = request.body(Empty::new()).unwrap();
            let response = client.send_request(request).await.unwrap();
            if budget.in_use() + LENGTH > BUDGET {
                waited.fetch_add(1, SeqCst);
            }
            let read = response
                .collect_presized(&Method::GET, Reader::new(LENGTH).budget(&budget))
                .bytes();
            if stalls {
                // Who stalls is for a timeout to find out, and gives its share back then.
                assert!(timeout(Duration::from_secs(1), read).await.is_err());
            } else {
                assert!(pattern::is_whole(&read.await.unwrap(), LENGTH));
                right.fetch_add(1, SeqCst);
            }
        });
    }
    while let Some(task) = tasks.join_next().await {
        task.unwrap();
    }
    let spent = mark.spent();
    Ledger::count_this_thread(false);
    let expected = if half_stall { BODIES / 2 } else { BODIES };
    assert_eq!((right.load(SeqCst), budget.in_use()), (expected, 0));
    assert!(waited.load(SeqCst) > BODIES / 4, "{waited:?} bodies had to wait");
    let most = BUDGET + BODIES as u64 * PER_BODY;
    println!(
        "peak {} MiB, {} MiB of it the budget; {waited:?} bodies waited",
        spent.peak / MIB,
        BUDGET / MIB
    );
    assert!(spent.peak <= most, "{} MiB of {} MiB", spent.peak / MIB, most / MIB);
}

#[test]
fn a_thousand_bodies_stay_within_the_budget() {
    block_on(read_all(false));
}

#[test]
fn stalling_peers_keep_nobody_else_waiting() {
    block_on(read_all(true));
}

#[test]
fn warm_pool_over_loopback_has_no_page_fault_and_no_large_allocation() {
    const ROUNDS: u64 = 200;
    let server = Server::start(Protocol::Http1).unwrap();
    block_on(async {
        let pool = BufferPool::new(64 << 20);
        let mut client = Client::connect(server.endpoint()).await.unwrap();
        let read = async |client: &mut Client| {
            let response = client.get(&known(LENGTH)).await.unwrap();
            let read = response.collect_presized(&Method::GET, Reader::new(LENGTH).pool(&pool));
            let content = read.bytes().await.unwrap();
            assert!(pattern::is_whole(&content, LENGTH));
        };
        for _ in 0..3 {
            read(&mut client).await;
            // Sizes that move every threshold of the allocator.
            for size in [100_000, 1_000_000, 10_000_000, 40_000_000, 300_000] {
                drop(std::hint::black_box(vec![1_u8; size]));
            }
        }
        Ledger::count_this_thread(true);
        let mark = Mark::now();
        for _ in 0..ROUNDS {
            read(&mut client).await;
        }
        let spent = mark.spent();
        Ledger::count_this_thread(false);
        let before = minor_faults();
        for _ in 0..ROUNDS {
            read(&mut client).await;
        }
        let faults = minor_faults() - before;
        println!("{} large allocations, {} bytes, {faults} faults", spent.large, spent.bytes);
        let stats = pool.stats();
        assert_eq!((stats.misses, stats.outstanding), (1, 0));
        assert!(spent.bytes <= ROUNDS * LENGTH / 10, "{spent:?}");
        // None of ours, of which a body has 1,536 pages. The read buffer of hyper is that of the
        // allocator, which keeps it in glibc, and elsewhere may give it back after each body.
        let most = if cfg!(target_env = "gnu") { ROUNDS } else { ROUNDS * 110 };
        assert!(faults < most, "{faults} page faults in {ROUNDS} bodies");
    });
}

/// Collected by somebody else, the pool still gets its memory back.
#[test]
fn pooled_body_survives_a_consumer_that_collects() {
    let server = Server::start(Protocol::Http1).unwrap();
    block_on(async {
        let pool = BufferPool::new(64 << 20);
        let mut client = Client::connect(server.endpoint()).await.unwrap();
        for _ in 0..3 {
            let response = client.get(&known(LENGTH)).await.unwrap();
            let body = response
                .collect_presized(&Method::GET, Reader::new(LENGTH).pool(&pool))
                .into_presized();
            let content: Bytes = body.collect().await.unwrap().to_bytes();
            assert!(pattern::is_whole(&content, LENGTH));
        }
        assert_eq!((pool.stats().misses, pool.stats().hits, pool.stats().outstanding), (1, 2, 0));
    });
}

/// The memory of the README's table: peak and bytes allocated, in hundredths of the body.
#[test]
fn memory_over_loopback_is_what_the_readme_says() {
    let reader = Reader::new(u64::MAX);
    let table = [
        (6 * MIB, "one reservation", &reader, 120, 110),
        (64 * MIB, "two reservations", &reader, 130, 130),
        (64 * MIB, "one reservation", &reader.clone().eager(64 << 20), 105, 105),
    ];
    let server = Server::start(Protocol::Http1).unwrap();
    block_on(async {
        for (length, what, reader, peak, allocated) in table {
            Ledger::count_this_thread(true);
            let mark = Mark::now();
            let mut client = Client::connect(server.endpoint()).await.unwrap();
            let mut before = 0;
            for _ in 0..4 {
                before = mark.spent().bytes;
                let response = client.get(&known(length)).await.unwrap();
                let collect = response.collect_presized(&Method::GET, reader.clone().limit(length));
                assert!(pattern::is_whole(&collect.bytes().await.unwrap(), length));
            }
            let spent = mark.spent();
            client.close().await;
            Ledger::count_this_thread(false);
            let of_body = |bytes: u64| bytes * 100 / length;
            assert!(of_body(spent.peak) <= peak, "{length}, {what}: peak {}", of_body(spent.peak));
            let last = of_body(spent.bytes - before);
            assert!(last <= allocated, "{length}, {what}: {last} allocated");
        }
    });
}

/// The same where no length is declared.
#[test]
fn memory_of_chunked_bodies_is_what_the_readme_says() {
    let server = Server::start(Protocol::Http1).unwrap();
    block_on(async {
        let history = LengthHistory::new();
        // Without a history, and with one that has seen the length.
        for most in [215, 125] {
            Ledger::count_this_thread(true);
            let mark = Mark::now();
            let mut client = Client::connect(server.endpoint()).await.unwrap();
            let response = client.get(&unknown(LENGTH)).await.unwrap();
            let read = response
                .collect_presized(&Method::GET, Reader::new(LENGTH).history(&history))
                .bytes();
            assert!(pattern::is_whole(&read.await.unwrap(), LENGTH));
            let peak = mark.spent().peak * 100 / LENGTH;
            client.close().await;
            Ledger::count_this_thread(false);
            assert!(peak <= most, "peak {peak}");
        }
    });
}
