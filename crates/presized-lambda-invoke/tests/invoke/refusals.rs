//! Responses that a server sends before it has read the payload.

use std::time::Duration;

use bytes::Bytes;
use presized_lambda_invoke::Error;
use presized_support::scripted::{Early, End, Scripted};

use super::{client, ok};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn refusal_is_returned_although_the_connection_breaks_before_the_payload_is_sent() {
    for tls in [false, true] {
        for end in [RESET, HALF_CLOSE] {
            for (status, code) in [
                (400, "InvalidRequestContentException"),
                (403, "AccessDeniedException"),
                (413, "RequestTooLargeException"),
            ] {
                let refusal = Early::new(&format!("{status} Refused"), code, end);
                let server = Scripted::start_early(tls, move |_, _| Some(refusal.clone()), ok("1"));
                let client = client(&server);
                let response = client.invoke("f").payload(payload()).send().await;
                let expected = (Some((status, code)), 1, false);
                assert_eq!(found(&response.unwrap_err()), expected, "{end:?}, {tls}");
                if status == 413 {
                    let stream = client.invoke_streaming("f").payload(payload()).send().await;
                    assert_eq!(found(&stream.unwrap_err()), expected, "{end:?}, {tls}");
                }
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn temporary_refusal_is_retried_although_the_connection_breaks() {
    for tls in [false, true] {
        for end in [RESET, HALF_CLOSE] {
            for (status, code) in [
                ("429 Too Many Requests", "TooManyRequestsException"),
                ("503 Service Unavailable", "ServiceUnavailableException"),
            ] {
                let refusal = Early::new(status, code, end);
                let first = move |head, _: &_| (head == 0).then(|| refusal.clone());
                let server = Scripted::start_early(tls, first, ok("1"));
                let response = client(&server).invoke("f").payload(payload()).send().await.unwrap();
                let found = (&response.payload[..], response.attempts);
                assert_eq!(found, (&b"1"[..], 2), "{code}, {end:?}, {tls}");
                assert_eq!(server.requests()[0].body, payload());
            }
        }
    }
}

#[tokio::test]
async fn connection_is_used_again_after_a_refusal_only_if_the_server_reads_the_payload() {
    for (end, connection) in [(RESET, 1), (HALF_CLOSE, 1), (End::Drain(Duration::ZERO), 0)] {
        let refusal = Early::new("413 Payload Too Large", "RequestTooLargeException", end);
        let first = move |head, _: &_| (head == 0).then(|| refusal.clone());
        let server = Scripted::start_early(false, first, ok("1"));
        let client = client(&server);
        let error = client.invoke("f").payload(payload()).send().await.unwrap_err();
        assert_eq!(found(&error), (Some((413, "RequestTooLargeException")), 1, false), "{end:?}");
        if connection == 0 {
            tokio::time::sleep(Duration::from_millis(500)).await;
        }
        assert_eq!(client.invoke("f").send().await.unwrap().payload, "1", "{end:?}");
        assert_eq!(server.requests()[0].connection, connection, "{end:?}");
    }
}

#[tokio::test]
async fn refusal_is_returned_although_the_server_does_not_read_the_payload() {
    let end = End::Drain(Duration::from_secs(3600));
    let refusal = Early::new("413 Payload Too Large", "RequestTooLargeException", end);
    let server = Scripted::start_early(false, move |_, _| Some(refusal.clone()), ok("1"));
    let error = client(&server).invoke("f").payload(payload()).send().await.unwrap_err();
    assert_eq!(found(&error), (Some((413, "RequestTooLargeException")), 1, false));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn refusal_is_returned_whatever_surrounds_it_and_however_its_body_ends() {
    let interim = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n";
    let long = format!("Content-Length: 4194304\r\n\r\n{}", "x".repeat(1 << 20));
    for (before, rest) in [
        (interim, "Content-Length: 2\r\n\r\n{}"),
        ("", "Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n"),
        ("", "Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n"),
        ("", "Connection: close\r\n\r\n{}"),
        ("", "Content-Length: 9\r\n\r\n{}"),
        ("", &long),
    ] {
        for end in [RESET, HALF_CLOSE, End::Drain(Duration::from_secs(3600))] {
            let code = "RequestTooLargeException";
            let response = format!(
                "{before}HTTP/1.1 413 Payload Too Large\r\nx-amzn-errortype: {code}\r\n{rest}"
            );
            let refusal = Early { response: response.into(), end };
            let server = Scripted::start_early(false, move |_, _| Some(refusal.clone()), ok("1"));
            let call = client(&server).invoke("f").payload(payload());
            let error = call.timeout(Duration::from_secs(1)).send().await.unwrap_err();
            let shown = &rest[..rest.len().min(40)];
            assert_eq!(found(&error), (Some((413, code)), 1, false), "{end:?}, {before}{shown}");
        }
    }
}

fn found(error: &Error) -> (Option<(u16, &str)>, u32, bool) {
    let refusal = error
        .as_service_error()
        .map(|error| (error.status.as_u16(), error.code.as_deref().unwrap_or_default()));
    (refusal, error.attempts(), error.may_have_run())
}

/// Longer than the buffers of a connection on the loopback interface.
fn payload() -> Bytes {
    Bytes::from_static(&[b'x'; 4 << 20])
}

const RESET: End = End::Reset;

const HALF_CLOSE: End = End::HalfClose(Duration::from_millis(100));
