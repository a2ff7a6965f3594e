//! One case: a client, and responses of one length.

use serde::{Deserialize, Serialize};

use super::{MIB, SIX_MIB, Way};
use crate::api::Endpoint;

/// A client, and the length of the responses in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Case {
    pub way: Way,
    pub length: u64,
}

impl Case {
    /// The number of calls for one reading of the clock.
    pub(super) fn batch(self) -> u64 {
        (4 * SIX_MIB / self.length).min(200)
    }

    /// The number of calls by each task while many are in flight.
    pub(super) fn calls_of_task(self) -> u64 {
        (10 * MIB / self.length).min(100)
    }
}

/// A case and its server, for the client process.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Job {
    pub(super) case: Case,
    pub(super) server: Endpoint,
}
