//! The quota of retries that all calls of a client share.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use presized_support::scripted::Scripted;

use super::{builder, ok, service_error};

#[tokio::test]
async fn calls_to_a_dead_service_are_hardly_retried_until_it_recovers() {
    let recovered = Arc::new(AtomicBool::new(false));
    let is_up = Arc::clone(&recovered);
    let server = Scripted::start(move |_, _| match is_up.load(Ordering::SeqCst) {
        true => ok("1"),
        false => service_error("503 Unavailable", "AException"),
    });
    let client = builder(&server).backoff(Duration::ZERO, Duration::ZERO).build().unwrap();
    for _ in 0..1_000 {
        client.clone().invoke("f").send().await.unwrap_err();
    }
    assert_eq!(server.requests().len(), 1_000 + 500 / 5);
    assert_eq!(client.retry_quota(), 0);

    recovered.store(true, Ordering::SeqCst);
    for _ in 0..10 {
        assert_eq!(client.invoke("f").send().await.unwrap().payload, "1");
    }
    assert_eq!(client.retry_quota(), 10);
    recovered.store(false, Ordering::SeqCst);
    let before = server.requests().len();
    for attempts in [3, 1] {
        let error = client.invoke("f").send().await.unwrap_err();
        assert_eq!((error.attempts(), error.is_retry_quota_exhausted()), (attempts, attempts == 1));
    }
    assert_eq!(server.requests().len() - before, 4);
}

#[tokio::test]
async fn exhausted_quota_is_named_in_the_error() {
    let server = Scripted::start(|_, _| service_error("503 Unavailable", "AException"));
    let client = builder(&server).retry_quota(9).build().unwrap();
    let error = client.invoke("f").send().await.unwrap_err();
    let expected = "AException (status 503): m (after 2 attempts); not retried, because the retry \
                    quota is exhausted";
    assert_eq!(error.to_string(), expected);
    assert_eq!((error.is_retry_quota_exhausted(), client.retry_quota()), (true, 4));
}

#[tokio::test]
async fn successful_retry_gives_its_tokens_back() {
    let server = Scripted::start(|number, _| match number % 2 {
        0 => service_error("503 Unavailable", "AException"),
        _ => ok("1"),
    });
    let client = builder(&server).retry_quota(5).build().unwrap();
    for _ in 0..10 {
        assert_eq!(client.invoke("f").send().await.unwrap().attempts, 2);
        assert_eq!(client.retry_quota(), 5);
    }
}

#[tokio::test]
async fn call_that_is_not_retried_anyway_does_not_blame_the_quota() {
    let server = Scripted::start(|_, _| service_error("404 Not Found", "A"));
    let client = builder(&server).retry_quota(0).build().unwrap();
    let error = client.invoke("f").send().await.unwrap_err();
    assert!(!error.is_retry_quota_exhausted(), "{error}");
}
