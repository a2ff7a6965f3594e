//! The minimum rate at which a body must arrive.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

/// The minimum rate at which a body must arrive: a number of bytes in each period.
///
/// Set it with [`Reader::min_rate`](crate::Reader::min_rate). A body that is slower fails with
/// [`CollectError::TooSlow`](crate::CollectError::TooSlow), and the error has the bytes that had
/// arrived. A server responds to such a request with 408 Request Timeout.
///
/// # Periods
///
/// A period starts when the read has to wait for the body. It ends when the bytes of the rate have
/// arrived. The next period starts when the read has to wait again. If the time of a period is over
/// first, the body is too slow. The read takes the bytes that have arrived before it checks the
/// time, and a body that has ended is never too slow.
///
/// A read therefore waits for a body of n bytes for at most n ÷ `bytes` + 1 periods. The limit of
/// the reader bounds n.
///
/// With 1 byte, this is an idle timeout: each byte that arrives ends the period.
///
/// # What does not count
///
/// While a body waits for a share of a [`MemoryBudget`](crate::MemoryBudget), no period runs,
/// because the sender is not the cause. A new period starts when the read waits for the body
/// again. Over HTTP/2, a body that waits for memory can stop the other bodies of its connection;
/// [`MemoryBudget`](crate::MemoryBudget) says how to prevent that.
///
/// # Bodies that read another body
///
/// A body that yields its whole content at once, such as [`Presized`](crate::Presized), is not
/// ready until then. The read cannot see what arrives below, so such a body is idle and then too
/// slow. Set the rate on the reader that reads from the transport, and on no reader around it.
///
/// # Clock
///
/// This crate has no clock. `sleep` returns a future that is ready after a duration, such as
/// `tokio::time::sleep`. It is called within the read, once for each period, and not for a body
/// that is always ready. The future is boxed.
///
/// # Examples
///
/// Two common rules, with the clock of tokio:
///
/// ```
/// use std::time::Duration;
///
/// use presized::{MinRate, Reader};
/// use tokio::time::sleep;
///
/// // Stops a body of which no byte arrives for 10 s.
/// let idle = MinRate::new(1, Duration::from_secs(10), sleep);
/// // Stops a body that is slower than 1 KiB/s on average over 30 s.
/// let slow = MinRate::new(30 << 10, Duration::from_secs(30), sleep);
///
/// let client = Reader::new(8 << 20).min_rate(idle);
/// let server = Reader::new(1 << 20).min_rate(slow);
/// # let _ = (client, server);
/// ```
#[derive(Clone)]
pub struct MinRate {
    // One pointer, because every read moves its reader a few times.
    rule: Arc<Rule>,
}

struct Rule {
    bytes: u64,
    period: Duration,
    sleep: Box<dyn Fn(Duration) -> Sleep + Send + Sync>,
}

/// A future that is ready when a period is over. It is `Sync`, so that a body that has one is
/// `Sync`.
pub(crate) type Sleep = Pin<Box<dyn Future<Output = ()> + Send + Sync>>;

impl MinRate {
    /// Creates the rate of `bytes` bytes in each `period`. `sleep` returns a future that is ready
    /// after the duration that it is given. The output of the future is ignored.
    ///
    /// With 0 bytes, no body is too slow.
    pub fn new<S, T>(bytes: u64, period: Duration, sleep: S) -> Self
    where
        S: Fn(Duration) -> T + Send + Sync + 'static,
        T: Future + Send + Sync + 'static,
    {
        let sleep = Box::new(move |period| -> Sleep {
            let sleep = sleep(period);
            Box::pin(async {
                sleep.await;
            })
        });
        Self { rule: Arc::new(Rule { bytes, period, sleep }) }
    }

    /// Returns the bytes that must arrive in each period.
    pub fn bytes(&self) -> u64 {
        self.rule.bytes
    }

    /// Returns the length of a period.
    pub fn period(&self) -> Duration {
        self.rule.period
    }

    pub(crate) fn sleep(&self) -> Sleep {
        (self.rule.sleep)(self.rule.period)
    }
}

impl fmt::Debug for MinRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MinRate")
            .field("bytes", &self.bytes())
            .field("period", &self.period())
            .finish_non_exhaustive()
    }
}
