//! When to stop asking for invocations.

use std::future::{Future, poll_fn};
use std::io;
use std::mem;
use std::pin::{Pin, pin};
use std::task::Poll;

/// Waits for the signal by which Lambda ends a process: SIGTERM, or Ctrl-C where there is none.
///
/// It is listened for from the call on, and not from the first poll.
///
/// # Errors
///
/// Where the runtime of tokio has no I/O driver, or the system has no such signal.
pub(super) fn terminate() -> io::Result<impl Future<Output = ()> + Send> {
    #[cfg(unix)]
    let mut signal = {
        use tokio::signal::unix::{SignalKind, signal};
        signal(SignalKind::terminate())?
    };
    #[cfg(windows)]
    let mut signal = tokio::signal::windows::ctrl_c()?;
    Ok(async move {
        // `None` would mean that no more signals can come, which tokio never says.
        let _ = signal.recv().await;
    })
}

/// Awaits `work`, unless `stop` is done before it begins, or while there is nothing to it yet.
///
/// `stop` may be passed again as long as the outcome is not `None`.
pub(super) async fn until<S, W>(mut stop: Pin<&mut S>, work: W) -> Option<W::Output>
where
    S: Future<Output = ()> + ?Sized,
    W: Future,
{
    let mut work = pin!(work);
    let mut has_begun = false;
    poll_fn(|cx| {
        // What has come by now is not thrown away, and what would be is not asked for.
        if has_begun {
            if let Poll::Ready(output) = work.as_mut().poll(cx) {
                return Poll::Ready(Some(output));
            }
        }
        if stop.as_mut().poll(cx).is_ready() {
            return Poll::Ready(None);
        }
        if mem::replace(&mut has_begun, true) {
            return Poll::Pending;
        }
        work.as_mut().poll(cx).map(Some)
    })
    .await
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::future::{pending, ready};

    use presized_support::drive::{drive, poll_once};

    use super::*;

    #[test]
    fn nothing_is_begun_that_is_to_stop() {
        assert_eq!(drive(until(pin!(ready(())), ready(7))), None);
        let mut never = pin!(pending());
        assert!(poll_once(pin!(until(never.as_mut(), pending::<u8>()))).is_pending());
        assert_eq!(drive(until(never, ready(7))), Some(7));
    }

    #[test]
    fn what_is_there_at_the_end_is_not_thrown_away() {
        for (is_there, expected) in [(true, Some(7)), (false, None)] {
            let is_now = Cell::new(false);
            let when = |is_ready: bool| {
                let is_now = &is_now;
                poll_fn(
                    move |_| if is_now.get() && is_ready { Poll::Ready(()) } else { Poll::Pending },
                )
            };
            let stop = pin!(when(true));
            let mut waiting = pin!(until(stop, async {
                when(is_there).await;
                7
            }));
            assert!(poll_once(waiting.as_mut()).is_pending());
            is_now.set(true);
            assert_eq!(drive(waiting), expected);
        }
    }
}
