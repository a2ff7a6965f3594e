//! Polling futures without a runtime.

use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

/// Polls once, with a waker that does nothing.
pub fn poll_once<F: Future>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

/// Polls `future` until it is ready, without a runtime and without an allocation.
///
/// # Panics
///
/// Panics if the future is not ready after a million polls.
pub fn drive<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    for _ in 0..1_000_000 {
        if let Poll::Ready(output) = poll_once(future.as_mut()) {
            return output;
        }
    }
    panic!("not ready after a million polls")
}
