//! Reads the rest of a refused request, so that the client sees the response.
//!
//! If a request body is dropped before its end, hyper closes the connection of HTTP/1 after the
//! response, and resets the stream of HTTP/2. Content that is still on its way then makes the
//! operating system reset the connection, and the client can lose the response (RFC 9112 §9.6).
//! curl takes the reset of the stream for an error. The body therefore stays open in a task while
//! the response is sent.

use std::time::Duration;

use axum_core::body::Body;
use bytes::Buf;
use http::request::Parts;
use http::{HeaderMap, Version, header};
use http_body::Body as _;
use http_body_util::BodyExt;
use tokio::runtime::Handle;
use tokio::task::yield_now;
use tokio::time::timeout;

/// The most bytes that are read and dropped.
const MAX_BYTES: u64 = 64 << 20;
/// The longest time that is spent on it. nginx has the same default as `lingering_time`.
const MAX_TIME: Duration = Duration::from_secs(30);
/// The longest time to wait for the next bytes. nginx has the same default as `lingering_timeout`.
const MAX_IDLE: Duration = Duration::from_secs(5);

/// Reads `body` in a task until its end or a bound, and drops what it reads.
///
/// `is_started` says whether the body has been polled.
pub(crate) fn discard(head: &Parts, body: Body, is_started: bool) {
    if body.is_end_stream() || !is_needed(head, is_started) {
        return;
    }
    // Without tokio, another server than axum's runs the routes.
    if let Ok(runtime) = Handle::try_current() {
        runtime.spawn(async move { timeout(MAX_TIME, drain(body)).await });
    }
}

fn is_needed(head: &Parts, is_started: bool) -> bool {
    // A client of HTTP/1.1 waits for `100 Continue`, which hyper would send at the first poll. One
    // of HTTP/1.0 does not (RFC 9110 §10.1.1), and one of HTTP/2 keeps its connection.
    is_started || head.version != Version::HTTP_11 || !expects_continue(&head.headers)
}

fn expects_continue(headers: &HeaderMap) -> bool {
    // hyper uses the last of several fields.
    let value = headers.get_all(header::EXPECT).iter().next_back();
    value.is_some_and(|value| value.as_bytes().eq_ignore_ascii_case(b"100-continue"))
}

async fn drain(mut body: Body) {
    let mut left = MAX_BYTES;
    while let Ok(Some(Ok(frame))) = timeout(MAX_IDLE, body.frame()).await {
        let length = frame.data_ref().map_or(0, Buf::remaining);
        match left.checked_sub(length as u64) {
            Some(bytes) => left = bytes,
            None => break,
        }
        // A body that is always ready would keep the timeouts from firing.
        yield_now().await;
    }
}
