//! Bodies over loopback, with a hyper client: memory under load, with a pool, and in the documented
//! cases.

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
#[cfg(target_os = "linux")]
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
/// Bodies of unknown length at a time. Under a full budget they finish almost one by one, so that a
/// thousand of them take minutes.
const UNKNOWN_BODIES: usize = 128;

/// The flow-control window of a stream in bytes (RFC 9113 §6.9.2).
const WINDOW: u32 = 65_535;

/// The most bytes that one body takes besides its share of the budget.
///
/// A window of unread data and one frame are slices of read buffers, which can be twice as large.
/// The future of the read takes the rest.
const PER_BODY: u64 = 2 * (WINDOW as u64 + 16_384) + 8192;

fn block_on<F: Future>(future: F) -> F::Output {
    let _alone = Ledger::alone();
    // The runtime has one thread, which is the thread that counts.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        timeout(Duration::from_secs(300), future).await.expect("the test took more than 300 s")
    })
}

type Http2 = hyper::client::conn::http2::SendRequest<Empty<Bytes>>;

/// Opens a connection whose window has room for the windows of all its streams.
///
/// Otherwise streams that wait for memory would block streams that have it.
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

/// Requests all bodies at once and reads them under one budget. If `half_stall` is set, the bodies
/// of every second connection stall after one frame. The others declare their length, or do not.
async fn read_all(half_stall: bool, declare: bool) {
    let bodies = if declare { BODIES } else { UNKNOWN_BODIES };
    let server = Server::start(Protocol::Http2).unwrap();
    let address = server.endpoint().address;
    let budget = MemoryBudget::new(BUDGET);
    Ledger::count_this_thread(true);
    let mark = Mark::now();
    let mut connections = Vec::new();
    for _ in 0..CONNECTIONS {
        connections.push(connect(address).await);
    }
    let complete = Arc::new(AtomicUsize::new(0));
    let waited = Arc::new(AtomicUsize::new(0));
    let mut tasks = tokio::task::JoinSet::new();
    for index in 0..bodies {
        let connection = index % CONNECTIONS;
        let stalls = half_stall && connection % 2 == 0;
        let mut client = connections[connection].clone();
        let (budget, complete, waited) = (budget.clone(), complete.clone(), waited.clone());
        tasks.spawn(async move {
            let path = match (stalls, declare) {
                (true, _) => stalled(LENGTH),
                (false, true) => known(LENGTH),
                (false, false) => unknown(LENGTH),
            };
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
                // The timeout of the caller drops the read, which frees its share.
                assert!(timeout(Duration::from_secs(1), read).await.is_err());
            } else {
                assert!(pattern::is_whole(&read.await.unwrap(), LENGTH));
                complete.fetch_add(1, SeqCst);
            }
        });
    }
    while let Some(task) = tasks.join_next().await {
        task.unwrap();
    }
    let spent = mark.spent();
    Ledger::count_this_thread(false);
    let expected = if half_stall { bodies / 2 } else { bodies };
    assert_eq!((complete.load(SeqCst), budget.in_use()), (expected, 0));
    // Without a declared length, a body begins with one frame and waits later.
    assert!(!declare || waited.load(SeqCst) > bodies / 4, "only {waited:?} bodies waited");
    let most = BUDGET + bodies as u64 * PER_BODY;
    println!(
        "peak {} MiB under a budget of {} MiB, {waited:?} bodies waited",
        spent.peak / MIB,
        BUDGET / MIB
    );
    assert!(spent.peak <= most, "peak of {} MiB, bound of {} MiB", spent.peak / MIB, most / MIB);
}

#[test]
fn thousand_bodies_at_once_stay_within_the_budget() {
    block_on(read_all(false, true));
}

#[test]
fn bodies_of_unknown_length_stay_within_the_budget() {
    block_on(read_all(false, false));
}

#[test]
fn stalled_bodies_do_not_block_other_bodies() {
    block_on(read_all(true, true));
}

#[test]
fn stalled_bodies_do_not_block_bodies_of_unknown_length() {
    block_on(read_all(true, false));
}

#[cfg(target_os = "linux")]
#[test]
fn warm_pool_reads_from_loopback_without_page_faults_or_allocated_bodies() {
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
            // Freeing blocks of these sizes moves the thresholds of the allocator.
            for size in [100_000, 1_000_000, 10_000_000, 40_000_000, 300_000] {
                drop(std::hint::black_box(vec![1_u8; size]));
            }
        }
        Ledger::count_this_thread(true);
        let mark = Mark::now();
        let before = minor_faults();
        for _ in 0..ROUNDS {
            read(&mut client).await;
        }
        let faults = minor_faults() - before;
        let spent = mark.spent();
        Ledger::count_this_thread(false);
        println!("{} large allocations, {} bytes, {faults} faults", spent.large, spent.bytes);
        let stats = pool.stats();
        assert_eq!((stats.misses, stats.outstanding), (1, 0));
        assert!(spent.bytes <= ROUNDS * LENGTH / 10, "{spent:?}");
        // A body has 1,536 pages. The read buffer of hyper comes from the allocator. glibc keeps
        // it, and other allocators may return it to the system after each body.
        let most = if cfg!(target_env = "gnu") { ROUNDS } else { ROUNDS * 110 };
        assert!(faults < most, "{faults} page faults in {ROUNDS} bodies");
    });
}

#[test]
fn buffer_returns_to_the_pool_after_a_consumer_collects_a_presized_body() {
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

/// The table has the most bytes held at one time and allocated, in hundredths of the body.
#[test]
fn memory_of_declared_bodies_is_within_the_documented_bounds() {
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

#[test]
fn memory_of_chunked_bodies_is_within_the_documented_bounds() {
    let server = Server::start(Protocol::Http1).unwrap();
    block_on(async {
        let history = LengthHistory::new();
        // The first read has an empty history, and the second one that recorded the length.
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
