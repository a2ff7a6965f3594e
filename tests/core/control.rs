//! Reads that the caller stops.

use std::cell::Cell;
use std::future::poll_fn;
use std::ops::ControlFlow;
use std::pin::pin;
use std::rc::Rc;
use std::task::Poll;
use std::time::Duration;

use bytes::Bytes;
use futures_util::stream;
use http_body::Frame;
use http_body_util::{BodyExt, StreamBody};
use presized::{
    BufferPool, Collect, CollectError, MemoryBudget, Progress, Reader, collect_presized,
};
use presized_support::drive::{drive, poll_once};
use presized_support::mock::{Mock, MockError, Step, Unpolled};
use tokio::sync::{mpsc, oneshot};

use crate::bodies::{MIB, Repeated, ReportsDrop, hello_with_trailers};

/// "hel", and then nothing.
fn stalls() -> Mock {
    Mock::new([Step::Data("hel".into()), Step::Hang])
}

fn assert_stopped(error: CollectError<MockError>, partial: &str) {
    let CollectError::Stopped { received, declared: None, awaited: None, .. } = error else {
        panic!("{error:?}")
    };
    assert_eq!(received, partial.len() as u64);
    assert_eq!(error.to_string(), format!("body was stopped: {received} bytes received"));
    assert_eq!(error.status().as_u16(), 408);
    assert_eq!(error.into_partial(), partial);
}

#[test]
fn every_form_ends_as_stopped_and_keeps_what_came() {
    let collect = || Collect::new(stalls(), 5).until(async {});
    assert_stopped(drive(collect().into_future()).unwrap_err(), "hel");
    assert_stopped(drive(collect().bytes()).unwrap_err(), "hel");
    assert_stopped(drive(collect().vec()).unwrap_err(), "hel");
    assert_stopped(drive(collect().text()).unwrap_err(), "hel");
    assert_stopped(drive(collect().collected()).unwrap_err(), "hel");
    assert_stopped(drive(collect().prefix()).unwrap_err(), "hel");
    assert_stopped(drive(collect().into_presized().collect()).unwrap_err(), "hel");
    #[cfg(feature = "json")]
    assert_stopped(drive(collect().json::<u8>()).unwrap_err(), "hel");

    let mut buffer = b"oh ".to_vec();
    let error = drive(collect().append_to(&mut buffer)).unwrap_err();
    assert!(matches!(error, CollectError::Stopped { received: 3, .. }), "{error:?}");
    assert_eq!((buffer.as_slice(), error.partial().len()), (&b"oh hel"[..], 0));
}

#[test]
fn stopped_read_has_dropped_its_body_and_its_signal() {
    let dropped = Rc::new(Cell::new(false));
    let (signal, stop) = oneshot::channel::<()>();
    let mut read =
        pin!(Collect::new(ReportsDrop(dropped.clone(), stalls()), 5).until(stop).into_future());
    assert!(poll_once(read.as_mut()).is_pending());
    assert!(!dropped.get() && !signal.is_closed());
    signal.send(()).unwrap();
    let Poll::Ready(read) = poll_once(read.as_mut()) else { panic!("not stopped") };
    assert_stopped(read.unwrap_err(), "hel");
    assert!(dropped.get());
}

#[test]
fn cancelled_read_drops_its_signal() {
    let (signal, stop) = oneshot::channel::<()>();
    let mut read = Box::pin(Collect::new(stalls(), 5).until(stop).bytes());
    assert!(poll_once(read.as_mut()).is_pending());
    drop(read);
    assert!(signal.is_closed());
}

#[test]
fn complete_body_is_not_stopped() {
    let collect = || Collect::new(Mock::of(["hel", "lo"]), 5).until(async {});
    assert_eq!(drive(collect().bytes()).unwrap(), "hello");
    assert_eq!(drive(collect().into_future()).unwrap(), "hello");
    // A larger body yields before its end is seen.
    let frames = |left| Collect::new(Repeated { frame: b"x", left }, 256).until(async {});
    assert_eq!(drive(frames(255).bytes()).unwrap().len(), 255);
    assert!(matches!(drive(frames(256).bytes()), Err(CollectError::Stopped { .. })));
    // All errors of the body outrank the signal too.
    let error = drive(Collect::new(Mock::of(["hello"]), 4).until(async {}).bytes()).unwrap_err();
    assert!(matches!(error, CollectError::TooLarge { .. }), "{error:?}");
    let unpolled = Collect::new(Unpolled(Default::default()), 4).content_length(5);
    let error = drive(unpolled.until(async { panic!("polled") }).bytes()).unwrap_err();
    assert!(matches!(error, CollectError::DeclaredTooLarge { .. }), "{error:?}");
}

#[test]
fn body_that_is_always_ready_is_stopped() {
    let body = Repeated { frame: b"x", left: u32::MAX };
    let mut polls = 0;
    let until = poll_fn(|_| {
        polls += 1;
        if polls == 5 { Poll::Ready(()) } else { Poll::Pending }
    });
    let error = drive(Collect::new(body, u64::MAX).until(until).bytes()).unwrap_err();
    assert!(matches!(error, CollectError::Stopped { received: 768, .. }), "{error:?}");
    assert_eq!(error.partial().len(), 768);
}

