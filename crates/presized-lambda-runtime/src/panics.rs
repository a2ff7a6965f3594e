//! A panic of the function's code as the error of one invocation.

use std::future::{Future, poll_fn};
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::task::Poll;

use super::ErrorReport;

/// Awaits `future`, and makes an error of a panic in it.
///
/// It is not polled again after one. What it shares with others may be left in the middle of
/// something, as it may be by a thread that panics: a `Mutex` says so.
pub(super) async fn caught<T>(future: impl Future<Output = T>) -> Result<T, ErrorReport> {
    let mut future = pin!(future);
    poll_fn(|cx| match catch(|| future.as_mut().poll(cx)) {
        Ok(polled) => polled.map(Ok),
        Err(panic) => Poll::Ready(Err(panic)),
    })
    .await
}

/// Calls `function`, and makes an error of a panic in it.
pub(super) fn catch<T>(function: impl FnOnce() -> T) -> Result<T, ErrorReport> {
    catch_unwind(AssertUnwindSafe(function)).map_err(|payload| {
        let report = ErrorReport::from_panic(&*payload);
        // To drop what was thrown is to run code of the function once more. What that throws is
        // let go of: it may be the same again, without end.
        if let Err(another) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
            mem::forget(another);
        }
        report
    })
}
