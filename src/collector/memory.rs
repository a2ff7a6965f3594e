//! Memory for the bytes that have arrived: from the allocator or a pool, within a budget.
//!
//! `reserve.rs` decides how much is reserved. The loop in `collector.rs` decides when.

use std::task::{Context, Poll, ready};

use bytes::Buf;

use super::Collector;
use crate::bank::Exhausted;
use crate::budget::Share;
use crate::content::OutOfMemory;
use crate::options::Target;
use crate::reserve::{self, Size};
use crate::{CollectError, MemoryBudget};

/// The reason why a reservation of this many bytes was refused.
pub(super) enum Refused {
    Memory(u64),
    Budget(u64),
}

impl From<OutOfMemory> for Refused {
    fn from(OutOfMemory(bytes): OutOfMemory) -> Self {
        Self::Memory(bytes as u64)
    }
}

impl<D: Buf> Collector<D> {
    /// Appends the pending bytes to the content.
    pub(super) fn poll_store<E>(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Result<(), CollectError<E>>> {
        let Some(mut data) = self.pending.take() else {
            return Poll::Ready(Ok(()));
        };
        let arrived = self.received.min(self.bounds.limit);
        if self.is_handed_over(&mut data) {
            self.content.hold(data.copy_to_bytes(data.remaining()));
            return Poll::Ready(Ok(()));
        }
        self.content.fill(&mut data);
        while data.has_remaining() {
            if self.content.has_room() {
                // The `Buf` claims to have bytes and yields none.
                return Poll::Ready(Err(self.stalled()));
            }
            let held = self.content.capacity() as u64;
            let next = self.bounds.next(self.predicted, held, arrived, self.is_scarce);
            let size = match next {
                Ok(size) => size,
                Err(bytes) => return Poll::Ready(Err(self.refused(Refused::Memory(bytes)))),
            };
            let Poll::Ready(reserved) = self.poll_reserve(cx, size) else {
                self.pending = Some(data);
                return Poll::Pending;
            };
            match reserved {
                Ok(()) => self.content.fill(&mut data),
                // A wrong prediction is no error: less memory may be enough.
                Err(_) if self.is_predicting() => self.predicted = None,
                // Nor is there a need to quadruple: the body may end soon.
                Err(_) if self.predicted.is_none() && !self.is_scarce => self.is_scarce = true,
                // A body over the limit keeps the bytes that there is room for.
                Err(Refused::Budget(_)) if self.is_refused() => return Poll::Ready(Ok(())),
                Err(refused) => return Poll::Ready(Err(self.refused(refused))),
            }
        }
        Poll::Ready(Ok(()))
    }

    /// Returns whether the predicted length is not an exact one.
    fn is_predicting(&self) -> bool {
        self.predicted.is_some() && self.exact().is_none()
    }

    /// Returns whether the body is over the limit and fails for that reason.
    fn is_refused(&self) -> bool {
        self.received > self.bounds.limit && !self.options.prefix
    }

    /// Reserves memory, after the budget has granted a share for it.
    fn poll_reserve(&mut self, cx: &mut Context<'_>, size: Size) -> Poll<Result<(), Refused>> {
        let most = self.exact().unwrap_or(self.bounds.limit);
        let is_last = size.exact as u64 >= most;
        let share = ready!(self.poll_share(cx, self.content.share_of(size), is_last))?;
        Poll::Ready(self.content.reserve(size, share).map_err(Refused::from))
    }

    /// Returns whether the pending frame becomes the result without a copy: it is a whole frame, of
    /// a type that turns into `Bytes` without a copy.
    fn is_handed_over(&self, frame: &mut impl Buf) -> bool {
        self.options.target == Target::Bytes
            && self.received <= self.bounds.limit
            && reserve::can_be_whole(
                frame.remaining(),
                self.received,
                self.expectation.length.value(),
            )
            && is_free_to_hand_over(frame)
    }

    /// Asks the budget for `bytes`, if there is a budget. After the last request, the body needs no
    /// more.
    fn poll_share(
        &mut self,
        cx: &mut Context<'_>,
        bytes: usize,
        is_last: bool,
    ) -> Poll<Result<Option<Share>, Refused>> {
        let Some(budget) = self.options.reader.get_budget() else {
            return Poll::Ready(Ok(None));
        };
        let claim = self.claim();
        let is_worth_waiting = !self.is_predicting() && !self.is_refused();
        let account = self.account.get_or_insert_with(|| budget.open(claim));
        let share = if is_worth_waiting {
            let Poll::Ready(share) = account.poll_share(cx, bytes as u64, is_last) else {
                self.awaited = Some(bytes as u64);
                // The sender has no part in this delay.
                self.period = None;
                return Poll::Pending;
            };
            share
        } else {
            account.try_share(bytes as u64, is_last).ok_or(Exhausted)
        };
        Poll::Ready(share.map(Some).map_err(|Exhausted| Refused::Budget(bytes as u64)))
    }

    /// Frees unused capacity, unless the budget has no room for the copy.
    pub(super) fn trim(&mut self) {
        if !self.content.has_slack(self.account.is_some()) {
            return;
        }
        match (self.options.target, &self.account) {
            // The caller can use the spare capacity of the buffer for the next body.
            (Target::Lent, _) => {}
            (Target::Bytes, Some(account)) => {
                if let Some(share) = account.try_share(self.content.len() as u64, true) {
                    self.content.trim(Some(share));
                }
            }
            // Without a budget, or when the content leaves the budget.
            _ => self.content.trim(None),
        }
    }

    pub(super) fn refused<E>(&mut self, refused: Refused) -> CollectError<E> {
        let received = self.received;
        let partial = self.take_partial();
        match refused {
            Refused::Memory(requested) => {
                CollectError::OutOfMemory { requested, received, partial }
            }
            Refused::Budget(requested) => {
                let budget = self.options.reader.get_budget().map_or(0, MemoryBudget::capacity);
                CollectError::Budget { requested, budget, received, partial }
            }
        }
    }
}

/// Returns whether `copy_to_bytes` returns the memory of `data` without a copy.
///
/// For types other than `Bytes` it allocates, and aborts if there is no memory. A call for 0 bytes
/// shows the difference and costs nothing: `Bytes` returns an empty slice of its own memory.
fn is_free_to_hand_over(data: &mut impl Buf) -> bool {
    data.chunk().len() == data.remaining()
        && data.chunk().as_ptr() == data.copy_to_bytes(0).as_ptr()
}
