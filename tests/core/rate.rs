//! Bodies that arrive too slowly. The clock is that of tokio, paused: it goes on when all tasks
//! wait.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::time::Duration;

use bytes::Bytes;
use http_body::Frame;
use http_body_util::{BodyExt, StreamBody};
use presized::{Collect, CollectError, MemoryBudget, MinRate, Presized, Reader, collect_presized};
use presized_support::drive::drive;
use presized_support::mock::{Mock, Step};
use tokio::time::{Instant, sleep};

use crate::bodies::Repeated;

const SECOND: Duration = Duration::from_secs(1);

/// A body of these frames, each after so many seconds.
fn slow(
    frames: &'static [(u32, &'static str)],
) -> impl http_body::Body<Data = Bytes, Error = std::io::Error> {
    StreamBody::new(futures_util::stream::unfold(frames, |frames| async move {
        let (&(seconds, frame), rest) = frames.split_first()?;
        sleep(seconds * SECOND).await;
        Some((Ok(Frame::data(Bytes::from_static(frame.as_bytes()))), rest))
    }))
}

fn reader(bytes: u64, seconds: u32) -> Reader {
    Reader::new(100).min_rate(MinRate::new(bytes, seconds * SECOND, sleep))
}

#[tokio::test(start_paused = true)]
async fn rate_holds_in_each_period() {
    // Bytes and seconds of the rate, the frames, and either the content or when the read fails,
    // after which bytes in that period and in all.
    type Case = (u64, u32, &'static [(u32, &'static str)], Result<&'static str, (u64, u64, u64)>);
    let table: &[Case] = &[
        // An idle timeout: each byte starts the period anew.
        (1, 10, &[(9, "a"), (9, "b"), (9, "c")], Ok("abc")),
        (1, 10, &[(11, "a")], Err((10, 0, 0))),
        (1, 10, &[(9, "a"), (11, "b")], Err((19, 0, 1))),
        (1, 10, &[(9, "a"), (9, ""), (9, "b")], Err((19, 0, 1))),
        (1, 10, &[(0, "a"), (0, "b"), (11, "c")], Err((10, 0, 2))),
        // A rate: the bytes must arrive before the period is over.
        (3, 10, &[(4, "a"), (4, "b"), (1, "c"), (9, "def")], Ok("abcdef")),
        (3, 10, &[(4, "a"), (4, "b"), (4, "c")], Err((10, 2, 2))),
        (3, 10, &[(9, "abc"), (4, "d"), (4, "e"), (4, "f")], Err((19, 2, 5))),
        // More than the rate asks for does not count for the next period.
        (3, 10, &[(1, "abcdefgh"), (11, "i")], Err((11, 0, 8))),
        // The end of the body ends the period.
        (3, 10, &[(9, "a")], Ok("a")),
        (3, 10, &[], Ok("")),
        // No rate.
        (0, 0, &[(1000, "a")], Ok("a")),
    ];
    for &(bytes, seconds, frames, expected) in table {
        let start = Instant::now();
        let read = Collect::new(slow(frames), reader(bytes, seconds)).await;
        let read = read.map_err(|error| match error {
            CollectError::TooSlow { arrived, required, period, received, .. } => {
                assert_eq!((required, period), (bytes, seconds * SECOND));
                assert_eq!(error.partial().len() as u64, received);
                (start.elapsed().as_secs(), arrived, received)
            }
            _ => panic!("{error:?}"),
        });
        let read = read.as_ref().map(|content| &content[..]).map_err(|error| *error);
        assert_eq!(read, expected.map(str::as_bytes), "{bytes} in {seconds} s, {frames:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn error_of_a_slow_body_names_the_rule_and_keeps_what_came() {
    let collect = Collect::new(slow(&[(1, "hel"), (20, "lo")]), reader(30, 10));
    let error = collect.content_length(5).await.unwrap_err();
    let message = "body is too slow: 3 of 30 required bytes in 10s, 3 bytes received";
    assert_eq!(error.to_string(), message);
    assert_eq!(error.status().as_u16(), 408);
    assert_eq!((error.received(), error.is_too_large()), (3, false));
    let mapped = error.boxed();
    assert_eq!(mapped.to_string(), message);
    assert_eq!(mapped.into_partial(), "hel");

    let error = Collect::new(slow(&[(20, "a")]), reader(1, 10)).await.unwrap_err();
    let message = "body is too slow: 0 of 1 required bytes in 10s, 0 bytes received";
    assert_eq!(error.to_string(), message);
    assert_eq!(std::io::Error::from(error).kind(), std::io::ErrorKind::TimedOut);
}

#[tokio::test(start_paused = true)]
async fn every_form_has_the_rate() {
    let collect = || Collect::new(slow(&[(1, "hel"), (20, "lo")]), reader(1, 10));
    let mut buffer = Vec::new();
    let errors = [
        collect().await.unwrap_err(),
        collect().bytes().await.unwrap_err(),
        collect().vec().await.unwrap_err(),
        collect().text().await.unwrap_err(),
        collect().collected().await.unwrap_err(),
        collect().prefix().await.unwrap_err(),
        collect().append_to(&mut buffer).await.unwrap_err(),
        collect().into_presized().collect().await.unwrap_err(),
    ];
    for error in errors {
        assert!(matches!(error, CollectError::TooSlow { received: 3, .. }), "{error:?}");
    }
    assert_eq!(buffer, b"hel");
}

#[tokio::test(start_paused = true)]
async fn time_in_which_a_body_waits_for_memory_does_not_count() {
    let budget = MemoryBudget::new(8);
    let reader = reader(1, 10).limit(8).budget(&budget);
    let kept = reader.collect(Mock::of(["first"])).content_length(5).await.unwrap();
    // 9 s for the first frame, 60 s for memory, and 9 s for the second frame.
    let waits = reader.collect(slow(&[(9, "hel"), (9, "lo")])).content_length(5);
    let start = Instant::now();
    let (content, ()) = tokio::join!(waits, async {
        sleep(69 * SECOND).await;
        drop(kept);
    });
    assert_eq!(content.unwrap(), "hello");
    assert_eq!(start.elapsed(), 69 * SECOND + 9 * SECOND);
}

#[tokio::test(start_paused = true)]
async fn body_that_is_too_slow_after_it_waited_for_memory_fails() {
    let budget = MemoryBudget::new(8);
    let reader = reader(1, 10).limit(8).budget(&budget);
    let kept = reader.collect(Mock::of(["first"])).content_length(5).await.unwrap();
    let waits = reader.collect(slow(&[(9, "hel"), (11, "lo")])).content_length(5);
    let start = Instant::now();
    let (content, ()) = tokio::join!(waits, async {
        sleep(69 * SECOND).await;
        drop(kept);
    });
    let error = content.unwrap_err();
    assert!(matches!(error, CollectError::TooSlow { arrived: 0, received: 3, .. }), "{error:?}");
    assert_eq!(start.elapsed(), 69 * SECOND + 10 * SECOND);
}

#[tokio::test(start_paused = true)]
async fn rate_and_deadline_apply_together() {
    let deadline = |seconds| sleep(seconds * SECOND);
    let collect = || Collect::new(slow(&[(20, "a")]), reader(1, 10));
    let error = collect().until(deadline(5)).await.unwrap_err();
    assert!(matches!(error, CollectError::Stopped { .. }), "{error:?}");
    let error = collect().until(deadline(15)).await.unwrap_err();
    assert!(matches!(error, CollectError::TooSlow { .. }), "{error:?}");
}

#[tokio::test(start_paused = true)]
async fn rate_belongs_to_the_reader_of_the_transport() {
    const FRAMES: &[(u32, &str)] = &[(6, "a"), (6, "b")];
    let inside = Collect::new(slow(FRAMES), reader(1, 10)).into_presized();
    assert_eq!(collect_presized(inside, None, 100).await.unwrap(), "ab");
    // Around it, the content arrives at once, after 12 s.
    let error = Collect::new(Presized::new(slow(FRAMES), 100), reader(1, 10)).await.unwrap_err();
    assert!(matches!(error, CollectError::TooSlow { arrived: 0, .. }), "{error}");
}

/// Without a runtime: the sleep of this clock is over at once, or is not needed.
#[test]
fn body_that_is_ready_needs_no_clock_and_is_never_too_slow() {
    let calls = Arc::new(AtomicU32::new(0));
    let counted = calls.clone();
    let rate = MinRate::new(u64::MAX, Duration::ZERO, move |_| {
        counted.fetch_add(1, Relaxed);
        std::future::ready("any output")
    });
    let reader = Reader::new(1 << 20).min_rate(rate);
    let ready = reader.collect(Repeated { frame: b"x", left: 10_000 });
    assert_eq!(drive(ready.bytes()).unwrap().len(), 10_000);
    assert_eq!(calls.load(Relaxed), 0);
    let waits = reader.collect(Mock::new([Step::Data("x".into()), Step::Wait]));
    let error = drive(waits.bytes()).unwrap_err();
    assert!(matches!(error, CollectError::TooSlow { arrived: 0, received: 1, .. }), "{error:?}");
    assert_eq!(calls.load(Relaxed), 1);
}

#[tokio::test(start_paused = true)]
async fn clock_is_asked_once_for_each_period() {
    let calls = Arc::new(AtomicU32::new(0));
    let counted = calls.clone();
    let rate = MinRate::new(2, 10 * SECOND, move |period| {
        counted.fetch_add(1, Relaxed);
        sleep(period)
    });
    let body = slow(&[(1, "a"), (1, "b"), (1, "c"), (1, "d"), (1, "e")]);
    let content = Collect::new(body, Reader::new(9).min_rate(rate)).await.unwrap();
    assert_eq!((content, calls.load(Relaxed)), ("abcde".into(), 3));
}

#[test]
fn min_rate_reports_its_numbers() {
    let rate = MinRate::new(30, 10 * SECOND, sleep);
    assert_eq!((rate.bytes(), rate.period()), (30, 10 * SECOND));
    assert_eq!(format!("{rate:?}"), "MinRate { bytes: 30, period: 10s, .. }");
    let reader = Reader::new(9).min_rate(rate);
    assert_eq!(reader.get_min_rate().map(MinRate::bytes), Some(30));
}
