//! A panic of the function's code as the error of one invocation.

use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::task::Poll;

use super::ErrorReport;

/// Awaits `future`, and makes an error of a panic in it.
///
/// It is not polled again after one. What it shares with others may be left in the middle of
/// something, as it may be by a thread that panics: a `Mutex` says so.
pub(super) async fn caught<T>(
    future: impl Future<Output = Result<T, ErrorReport>>,
) -> Result<T, ErrorReport> {
    let mut future = pin!(future);
    poll_fn(|cx| {
        catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(cx)))
            .unwrap_or_else(|panic| Poll::Ready(Err(ErrorReport::from_panic(&*panic))))
    })
    .await
}
