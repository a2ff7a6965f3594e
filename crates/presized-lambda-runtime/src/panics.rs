//! Panics of the function's code, as error reports.

use std::future::{Future, poll_fn};
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::task::Poll;

use super::ErrorReport;

/// Awaits `future` and returns a panic in it as an error.
///
/// The future is not polled again after a panic. State that it shares with other futures may be
/// inconsistent then, as it may be after a thread has panicked. A `Mutex` is poisoned.
pub(super) async fn caught<T>(future: impl Future<Output = T>) -> Result<T, ErrorReport> {
    let mut future = pin!(future);
    poll_fn(|cx| match catch(|| future.as_mut().poll(cx)) {
        Ok(polled) => polled.map(Ok),
        Err(panic) => Poll::Ready(Err(panic)),
    })
    .await
}

/// Calls `function` and returns a panic in it as an error.
pub(super) fn catch<T>(function: impl FnOnce() -> T) -> Result<T, ErrorReport> {
    catch_unwind(AssertUnwindSafe(function)).map_err(|payload| {
        let report = ErrorReport::from_panic(&*payload);
        // The payload can panic when it is dropped, and so can the payload of that panic, without
        // end. The second one is leaked.
        if let Err(another) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
            mem::forget(another);
        }
        report
    })
}
