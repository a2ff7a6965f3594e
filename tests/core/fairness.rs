//! Bodies that are always ready, and the tasks and timers beside them.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::time::Duration;

use http_body_util::BodyExt;
use presized::{Collect, Presized, collect_presized};
use presized_support::drive::poll_once;

use crate::bodies::Repeated;

/// Polls `future` until it is ready. Returns its output and the number of polls.
fn count_polls<F: Future>(future: F) -> (F::Output, u32) {
    let mut future = pin!(future);
    let mut polls = 1;
    loop {
        match poll_once(future.as_mut()) {
            std::task::Poll::Ready(output) => return (output, polls),
            std::task::Poll::Pending => polls += 1,
        }
    }
}

#[test]
fn work_of_one_poll_is_bounded_in_frames_and_bytes() {
    // A poll ends after the frame with which frames × 4 KiB + bytes reaches 1 MiB.
    let table: &[(&'static [u8], u32, u32)] = &[
        (b"", 255, 1),
        (b"", 256, 2),
        (b"", 1024, 5),
        (b"x", 255, 1),
        (b"x", 2560, 10 + 1),
        (&[0; 4096], 127, 1),
        (&[0; 4096], 1280, 10 + 1),
        (&[0; 65_536], 15, 1),
        (&[0; 65_536], 160, 10 + 1),
        (&[0; 2 << 20], 3, 3 + 1),
    ];
    for &(frame, frames, expected) in table {
        let body = Repeated { frame, left: frames };
        let (content, polls) = count_polls(Collect::new(body, u64::MAX).bytes());
        assert_eq!(content.unwrap().len(), frame.len() * frames as usize);
        assert_eq!(polls, expected, "{frames} frames of {} bytes", frame.len());
    }
}

#[test]
fn every_form_yields_to_other_tasks() {
    let body = || Repeated { frame: b"x", left: 1 << 14 };
    let collect = || Collect::new(body(), 1 << 14).content_length(1 << 14);
    let mut buffer = Vec::new();
    let polls = [
        count_polls(collect().bytes()).1,
        count_polls(collect().vec()).1,
        count_polls(collect().text()).1,
        count_polls(collect().collected()).1,
        count_polls(collect().append_to(&mut buffer)).1,
        count_polls(collect().prefix()).1,
        count_polls(collect().into_future()).1,
        count_polls(Presized::new(body(), 1 << 14).collect()).1,
    ];
    assert_eq!(polls, [(1 << 14) / 256 + 1; 8]);
}

#[tokio::test(flavor = "current_thread")]
async fn other_tasks_run_while_a_large_body_is_read() {
    let turns = Arc::new(AtomicU32::new(0));
    let counted = turns.clone();
    let other = tokio::spawn(async move {
        loop {
            counted.fetch_add(1, Relaxed);
            tokio::task::yield_now().await;
        }
    });
    let mut read = pin!(Collect::new(Repeated { frame: b"x", left: 1 << 22 }, 1 << 30).bytes());
    let mut polls = 0;
    let read = poll_fn(|cx| {
        polls += 1;
        read.as_mut().poll(cx)
    });
    assert_eq!(read.await.unwrap().len(), 1 << 22);
    assert_eq!(polls, (1 << 22) / 256 + 1);
    assert!(turns.load(Relaxed) > 1, "{turns:?}");
    other.abort();
}

#[tokio::test(flavor = "current_thread")]
async fn timeout_fires_while_a_body_is_always_ready() {
    // The frames end after a few seconds, so that a failure is no endless loop.
    let body = Repeated { frame: b"x", left: 1 << 25 };
    let read =
        tokio::time::timeout(Duration::from_millis(5), collect_presized(body, None, u64::MAX));
    assert!(read.await.is_err(), "the body was read to its end");
}
