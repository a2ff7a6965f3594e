//! The content of all response bodies.

use bytes::Bytes;

use crate::Error;
use crate::server::Served;

/// The length after which the content repeats, in bytes. It is a prime, so a frame that is lost,
/// repeated or misplaced changes the content.
const PERIOD: usize = 65_521;

/// The content of a response body.
pub(crate) struct Content {
    period: Bytes,
}

impl Content {
    pub(crate) fn new() -> Self {
        let byte = |n: usize| (n.wrapping_mul(2_654_435_761) >> 13) as u8;
        Self { period: (0..PERIOD).map(byte).collect() }
    }

    /// Returns at most `max` bytes of the content from position `at`.
    pub(crate) fn slice(&self, at: u64, max: usize) -> Bytes {
        let start = (at % PERIOD as u64) as usize;
        self.period.slice(start..PERIOD.min(start + max))
    }

    /// Fails if a whole body has another length or other bytes than the server sent.
    pub(crate) fn check(&self, body: &[u8], served: Served) -> Result<(), Error> {
        if body.len() as u64 != served.sent {
            return Err(format!("{} bytes of {served} were read", body.len()).into());
        }
        if body.chunks(PERIOD).any(|chunk| chunk != &self.period[..chunk.len()]) {
            return Err(format!("{served} was not read as it was sent").into());
        }
        Ok(())
    }
}
