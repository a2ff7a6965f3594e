use std::panic;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::thread;
use std::time::{Duration, Instant};

use bytes::Bytes;
use presized_support::scripted::{Reply, Scripted};

use super::{builder, client, ok};

#[tokio::test]
async fn silent_server_gets_one_request() {
    let server = Scripted::start(|_, _| Reply::Hang(Bytes::new()));
    let client = builder(&server).timeout(Duration::from_millis(50)).build().unwrap();
    let error = client.invoke("f").send().await.unwrap_err();
    assert!(error.is_timeout() && error.may_have_run(), "{error:?}");
    assert_eq!((error.attempts(), server.requests().len()), (1, 1));
}

#[tokio::test]
async fn attempts_share_the_deadline_of_the_call() {
    let server = Scripted::start(|_, _| Reply::Hang(Bytes::new()));
    let client = builder(&server)
        .max_attempts(9)
        .retry_after_send(true)
        .attempt_timeout(Duration::from_millis(600))
        .timeout(Duration::from_millis(900))
        .build()
        .unwrap();
    let error = client.invoke("f").send().await.unwrap_err();
    assert!(error.is_timeout() && error.may_have_run(), "{error:?}");
    // The second attempt has 300 ms, and there is no time for a third.
    assert_eq!((error.attempts(), server.requests().len()), (2, 2));
}

#[tokio::test]
async fn attempt_that_timed_out_is_retried_only_by_choice() {
    for (retry, sent) in [(false, 1), (true, 3)] {
        let server = Scripted::start(|_, _| Reply::Hang(Bytes::new()));
        let call = client(&server)
            .invoke("f")
            .attempt_timeout(Duration::from_millis(50))
            .retry_after_send(retry);
        let error = call.send().await.unwrap_err();
        assert!(error.is_timeout() && error.may_have_run(), "{error:?}");
        assert_eq!((error.attempts(), server.requests().len()), (sent, sent as usize));
    }
}

#[tokio::test]
async fn deadline_bounds_a_stalled_body() {
    let half = b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf";
    let server = Scripted::start(move |_, _| Reply::Hang(Bytes::from_static(half)));
    let call = client(&server).invoke("f").timeout(Duration::from_millis(50));
    let error = call.send().await.unwrap_err();
    assert!(error.is_timeout() && error.may_have_run(), "{error:?}");
}

#[tokio::test]
async fn call_after_its_deadline_sends_nothing() {
    let server = Scripted::start(|_, _| ok("hello"));
    let client = client(&server);
    for call in [
        client.invoke("f").timeout(Duration::ZERO),
        client.invoke("f").deadline(Instant::now()),
        client.invoke("f").attempt_timeout(Duration::ZERO),
    ] {
        let error = call.send().await.unwrap_err();
        assert!(error.is_timeout() && !error.may_have_run(), "{error:?}");
    }
    assert_eq!(server.requests().len(), 0);
}

#[tokio::test]
async fn timeout_may_be_the_longest_duration() {
    // A panic in a task of the connection pool does not fail the call. The runtime has one thread.
    let test = thread::current().id();
    let panicked = Arc::new(AtomicBool::new(false));
    let hook = panic::take_hook();
    panic::set_hook(Box::new({
        let panicked = panicked.clone();
        move |info| {
            panicked.fetch_or(thread::current().id() == test, SeqCst);
            hook(info);
        }
    }));
    // The time that the server announces is also longer than an `Instant` can express.
    let keep_alive = [("Keep-Alive", "timeout=99999999999999999999")];
    let server = Scripted::start(move |_, _| Reply::response("200 OK", &keep_alive, "hello"));
    let client = builder(&server)
        .timeout(Duration::MAX)
        .attempt_timeout(Duration::MAX)
        .connect_timeout(Duration::MAX)
        .idle_timeout(Duration::MAX)
        .backoff(Duration::MAX, Duration::MAX)
        .build()
        .unwrap();
    assert_eq!(client.invoke("f").send().await.unwrap().payload, "hello");
    let call = client.invoke("f").timeout(Duration::MAX).attempt_timeout(Duration::MAX);
    assert_eq!(call.send().await.unwrap().payload, "hello");
    assert!(!panicked.load(SeqCst));
}

#[cfg(any(feature = "ring", feature = "aws-lc-rs"))]
#[tokio::test]
async fn call_without_a_connection_cannot_have_run() {
    // The listener accepts no connection, so the TLS handshake never begins.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let server = Scripted::in_turn([]);
    let client = builder(&server)
        .endpoint(format!("https://{}", listener.local_addr().unwrap()))
        .connect_timeout(Duration::from_millis(50))
        .max_attempts(2)
        .build()
        .unwrap();
    let error = client.invoke("f").send().await.unwrap_err();
    assert!(matches!(error.kind(), presized_lambda_invoke::ErrorKind::Connect(_)), "{error:?}");
    assert_eq!((error.attempts(), error.may_have_run()), (2, false));
    let call = client.invoke("f").timeout(Duration::from_millis(20));
    let error = call.send().await.unwrap_err();
    assert!(error.is_timeout() && !error.may_have_run(), "{error:?}");
}

#[tokio::test]
async fn connection_of_a_dropped_call_is_not_used_again() {
    let server = Scripted::start(|number, _| match number {
        0 => Reply::Hang(Bytes::from_static(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf")),
        _ => ok("hello"),
    });
    let client = client(&server);
    let call = client.invoke("f").send();
    assert!(tokio::time::timeout(Duration::from_millis(50), call).await.is_err());
    assert_eq!(client.invoke("f").send().await.unwrap().payload, "hello");
    let connections: Vec<_> = server.requests().iter().map(|request| request.connection).collect();
    assert_eq!(connections, [0, 1]);
}
