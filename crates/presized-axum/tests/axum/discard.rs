//! Tests that the rest of a rejected request is read and dropped, within bounds.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::task::Poll;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{FromRequest, Request};
use axum::http::StatusCode;
use axum::routing::put;
use futures_util::stream;
use presized::{MemoryBudget, MinRate, Reader};
use presized_axum::{PresizedBytes, PresizedJson, PresizedRejection, PresizedText};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::runtime::Handle;
use tokio::task::yield_now;
use tokio::time::{Instant, sleep, timeout};
use tower_http::timeout::TimeoutLayer;

use crate::server::{DEADLINE, connect, exchange, head, read_response, serve};

const LIMIT: usize = 1 << 20;
/// The bound on what is read and dropped.
const DROPPED: usize = 64 << 20;

fn app() -> Router {
    let upload = async |PresizedBytes(content): PresizedBytes| content;
    Router::new().route("/upload", put(upload)).with_state(Reader::new(LIMIT as u64))
}

fn declared(length: usize) -> String {
    head(&format!("Content-Length: {length}\r\n"))
}

#[track_caller]
fn assert_status(head: &str, status: u16) {
    assert!(head.starts_with(&format!("HTTP/1.1 {status} ")), "{head}");
}

/// The client reads nothing before it has sent everything, as many simple clients do.
#[tokio::test]
async fn client_that_sends_everything_first_sees_413_and_keeps_its_connection() {
    let mut stream = TcpStream::connect(serve(app()).await).await.unwrap();
    let upload = vec![7; DROPPED];
    for _ in 0..2 {
        let request = [declared(DROPPED).as_bytes(), &upload].concat();
        let (head, text) = exchange(&mut stream, request).await;
        assert_status(&head, 413);
        let expected = "body declares 67108864 bytes, over the limit of 1048576 bytes";
        assert_eq!(text, expected);
    }
    let (head, text) = exchange(&mut stream, declared(5) + "hello").await;
    assert_status(&head, 200);
    assert_eq!(text, "hello");
}

#[tokio::test]
async fn chunked_upload_over_limit_sees_413_and_keeps_its_connection() {
    let mut stream = connect(app(), 4096);
    let mut request = head("Transfer-Encoding: chunked\r\n").into_bytes();
    for _ in 0..3 {
        request.extend(format!("{LIMIT:x}\r\n").into_bytes());
        request.extend(vec![7; LIMIT]);
        request.extend(b"\r\n");
    }
    request.extend(b"0\r\n\r\n");
    let (mut reading, mut writing) = tokio::io::split(stream);
    let writing = tokio::spawn(async move {
        writing.write_all(&request).await.unwrap();
        writing
    });
    let (head, text) = read_response(&mut reading).await;
    assert_status(&head, 413);
    assert!(text.starts_with("body is over the limit of 1048576 bytes: "), "{text}");
    stream = reading.unsplit(timeout(DEADLINE, writing).await.unwrap().unwrap());
    let (head, text) = exchange(&mut stream, declared(5) + "hello").await;
    assert_status(&head, 200);
    assert_eq!(text, "hello");
}

#[tokio::test]
async fn refusal_by_the_head_sends_no_100_continue() {
    let expecting = |length| head(&format!("Content-Length: {length}\r\nExpect: 100-continue\r\n"));
    let mut stream = TcpStream::connect(serve(app()).await).await.unwrap();
    let (head, _) = exchange(&mut stream, expecting(LIMIT + 1)).await;
    assert_status(&head, 413);
    // The server closes the connection, because the content may or may not come.
    let mut rest = Vec::new();
    timeout(DEADLINE, stream.read_to_end(&mut rest)).await.unwrap().unwrap();
    assert_eq!(rest, b"");

    let mut stream = TcpStream::connect(serve(app()).await).await.unwrap();
    let (head, _) = exchange(&mut stream, expecting(5)).await;
    assert_status(&head, 100);
    let (head, text) = exchange(&mut stream, "hello").await;
    assert_status(&head, 200);
    assert_eq!(text, "hello");
}

