//! The retries of asynchronous events.

use std::io;
use std::sync::mpsc;
use std::time::Duration;

use bytes::Bytes;
use presized_lambda_emulator::{Emulator, Function};
use presized_lambda_invoke::InvocationType;
use presized_lambda_runtime::{Context, raw};

use super::runtime::{pause, within};
use super::{NAME, PATIENCE, client, emulator, failure};

/// Fails for the event `fail`, and does not return for the event `hang`.
async fn handler(event: Bytes, context: Context) -> io::Result<Bytes> {
    match &event[..] {
        b"fail" => Err(io::Error::other(context.request_id)),
        b"hang" => std::future::pending().await,
        _ => Ok(event),
    }
}

async fn send(emulator: &Emulator, payload: &'static str) -> String {
    let call = client(emulator).invoke(NAME).invocation_type(InvocationType::Event);
    call.payload(payload).send().await.unwrap().request_id.unwrap()
}

/// Waits until this many deliveries have ended, and returns the sum of errors and timeouts.
async fn ended(emulator: &Emulator, deliveries: u64) -> u64 {
    within(async {
        loop {
            let stats = emulator.stats(NAME).unwrap();
            let failed = stats.errors + stats.timeouts;
            if failed + stats.responses == deliveries {
                assert_eq!(stats.invoked + stats.redelivered, deliveries);
                return failed;
            }
            pause().await;
        }
    })
    .await
}

#[tokio::test]
async fn failed_event_is_delivered_again_and_then_reported() {
    for (payload, timeout, error_type) in
        [("fail", PATIENCE, None), ("hang", Duration::from_millis(50), Some("Sandbox.Timedout"))]
    {
        let (sender, failed) = mpsc::channel();
        let function = Function::new().timeout(timeout).async_retries(2);
        let function = function.on_failure(move |event| sender.send(event).unwrap());
        let emulator = emulator(function).await;
        emulator.attach(NAME, raw(handler)).unwrap();
        let id = send(&emulator, payload).await;
        assert_eq!(ended(&emulator, 3).await, 3);
        let event = failed.recv_timeout(PATIENCE).unwrap();
        assert_eq!((&event.request_id, &event.payload[..]), (&id, payload.as_bytes()));
        assert_eq!(event.attempts, 3);
        let report = String::from_utf8(event.report.to_vec()).unwrap();
        // The report of the handler has the request id of the last delivery.
        assert!(report.contains(&id), "{report}");
        assert!(error_type.is_none_or(|expected| event.error_type == expected), "{event:?}");
        assert!(failed.try_recv().is_err());
    }
}

#[tokio::test]
async fn event_is_reported_after_a_report_that_panicked() {
    let (sender, failed) = mpsc::channel();
    let function = Function::new().timeout(Duration::from_millis(50)).on_failure(move |event| {
        sender.send(event).unwrap();
        panic!("panic of a test");
    });
    let emulator = emulator(function).await;
    emulator.attach(NAME, raw(handler)).unwrap();
    for deliveries in [1, 2] {
        let id = send(&emulator, "hang").await;
        assert_eq!(ended(&emulator, deliveries).await, deliveries);
        assert_eq!(failed.recv_timeout(PATIENCE).unwrap().request_id, id);
    }
}

#[tokio::test]
async fn call_and_event_that_succeeds_are_not_delivered_again() {
    let (sender, failed) = mpsc::channel();
    let function = Function::new().async_retries(2);
    let emulator = emulator(function.on_failure(move |event| sender.send(event).unwrap())).await;
    emulator.attach(NAME, raw(handler)).unwrap();
    send(&emulator, "well").await;
    failure(client(&emulator).invoke(NAME).payload("fail").send().await.unwrap());
    assert_eq!(ended(&emulator, 2).await, 1);
    assert_eq!(emulator.stats(NAME).unwrap().redelivered, 0);
    assert!(failed.try_recv().is_err());
}

#[tokio::test]
async fn event_is_delivered_once_by_default() {
    let emulator = emulator(Function::new()).await;
    emulator.attach(NAME, raw(handler)).unwrap();
    send(&emulator, "fail").await;
    assert_eq!(ended(&emulator, 1).await, 1);
    assert_eq!(emulator.stats(NAME).unwrap().started, 1);
}

#[tokio::test]
async fn next_delivery_waits_for_the_delay() {
    let function = |delay| Function::new().async_retries(1).async_retry_delay(delay);
    let later = emulator(function(PATIENCE * 2)).await;
    let soon = emulator(function(Duration::from_millis(20))).await;
    for emulator in [&later, &soon] {
        emulator.attach(NAME, raw(handler)).unwrap();
        send(emulator, "fail").await;
    }
    assert_eq!(ended(&soon, 2).await, 2);
    within(async {
        while later.stats(NAME).unwrap().redelivered == 0 {
            pause().await;
        }
    })
    .await;
    assert_eq!(later.stats(NAME).unwrap().started, 1);
}
