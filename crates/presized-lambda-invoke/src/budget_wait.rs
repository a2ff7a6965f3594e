//! The wait of a call for the memory budget of its reader.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use http_body_util::Full;
use presized::{Collect, CollectError, MemoryBudget, Reader};
use tokio::time::{Instant, Sleep, sleep_until};

use super::{Error, ErrorKind};

/// The waits of one call for its memory budget, before it is sent and while its response is read.
#[derive(Debug)]
pub(super) struct BudgetWait {
    budget: MemoryBudget,
    /// The time of all waits that have ended, in nanoseconds.
    waited: AtomicU64,
    /// True after the wait of this call was logged.
    logged: AtomicBool,
}

impl BudgetWait {
    /// Returns `None` if the reader has no budget.
    pub(super) fn of(reader: &Reader) -> Option<Arc<Self>> {
        let budget = reader.get_budget()?.clone();
        Some(Arc::new(Self { budget, waited: AtomicU64::new(0), logged: AtomicBool::new(false) }))
    }

    /// Returns the time that the call has waited.
    pub(super) fn waited(&self) -> Duration {
        Duration::from_nanos(self.waited.load(Ordering::Relaxed))
    }

    /// Waits until a response of one byte would not have to wait, and returns false at the
    /// deadline.
    ///
    /// The budget then has a free byte, and no earlier response waits. The response of a function
    /// that runs while others wait for memory would only wait too.
    pub(super) async fn has_room(&self, deadline: Instant) -> bool {
        if self.budget.in_use() == 0 {
            return true;
        }
        let byte = Full::new(Bytes::from_static(b"0"));
        let watch = Watch::default();
        let read = Collect::new(watch.body(byte), Reader::new(1).budget(&self.budget));
        let read = read.until(sleep_until(deadline)).bytes();
        // A handle that fails fast does not wait, and then the response decides.
        !matches!(self.watched(&watch, read).await, Err(CollectError::Stopped { .. }))
    }

    /// Runs a read of the body that `watch` observes, and records how long it waits.
    pub(super) async fn watched<T>(&self, watch: &Watch, read: impl Future<Output = T>) -> T {
        let mut read = pin!(read);
        let mut waiting: Option<Waiting<'_>> = None;
        poll_fn(|cx| {
            watch.begin_poll();
            let polled = read.as_mut().poll(cx);
            if polled.is_pending() && watch.is_waiting() {
                waiting.get_or_insert_with(|| Waiting::new(self)).log_if_long(cx);
            } else {
                waiting = None;
            }
            polled
        })
        .await
    }

    /// Makes the error of a call whose deadline passed. `requested` is the number of bytes that its
    /// response waited for, or `None` if the call was not sent.
    pub(super) fn error(&self, after: Duration, requested: Option<u64>) -> Error {
        let (capacity, in_use) = (self.budget.capacity(), self.budget.in_use());
        let kind = ErrorKind::BudgetFull { after, requested, capacity, in_use };
        Error::new(kind, requested.is_some())
    }
}

/// A wait that has begun. Dropping it ends the wait.
struct Waiting<'a> {
    call: &'a BudgetWait,
    since: Instant,
    /// Ends when the wait is long enough for the log.
    long: Pin<Box<Sleep>>,
}

impl<'a> Waiting<'a> {
    fn new(call: &'a BudgetWait) -> Self {
        let since = Instant::now();
        Self { call, since, long: Box::pin(sleep_until(since + LONG)) }
    }

    fn log_if_long(&mut self, cx: &mut Context<'_>) {
        if self.call.logged.load(Ordering::Relaxed) || self.long.as_mut().poll(cx).is_pending() {
            return;
        }
        self.call.logged.store(true, Ordering::Relaxed);
        tracing::warn!(
            capacity = self.call.budget.capacity(),
            in_use = self.call.budget.in_use(),
            "call has waited {LONG:?} for the memory budget: use a larger budget, fewer calls at a \
             time or a smaller limit"
        );
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        let nanos = u64::try_from(self.since.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.call.waited.fetch_add(nanos, Ordering::Relaxed);
    }
}

/// Observes a body to tell whether its read waits for the body or for memory.
#[derive(Debug, Default)]
pub(super) struct Watch {
    /// True while the read waits for a frame of the body.
    pending: AtomicBool,
    /// The frames of the current poll and their bytes, as the reader weighs them.
    weight: AtomicU64,
}

impl Watch {
    /// Returns the body that the read must use.
    pub(super) fn body<B>(&self, body: B) -> Watched<'_, B> {
        Watched { body, watch: self }
    }

    fn begin_poll(&self) {
        self.pending.store(false, Ordering::Relaxed);
        self.weight.store(0, Ordering::Relaxed);
    }

    /// Returns whether a read whose poll has ended without a result waits for memory. Otherwise it
    /// waits for the body, or it has yielded to other tasks.
    fn is_waiting(&self) -> bool {
        !self.pending.load(Ordering::Relaxed) && self.weight.load(Ordering::Relaxed) < YIELD
    }
}

/// A body that is observed.
#[derive(Debug)]
pub(super) struct Watched<'a, B> {
    body: B,
    watch: &'a Watch,
}

impl<B: Body<Data = Bytes> + Unpin> Body for Watched<'_, B> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        let watch = self.watch;
        watch.pending.store(true, Ordering::Relaxed);
        let next = ready!(Pin::new(&mut self.body).poll_frame(cx));
        watch.pending.store(false, Ordering::Relaxed);
        let frame = next.as_ref().and_then(|next| next.as_ref().ok());
        let bytes = frame.and_then(Frame::data_ref).map_or(0, Bytes::len) as u64;
        watch.weight.fetch_add(FRAME + bytes, Ordering::Relaxed);
        Poll::Ready(next)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// The wait after which the log has a warning.
const LONG: Duration = Duration::from_secs(1);

/// The weight of one poll at which a read yields to other tasks, and the weight of a frame without
/// its bytes. [`Collect`] documents both.
const YIELD: u64 = 1 << 20;
const FRAME: u64 = 4 << 10;
