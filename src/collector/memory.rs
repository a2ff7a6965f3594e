//! Room for what has arrived: from the allocator, a pool, and within a budget.
//!
//! How much is asked for is decided in `reserve.rs`; when it is asked for, in the loop.

use std::task::{Context, Poll, ready};

use bytes::Buf;

use super::Collector;
use crate::bank::Exhausted;
use crate::budget::Share;
use crate::content::OutOfMemory;
use crate::options::Target;
use crate::reserve::{self, Step};
use crate::{CollectError, MemoryBudget};

/// Why there is no room for this many bytes.
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
    /// Puts what is in hand behind what is there.
    pub(super) fn poll_store<E>(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Result<(), CollectError<E>>> {
        let Some(mut data) = self.in_hand.take() else {
            return Poll::Ready(Ok(()));
        };
        let arrived = self.received.min(self.options.bounds.limit);
        if self.is_handed_over(&mut data) {
            self.content.hold(data.copy_to_bytes(data.remaining()));
            return Poll::Ready(Ok(()));
        }
        self.content.fill(&mut data);
        while data.has_remaining() {
            if self.content.has_room() {
                // It claims to have bytes, and gives none.
                return Poll::Ready(Err(self.stalled()));
            }
            let held = self.content.capacity() as u64;
            let step = match self.options.bounds.next(self.expected, held, arrived) {
                Ok(step) => step,
                Err(bytes) => return Poll::Ready(Err(self.refused(Refused::Memory(bytes)))),
            };
            let Poll::Ready(reserved) = self.poll_reserve(cx, step) else {
                self.in_hand = Some(data);
                return Poll::Pending;
            };
            match reserved {
                Ok(()) => self.content.fill(&mut data),
                // What is only a guess makes no error: without it less may do.
                Err(_) if self.is_guessing() => self.expected = None,
                // Of a body that is refused, what there is room for is kept.
                Err(Refused::Budget(_)) if self.is_refused() => return Poll::Ready(Ok(())),
                Err(refused) => return Poll::Ready(Err(self.refused(refused))),
            }
        }
        Poll::Ready(Ok(()))
    }

    /// Whether more is expected than is known to come.
    fn is_guessing(&self) -> bool {
        self.expected.is_some() && self.exact().is_none()
    }

    /// Whether the body is over the limit, and ends in an error for that.
    fn is_refused(&self) -> bool {
        self.received > self.options.bounds.limit && !self.options.prefix
    }

    /// Makes room, once the budget has given a share for it.
    fn poll_reserve(&mut self, cx: &mut Context<'_>, step: Step) -> Poll<Result<(), Refused>> {
        let size = match step {
            Step::Grow(size) | Step::Append(size) => size,
        };
        let share = ready!(self.poll_share(cx, self.content.share_of(size)))?;
        Poll::Ready(self.content.reserve(step, share).map_err(Refused::from))
    }

    /// Whether what is in hand is handed over as it is: all of a frame, which cut would keep
    /// the rest of it alive, and of a type that is not copied to be `Bytes`.
    fn is_handed_over(&self, frame: &mut impl Buf) -> bool {
        self.options.target == Target::Bytes
            && self.received <= self.options.bounds.limit
            && reserve::can_be_whole(
                frame.remaining(),
                self.received,
                self.options.content_length.value(),
            )
            && is_free_to_hand_over(frame)
    }

    /// Asks the budget, where there is one, for `bytes`.
    fn poll_share(
        &mut self,
        cx: &mut Context<'_>,
        bytes: usize,
    ) -> Poll<Result<Option<Share>, Refused>> {
        let Some(budget) = &self.options.reuse.budget else {
            return Poll::Ready(Ok(None));
        };
        let claim = self.claim();
        let is_worth_waiting = !self.is_guessing() && !self.is_refused();
        let account = self.account.get_or_insert_with(|| budget.open(claim));
        let share = if is_worth_waiting {
            ready!(account.poll_share(cx, bytes as u64))
        } else {
            account.try_share(bytes as u64).ok_or(Exhausted)
        };
        Poll::Ready(share.map(Some).map_err(|Exhausted| Refused::Budget(bytes as u64)))
    }

    /// Makes one block of several.
    pub(super) fn poll_join(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Refused>> {
        let size = self.options.bounds.joined(self.content.len() as u64);
        let size = size.map_err(Refused::Memory)?;
        let share = ready!(self.poll_share(cx, self.content.share_of(size)))?;
        Poll::Ready(self.content.join(size, share).map_err(Refused::from))
    }

    /// Lets go of slack, unless there is no room in the budget for the moment of the copy.
    pub(super) fn trim(&mut self) {
        if !self.content.has_slack() {
            return;
        }
        match (self.options.target, &self.account) {
            // What the caller's buffer has left over serves the next body.
            (Target::Lent, _) => {}
            (Target::Bytes, Some(account)) => {
                if let Some(share) = account.try_share(self.content.len() as u64) {
                    self.content.trim(Some(share));
                }
            }
            // Without a budget, or on the way out of it.
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
                let budget = self.options.reuse.budget.as_ref().map_or(0, MemoryBudget::capacity);
                CollectError::Budget { requested, budget, received, partial }
            }
        }
    }
}

/// Whether `copy_to_bytes` gives out the memory that `data` is in.
///
/// For other types than `Bytes` it allocates, and aborts where there is no memory. What it
/// makes of no bytes at all shows which it is, and costs nothing: `Bytes` gives an empty
/// slice of its own memory.
fn is_free_to_hand_over(data: &mut impl Buf) -> bool {
    data.chunk().len() == data.remaining()
        && data.chunk().as_ptr() == data.copy_to_bytes(0).as_ptr()
}
