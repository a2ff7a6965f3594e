//! Uploads that are too slow. The clock is paused: it goes on when all tasks wait.

use std::time::Duration;

use axum::Router;
use axum::routing::put;
use presized::{MemoryBudget, MinRate, Reader};
use presized_axum::PresizedBytes;
use tokio::io::AsyncWriteExt;
use tokio::time::{Instant, sleep};

use crate::server::{connect, head, read_response};

const SECOND: Duration = Duration::from_secs(1);

fn app(budget: &MemoryBudget) -> Router {
    let upload = async |PresizedBytes(content): PresizedBytes| content.len().to_string();
    let rate = MinRate::new(10, 10 * SECOND, sleep);
    let reader = Reader::new(100).budget(budget).min_rate(rate);
    Router::new().route("/upload", put(upload)).with_state(reader)
}

/// Sends a byte of 100 every so many milliseconds. Returns the response and the seconds that it
/// took.
async fn trickle(app: Router, milliseconds: u64) -> (String, String, u64) {
    let (mut read, mut write) = tokio::io::split(connect(app, 4096));
    write.write_all(head("Content-Length: 100\r\n").as_bytes()).await.unwrap();
    let sender = tokio::spawn(async move {
        // The server may close the connection.
        while write.write_all(b"x").await.is_ok() {
            sleep(Duration::from_millis(milliseconds)).await;
        }
    });
    let start = Instant::now();
    let (head, text) = read_response(&mut read).await;
    sender.abort();
    (head[9..12].to_owned(), text, start.elapsed().as_secs())
}

#[tokio::test(start_paused = true)]
async fn upload_that_trickles_is_rejected_with_408_and_gives_its_memory_back() {
    let budget = MemoryBudget::new(100);
    let (status, text, seconds) = trickle(app(&budget), 3000).await;
    let expected = "body is too slow: 4 of 10 required bytes in 10s, 4 bytes received";
    assert_eq!((status.as_str(), text.as_str(), seconds), ("408", expected, 10));
    assert_eq!(budget.in_use(), 0);
}

#[tokio::test(start_paused = true)]
async fn upload_at_the_least_rate_is_read() {
    let (status, text, seconds) = trickle(app(&MemoryBudget::new(100)), 900).await;
    assert_eq!((status.as_str(), text.as_str(), seconds), ("200", "100", 89));
}
