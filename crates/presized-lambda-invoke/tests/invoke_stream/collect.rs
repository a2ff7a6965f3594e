use std::time::Duration;

use presized::{MemoryBudget, Reader};
use presized_lambda_invoke::{ErrorKind, Outcome, RESPONSE_MAX};
use presized_support::eventstream::{CHUNK, DONE_ERR, DONE_OK, chunk, complete, unhex};
use presized_support::scripted::Scripted;

use super::{builder, client, read, whole};

#[tokio::test]
async fn collect_reads_many_frames_into_one_buffer() {
    let payload: Vec<u8> = (0..1 << 20).map(|at| (at % 251) as u8).collect();
    // Frames are split at any byte, as over TLS or HTTP/2.
    let mut frames: Vec<u8> = payload.chunks(50_000).flat_map(chunk).collect();
    frames.extend(complete(r#"{"LogResult":"bG9n"}"#));
    let pieces: Vec<_> = frames.chunks(16_384).collect();
    let server = Scripted::in_turn([whole(&pieces), whole(&pieces)]);
    let client = client(&server);

    let stream = client.invoke_streaming("f").tail_log().send().await.unwrap();
    let collected = stream.collect(1 << 20).await.unwrap();
    assert_eq!(collected.payload, payload);
    assert_eq!(collected.log_tail.as_deref(), Some(&b"log"[..]));

    let stream = client.invoke_streaming("f").send().await.unwrap();
    let error = stream.collect((1 << 20) - 1).await.unwrap_err();
    assert!(error.is_too_large(), "{error}");
    assert_eq!(error.into_partial(), payload[..(1 << 20) - 1]);
}

#[tokio::test]
async fn collect_after_an_error_of_the_stream_is_an_error() {
    let server = Scripted::in_turn([whole([unhex(CHUNK), unhex(DONE_ERR)])]);
    let mut stream = client(&server).invoke_streaming("f").send().await.unwrap();
    assert!(read(&mut stream).await.1.is_some());
    let error = stream.collect(1 << 20).await.unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Broken(_)) && error.may_have_run(), "{error:?}");
}

#[tokio::test]
async fn wait_of_collect_for_the_budget_ends_at_the_deadline() {
    // A single frame would be returned without a copy and use no budget.
    let half = chunk([b'x'; 1 << 19]);
    let response = whole([half.clone(), half, unhex(DONE_OK)]);
    let server = Scripted::in_turn([response.clone(), response]);
    let budget = MemoryBudget::new(1 << 20);
    let client =
        builder(&server).reader(Reader::new(RESPONSE_MAX).budget(&budget)).build().unwrap();
    let stream = client.invoke_streaming("f").send().await.unwrap();
    let first = stream.collect(1 << 20).await.unwrap();
    assert_eq!(budget.in_use(), 1 << 20);
    let call = client.invoke_streaming("f").timeout(Duration::from_millis(500));
    let stream = call.send().await.unwrap();
    let second = tokio::time::timeout(Duration::from_secs(10), stream.collect(1 << 20));
    let error = second.await.expect("the deadline has passed").unwrap_err();
    assert!(error.is_budget_full() && error.may_have_run(), "{error:?}");
    drop(first);
}

#[tokio::test]
async fn error_of_collect_is_reported() {
    let server = Scripted::in_turn([whole([unhex(CHUNK), unhex(DONE_OK)])]);
    let (reports, told) = std::sync::mpsc::channel();
    let client = builder(&server)
        .on_call(move |report| {
            let _ = reports.send(report.outcome);
        })
        .build()
        .unwrap();
    let stream = client.invoke_streaming("f").send().await.unwrap();
    assert!(stream.collect(2).await.unwrap_err().is_too_large());
    assert_eq!(told.try_iter().collect::<Vec<_>>(), [Outcome::TooLarge]);
}
