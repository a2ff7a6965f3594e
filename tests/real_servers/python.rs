//! The `http.server` of Python. It sends HTTP/1.0 with a Content-Length and closes each connection.

use std::fs;
use std::process::Command;

use http::header::{CONTENT_LENGTH, LAST_MODIFIED};
use http::{Method, StatusCode};
use presized::{CollectError, ContentLength, ResponseExt};
use presized_support::pattern::is_whole;
use presized_support::process::{Process, peer};

use crate::client::{Connection, Unpolled, Version, field, within_time};
use crate::content;

const SIZE: u64 = 6 << 20;

/// Starts a server of one file, or returns `None` if Python is not installed.
fn start() -> Option<Process> {
    let program = peer("python3")?;
    Some(Process::start(1, "Serving HTTP on", |directory, ports| {
        fs::write(directory.join("file"), content(SIZE)).unwrap();
        let mut command = Command::new(&program);
        // Unbuffered output, or the line that the test waits for is not written.
        command.args(["-u", "-m", "http.server", "--bind", "127.0.0.1", "--directory"]);
        command.arg(directory).arg(ports[0].to_string());
        command
    }))
}

async fn connect(python: &Process) -> Connection {
    Connection::open(python.address(0), Version::Http1).await
}

#[tokio::test]
async fn file_takes_one_reservation_of_its_length() {
    let Some(python) = start() else { return };
    within_time(async {
        let response = connect(&python).await.get("/file").await;
        assert_eq!(response.version(), http::Version::HTTP_10);
        let read = response.collect_presized(&Method::GET, SIZE).collected().await.unwrap();
        assert!(is_whole(&read.content, SIZE));
        assert_eq!(read.stats.content_length, ContentLength::Exact(SIZE));
        assert_eq!(read.stats.reservations, 1);
    })
    .await;
}

#[tokio::test]
async fn file_over_the_limit_is_refused_before_polling() {
    let Some(python) = start() else { return };
    within_time(async {
        let response = connect(&python).await.get("/file").await.map(Unpolled);
        let error = response.collect_presized(&Method::GET, SIZE - 1).bytes().await.unwrap_err();
        assert!(matches!(error, CollectError::DeclaredTooLarge { .. }), "{error:?}");
    })
    .await;
}

#[tokio::test]
async fn directory_listing_is_read_as_text() {
    let Some(python) = start() else { return };
    within_time(async {
        let response = connect(&python).await.get("/").await;
        let listing = response.collect_presized(&Method::GET, 10_000).text().await.unwrap();
        assert!(listing.contains(r#"<a href="file">file</a>"#), "{listing}");
    })
    .await;
}

#[tokio::test]
async fn prefix_reads_the_start_of_an_error_body() {
    let Some(python) = start() else { return };
    within_time(async {
        let response = connect(&python).await.get("/no-such-file").await;
        assert_eq!(response.status(), StatusCode::NOT_FOUND);
        let prefix = response.collect_presized(&Method::GET, 9).prefix().await.unwrap();
        assert_eq!(prefix.content, "<!DOCTYPE");
        assert!(prefix.truncated);
    })
    .await;
}

#[tokio::test]
async fn responses_to_head_and_with_status_304_are_empty() {
    let Some(python) = start() else { return };
    within_time(async {
        let response = connect(&python).await.send(&Method::HEAD, "/file", &[]).await;
        assert_eq!(field(&response, CONTENT_LENGTH).unwrap(), SIZE.to_string());
        let date = field(&response, LAST_MODIFIED).unwrap();
        assert_eq!(response.collect_presized(&Method::HEAD, 0).bytes().await.unwrap(), "");

        let condition = [("if-modified-since", &*date)];
        let response = connect(&python).await.send(&Method::GET, "/file", &condition).await;
        assert_eq!(response.status(), StatusCode::NOT_MODIFIED);
        assert_eq!(response.collect_presized(&Method::GET, 0).bytes().await.unwrap(), "");
    })
    .await;
}
