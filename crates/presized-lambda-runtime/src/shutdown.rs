//! The signal to shut down, and work that it interrupts.

use std::future::{Future, poll_fn};
use std::io;
use std::mem;
use std::pin::{Pin, pin};
use std::task::Poll;

/// Returns a future that waits for SIGTERM, with which Lambda ends a process, or for Ctrl-C on
/// Windows.
///
/// A signal counts from this call on, and not only from the first poll.
///
/// # Errors
///
/// Returns an error if the tokio runtime has no I/O driver, or if the system has no such signal.
pub(super) fn terminate() -> io::Result<impl Future<Output = ()> + Send> {
    #[cfg(unix)]
    let mut signal = {
        use tokio::signal::unix::{SignalKind, signal};
        signal(SignalKind::terminate())?
    };
    #[cfg(windows)]
    let mut signal = tokio::signal::windows::ctrl_c()?;
    Ok(async move {
        // tokio never returns `None` here.
        let _ = signal.recv().await;
    })
}

/// Awaits `work` until `stop` is ready. Returns `None` if `stop` was ready and `work` was not.
///
/// Does not begin `work` if `stop` is ready before. `stop` must not be passed again after `None`.
pub(super) async fn until<S, W>(mut stop: Pin<&mut S>, work: W) -> Option<W::Output>
where
    S: Future<Output = ()> + ?Sized,
    W: Future,
{
    let mut work = pin!(work);
    let mut has_begun = false;
    poll_fn(|cx| {
        // An invocation that is here must not be lost, and one that would be lost must not be
        // requested.
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
    fn work_is_not_begun_after_the_stop() {
        assert_eq!(drive(until(pin!(ready(())), ready(7))), None);
        let mut never = pin!(pending());
        assert!(poll_once(pin!(until(never.as_mut(), pending::<u8>()))).is_pending());
        assert_eq!(drive(until(never, ready(7))), Some(7));
    }

    #[test]
    fn work_that_is_ready_at_the_stop_is_not_lost() {
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
