//! The check of the minimum rate, while the read waits for the body.

use std::task::{Context, Poll, ready};

use bytes::Buf;

use super::Collector;
use crate::CollectError;
use crate::min_rate::Sleep;

/// One period in which bytes must arrive.
pub(super) struct Period {
    over: Sleep,
    /// Bytes that had arrived when it started.
    received: u64,
}

impl<D: Buf> Collector<D> {
    /// Returns the error of a body that is not ready and too slow.
    pub(super) fn poll_too_slow<E>(&mut self, cx: &mut Context<'_>) -> Poll<CollectError<E>> {
        let received = self.received;
        let Some(rate) = self.options.reader.get_min_rate().filter(|rate| rate.bytes() > 0) else {
            return Poll::Pending;
        };
        let (required, period) = (rate.bytes(), rate.period());
        let running = self.period.take().filter(|running| received - running.received < required);
        let running = running.unwrap_or_else(|| Period { over: rate.sleep(), received });
        let running = self.period.insert(running);
        ready!(running.over.as_mut().poll(cx));
        Poll::Ready(CollectError::TooSlow {
            arrived: received - running.received,
            required,
            period,
            received,
            partial: self.take_partial(),
        })
    }
}