/// The channels and timers of tokio are not ready once a task has used its budget in one poll. A
/// body that is always ready uses it up in each poll.
#[tokio::test]
async fn body_that_uses_up_the_budget_of_its_task_is_stopped() {
    const FRAMES: usize = 10_000;
    let (frames, mut received) = mpsc::channel(FRAMES);
    for _ in 0..FRAMES {
        frames.send(Ok::<_, MockError>(Frame::data(Bytes::from("x")))).await.unwrap();
    }
    let (signal, stop) = oneshot::channel::<()>();
    signal.send(()).unwrap();
    let body = StreamBody::new(stream::poll_fn(move |cx| received.poll_recv(cx)));
    let error = Collect::new(body, 1 << 20).until(stop).bytes().await.unwrap_err();
    assert!(matches!(error, CollectError::Stopped { .. }), "{error}");
    assert!(error.received() <= 512, "{error}");
}

#[test]
fn stopped_error_reports_the_declared_length() {
    let collect = Collect::new(stalls(), 5).content_length(5).until(async {});
    let error = drive(collect.bytes()).unwrap_err();
    assert!(matches!(error, CollectError::Stopped { declared: Some(5), received: 3, .. }));
    assert_eq!(error.to_string(), "body was stopped: 3 of 5 declared bytes received");
}

#[tokio::test(start_paused = true)]
async fn deadline_keeps_what_came() {
    let deadline = tokio::time::sleep(Duration::from_secs(1));
    assert_stopped(Collect::new(stalls(), 5).until(deadline).await.unwrap_err(), "hel");
    let deadline = tokio::time::sleep(Duration::from_secs(1));
    assert_eq!(Collect::new(hello_with_trailers(), 5).until(deadline).await.unwrap(), "hello");
}

#[tokio::test(start_paused = true)]
async fn body_that_waits_for_memory_is_stopped_and_leaves_the_queue() {
    let budget = MemoryBudget::new(8);
    let reader = Reader::new(8).budget(&budget);
    let collect = |text: &'static str| reader.collect(Mock::of([text])).content_length(6);
    let kept = collect("first ").await.unwrap();
    let deadline = tokio::time::sleep(Duration::from_secs(1));
    let error = collect("second").until(deadline).await.unwrap_err();
    assert!(matches!(
        error,
        CollectError::Stopped { declared: Some(6), received: 6, awaited: Some(6), .. }
    ));
    let message = "body was stopped while it waited for 6 bytes of the memory budget: \
                   6 bytes received";
    assert_eq!(error.to_string(), message);
    assert_eq!(error.status().as_u16(), 503);
    assert_eq!((error.partial().len(), budget.in_use()), (0, 6));
    // The request is withdrawn, so the next body gets the room.
    let next = pin!(collect("third ").into_future());
    let (next, ()) = tokio::join!(next, async { drop(kept) });
    assert_eq!(next.unwrap(), "third ");
}

#[tokio::test(start_paused = true)]
async fn share_of_a_stopped_body_is_held_by_its_partial_content() {
    let (budget, pool) = (MemoryBudget::new(MIB as u64), BufferPool::new(MIB as u64));
    let reader = Reader::new(50_000).budget(&budget).pool(&pool);
    let body = Mock::new([Step::Data(vec![b'x'; 40_000].into()), Step::Hang]);
    let collect = reader.collect(body).content_length(50_000);
    let error = collect.until(tokio::time::sleep(Duration::from_secs(1))).await.unwrap_err();
    assert_eq!((budget.in_use() >= 50_000, pool.stats().outstanding), (true, 1));
    assert_eq!(error.partial().len(), 40_000);
    drop(error);
    assert_eq!((budget.in_use(), pool.stats().outstanding), (0, 0));
}

#[test]
fn on_progress_ends_the_read_with_the_frame_that_it_has_seen() {
    let mut calls = 0;
    let read = Collect::new(Mock::of(["hel", "lo", "!"]), 9)
        .content_length(6)
        .on_progress(|Progress { received, .. }| {
            calls += 1;
            if received < 5 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })
        .bytes();
    let error = drive(read).unwrap_err();
    assert!(matches!(
        error,
        CollectError::Stopped { declared: Some(6), received: 5, awaited: None, .. }
    ));
    assert_eq!((error.partial().len(), error.into_partial()), (5, Bytes::from("hello")));
    assert_eq!(calls, 2);
}

#[test]
fn on_progress_ends_every_form() {
    let collect =
        || Collect::new(Mock::of(["hel", "lo"]), 5).on_progress(|_| ControlFlow::Break(()));
    assert_stopped(drive(collect().into_future()).unwrap_err(), "hel");
    assert_stopped(drive(collect().vec()).unwrap_err(), "hel");
    assert_stopped(drive(collect().prefix()).unwrap_err(), "hel");
    assert_stopped(drive(collect().into_presized().collect()).unwrap_err(), "hel");
    let mut buffer = Vec::new();
    assert!(drive(collect().append_to(&mut buffer)).is_err());
    assert_eq!(buffer, b"hel");
}

#[test]
fn until_and_on_progress_apply_in_any_order() {
    let go_on = |_| ControlFlow::Continue(());
    let first = Collect::new(stalls(), 5).until(async {}).on_progress(go_on);
    let second = Collect::new(stalls(), 5).on_progress(go_on).until(async {});
    assert_stopped(drive(first.bytes()).unwrap_err(), "hel");
    assert_stopped(drive(second.bytes()).unwrap_err(), "hel");
}

#[tokio::test]
async fn read_without_a_signal_is_unchanged() {
    assert_eq!(collect_presized(hello_with_trailers(), None, 5).await.unwrap(), "hello");
}