/// Also a rejection before the body is polled, and one that the handler turns into another
/// response, read the rest of the request.
#[tokio::test]
async fn every_rejection_reads_the_rest_of_the_request() {
    let no_memory = Reader::new(LIMIT as u64).budget(&MemoryBudget::new(1).fail_fast());
    let json = async |PresizedJson(value): PresizedJson<u8>| value.to_string();
    let own = async |body: Result<PresizedBytes, PresizedRejection>| match body {
        Ok(PresizedBytes(content)) => (StatusCode::OK, content),
        Err(_) => (StatusCode::IM_A_TEAPOT, "short and stout".into()),
    };
    let table = [
        (put(json).with_state(Reader::new(LIMIT as u64)), LIMIT, 415),
        (put(async |_: PresizedBytes| ()).with_state(no_memory), LIMIT, 503),
        (put(own).with_state(Reader::new(LIMIT as u64)), 2 * LIMIT, 418),
    ];
    for (route, length, status) in table {
        let mut stream = connect(Router::new().route("/upload", route), 4096);
        for _ in 0..2 {
            let (mut reading, mut writing) = tokio::io::split(stream);
            let request = [declared(length).as_bytes(), &vec![7; length]].concat();
            let writing = tokio::spawn(async move {
                writing.write_all(&request).await.unwrap();
                writing
            });
            let (head, _) = read_response(&mut reading).await;
            assert_status(&head, status);
            stream = reading.unsplit(timeout(DEADLINE, writing).await.unwrap().unwrap());
        }
    }
}

/// The reader and a layer of tower-http have a time for the body.
#[tokio::test(start_paused = true)]
async fn client_that_was_too_slow_sees_408_and_keeps_its_connection() {
    let second = Duration::from_secs(1);
    let upload = async |PresizedBytes(content): PresizedBytes| content;
    let reader = Reader::new(LIMIT as u64);
    let by_reader = put(upload).with_state(reader.clone().min_rate(MinRate::new(1, second, sleep)));
    let by_layer = put(upload)
        .layer(TimeoutLayer::with_status_code(StatusCode::REQUEST_TIMEOUT, second))
        .with_state(reader);
    for route in [by_reader, by_layer] {
        let mut stream = connect(Router::new().route("/upload", route), 4096);
        for _ in 0..2 {
            let (head, _) = exchange(&mut stream, declared(9) + "hello").await;
            assert_status(&head, 408);
            // The rest comes after the response.
            stream.write_all(b" you").await.unwrap();
        }
        let (head, text) = exchange(&mut stream, declared(5) + "hello").await;
        assert_status(&head, 200);
        assert_eq!(text, "hello");
    }
}

/// A client that got `100 Continue` sends its content, even if none of it came in time.
#[tokio::test(start_paused = true)]
async fn client_that_was_too_slow_after_100_continue_keeps_its_connection() {
    let upload = async |PresizedBytes(content): PresizedBytes| content;
    let rate = MinRate::new(1, Duration::from_secs(1), sleep);
    let route = put(upload).with_state(Reader::new(LIMIT as u64).min_rate(rate));
    let mut stream = connect(Router::new().route("/upload", route), 4096);
    let expecting = "Content-Length: 5\r\nExpect: 100-continue\r\n";
    let (head, _) = exchange(&mut stream, crate::server::head(expecting)).await;
    assert_status(&head, 100);
    let (head, _) = read_response(&mut stream).await;
    assert_status(&head, 408);
    let (head, text) = exchange(&mut stream, "hello".to_owned() + &declared(5) + "again").await;
    assert_status(&head, 200);
    assert_eq!(text, "again");
}

/// A client of HTTP/1.0 does not wait for `100 Continue`, and hyper goes by the last of several
/// fields.
#[tokio::test]
async fn rest_is_read_if_an_expectation_is_not_for_100_continue() {
    const LENGTH: usize = 3 * LIMIT;
    let table = [
        ("HTTP/1.0", "Connection: keep-alive\r\nExpect: 100-continue\r\n"),
        ("HTTP/1.1", "Expect: 100-continue\r\nExpect: nothing\r\n"),
        ("HTTP/1.1", "Expect: 100-continue, nothing\r\n"),
    ];
    for (version, fields) in table {
        let head = declared(LENGTH).replace("HTTP/1.1\r\n", &format!("{version}\r\n{fields}"));
        let (mut reading, mut writing) = tokio::io::split(connect(app(), 4096));
        let sending = tokio::spawn(async move {
            writing.write_all(head.as_bytes()).await.unwrap();
            writing.write_all(&vec![7; LENGTH]).await.unwrap();
            writing
        });
        let (head, _) = read_response(&mut reading).await;
        assert!(head.starts_with(&format!("{version} 413 ")), "{head}");
        drop(timeout(DEADLINE, sending).await.unwrap().expect(fields));
    }
}

