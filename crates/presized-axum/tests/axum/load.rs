//! Ten thousand uploads at a time under one budget.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::SeqCst};

use axum::Router;
use axum::extract::Request;
use axum::middleware::{Next, from_fn};
use axum::routing::put;
use presized::{BufferPool, MemoryBudget, Reader};
use presized_axum::PresizedBytes;
use tokio::io::AsyncWriteExt;
use tokio::sync::{Barrier, Semaphore};
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::server::{DEADLINE, connect, head, read_response};

const UPLOADS: usize = 10_000;
/// One of so many uploads is slow. It sends its last byte after all others have their response.
const ONE_OF: usize = 20;
const SLOW: usize = UPLOADS / ONE_OF;
const LENGTH: usize = 16 << 10;
/// A tenth of the contents. The slow uploads take at most three quarters of it: the claim of a declared
/// one is its length, and that of a chunked one twice the limit.
const BUDGET: u64 = 16 << 20;

#[derive(Default)]
struct Counts {
    running: AtomicUsize,
    most_running: AtomicUsize,
    most_in_use: AtomicU64,
}

fn app(budget: &MemoryBudget, counts: &Arc<Counts>) -> Router {
    let reader = Reader::new(LENGTH as u64).budget(budget).pool(&BufferPool::new(1 << 20));
    let upload = {
        let (budget, counts) = (budget.clone(), counts.clone());
        async move |PresizedBytes(content): PresizedBytes| {
            counts.most_in_use.fetch_max(budget.in_use(), SeqCst);
            let is_whole = content.len() == LENGTH && content.iter().all(|&byte| byte == b'x');
            if is_whole { "whole" } else { "not whole" }
        }
    };
    let counted = {
        let counts = counts.clone();
        move |request: Request, next: Next| {
            let counts = counts.clone();
            async move {
                let running = counts.running.fetch_add(1, SeqCst) + 1;
                counts.most_running.fetch_max(running, SeqCst);
                let response = next.run(request).await;
                counts.running.fetch_sub(1, SeqCst);
                response
            }
        }
    };
    Router::new().route("/upload", put(upload)).layer(from_fn(counted)).with_state(reader)
}

/// Sends one upload. All of them have sent a byte before one sends more.
async fn send(app: Router, index: usize, all: Arc<Barrier>, fast: Arc<Semaphore>) -> String {
    let mut stream = connect(app, 4096);
    let content = vec![b'x'; LENGTH];
    let is_chunked = index % 3 == 0;
    let start = if is_chunked {
        head("Transfer-Encoding: chunked\r\n") + &format!("{LENGTH:x}\r\n")
    } else {
        head(&format!("Content-Length: {LENGTH}\r\n"))
    };
    stream.write_all(start.as_bytes()).await.unwrap();
    stream.write_all(&content[..1]).await.unwrap();
    all.wait().await;
    stream.write_all(&content[1..LENGTH - 1]).await.unwrap();
    let is_slow = index % ONE_OF == 0;
    if is_slow {
        let _ = fast.acquire_many((UPLOADS - SLOW) as u32).await.unwrap();
    }
    stream.write_all(&content[LENGTH - 1..]).await.unwrap();
    if is_chunked {
        stream.write_all(b"\r\n0\r\n\r\n").await.unwrap();
    }
    let (head, text) = read_response(&mut stream).await;
    if !is_slow {
        fast.add_permits(1);
    }
    format!("{} {text}", &head[9..12])
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_thousand_uploads_at_a_time_stay_within_one_budget_and_none_is_stuck() {
    let budget = MemoryBudget::new(BUDGET);
    let counts = Arc::new(Counts::default());
    let (all, fast) = (Arc::new(Barrier::new(UPLOADS)), Arc::new(Semaphore::new(0)));
    let app = app(&budget, &counts);
    let mut uploads = JoinSet::new();
    for index in 0..UPLOADS {
        uploads.spawn(send(app.clone(), index, all.clone(), fast.clone()));
    }
    let responses = timeout(DEADLINE, uploads.join_all()).await.expect("an upload is stuck");
    let whole = responses.iter().filter(|response| *response == "200 whole").count();
    assert_eq!(whole, UPLOADS);
    // All of them were in progress at once, and at the end the slow ones held their memory.
    assert_eq!(counts.most_running.load(SeqCst), UPLOADS);
    let most_in_use = counts.most_in_use.load(SeqCst);
    let slow = (SLOW * LENGTH) as u64;
    assert!((slow..=BUDGET).contains(&most_in_use), "{most_in_use} bytes in use");
    assert_eq!((counts.running.load(SeqCst), budget.in_use()), (0, 0));
}
