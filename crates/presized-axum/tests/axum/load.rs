//! Ten thousand uploads at a time under one budget.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

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
/// A tenth of the contents. The slow uploads take at most three quarters of it: the claim of a
/// declared one is its length, and that of a chunked one twice the limit.
const BUDGET: u64 = 16 << 20;

/// Returns routes that begin to read when all uploads have reached them. `most_in_use` is the most
/// memory that a handler has seen in use.
fn app(budget: &MemoryBudget, most_in_use: &Arc<AtomicU64>) -> Router {
    let reader = Reader::new(LENGTH as u64).budget(budget).pool(&BufferPool::new(1 << 20));
    let (budget, most_in_use) = (budget.clone(), most_in_use.clone());
    let upload = async move |PresizedBytes(content): PresizedBytes| {
        most_in_use.fetch_max(budget.in_use(), SeqCst);
        let is_whole = content.len() == LENGTH && content.iter().all(|&byte| byte == b'x');
        if is_whole { "whole" } else { "not whole" }
    };
    let all = Arc::new(Barrier::new(UPLOADS));
    let together = move |request: Request, next: Next| {
        let all = all.clone();
        async move {
            all.wait().await;
            next.run(request).await
        }
    };
    Router::new().route("/upload", put(upload)).layer(from_fn(together)).with_state(reader)
}

/// Sends one upload, and returns the status and the text of the response.
async fn send(app: Router, index: usize, fast: Arc<Semaphore>) -> String {
    let mut stream = connect(app, 4096);
    let content = vec![b'x'; LENGTH];
    let is_chunked = index % 3 == 0;
    let start = if is_chunked {
        head("Transfer-Encoding: chunked\r\n") + &format!("{LENGTH:x}\r\n")
    } else {
        head(&format!("Content-Length: {LENGTH}\r\n"))
    };
    stream.write_all(start.as_bytes()).await.unwrap();
    stream.write_all(&content[..LENGTH - 1]).await.unwrap();
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
    let most_in_use = Arc::new(AtomicU64::new(0));
    let fast = Arc::new(Semaphore::new(0));
    let app = app(&budget, &most_in_use);
    let mut uploads = JoinSet::new();
    for index in 0..UPLOADS {
        uploads.spawn(send(app.clone(), index, fast.clone()));
    }
    let responses = timeout(DEADLINE, uploads.join_all()).await.expect("an upload is stuck");
    let other = responses.iter().find(|response| *response != "200 whole");
    assert_eq!((responses.len(), other), (UPLOADS, None));
    // The slow ones held memory while all others were read. Not each has taken its whole share by then.
    let most_in_use = most_in_use.load(SeqCst);
    let slow = (SLOW * LENGTH / 2) as u64;
    assert!((slow..=BUDGET).contains(&most_in_use), "{most_in_use} bytes in use");
    assert_eq!(budget.in_use(), 0);
}