#[tokio::test]
async fn body_is_not_polled_after_its_end() {
    let polls = Arc::new(AtomicUsize::new(0));
    let request = |content: &'static [u8], length| {
        let polls = polls.clone();
        let frames = stream::poll_fn(move |_| {
            let is_first = polls.fetch_add(1, SeqCst) == 0;
            Poll::Ready(is_first.then_some(Ok::<_, std::io::Error>(content)))
        });
        let request = Request::put("/").header("content-type", "application/json");
        request.header("content-length", length).body(Body::from_stream(frames)).unwrap()
    };
    let ended = async |rejection: PresizedRejection| {
        // The rest of a request would be read in a task.
        while Handle::current().metrics().num_alive_tasks() > 0 {
            yield_now().await;
        }
        assert_eq!(polls.swap(0, SeqCst), 2, "{rejection}");
    };
    let reader = Reader::new(9);
    ended(PresizedBytes::from_request(request(b"short", "9"), &reader).await.unwrap_err()).await;
    ended(PresizedText::from_request(request(b"\xff", "1"), &reader).await.unwrap_err()).await;
    ended(PresizedJson::<u8>::from_request(request(b"{", "1"), &reader).await.unwrap_err()).await;
}

/// Counts how many bytes of a refused upload the server takes before it closes the connection.
#[tokio::test]
async fn no_more_than_64_mib_of_a_refused_request_are_read() {
    const BUFFER: usize = 64 << 10;
    let mut stream = connect(app(), BUFFER);
    let (head, _) = exchange(&mut stream, declared(usize::MAX >> 1)).await;
    assert_status(&head, 413);
    let chunk = vec![7; BUFFER];
    let mut sent = 0;
    let failed = timeout(DEADLINE, async {
        loop {
            match stream.write(&chunk).await {
                Ok(length) => sent += length,
                Err(error) => return error,
            }
        }
    });
    let error = failed.await.unwrap();
    assert_eq!(error.kind(), std::io::ErrorKind::BrokenPipe);
    // hyper has a read buffer too, and the frame over the bound has been read.
    let most = DROPPED + BUFFER + 2 * (512 << 10);
    assert!((DROPPED..=most).contains(&sent), "{sent} bytes were taken");
}

#[tokio::test(start_paused = true)]
async fn client_that_sends_nothing_more_is_dropped_after_five_seconds() {
    let mut stream = connect(app(), 4096);
    let (head, _) = exchange(&mut stream, declared(2 * LIMIT) + "hello").await;
    assert_status(&head, 413);
    let start = Instant::now();
    let mut rest = Vec::new();
    stream.read_to_end(&mut rest).await.unwrap();
    // The clock of the test is virtual.
    assert_eq!((rest.len(), start.elapsed().as_secs()), (0, 5));
}

#[tokio::test(start_paused = true)]
async fn client_that_sends_slowly_is_dropped_after_thirty_seconds() {
    let stream = connect(app(), 4096);
    let (mut reading, mut writing) = tokio::io::split(stream);
    writing.write_all(declared(2 * LIMIT).as_bytes()).await.unwrap();
    let (head, _) = read_response(&mut reading).await;
    assert_status(&head, 413);
    let sent = Arc::new(AtomicUsize::new(0));
    let sending = {
        let sent = sent.clone();
        tokio::spawn(async move {
            while writing.write_all(b"x").await.is_ok() {
                sent.fetch_add(1, SeqCst);
                sleep(Duration::from_secs(4)).await;
            }
        })
    };
    let mut rest = Vec::new();
    reading.read_to_end(&mut rest).await.unwrap();
    assert_eq!(rest, b"");
    // At 0, 4, 8, … 28 seconds.
    assert_eq!(sent.load(SeqCst), 8);
    sending.abort();
}
