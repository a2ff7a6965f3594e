//! The memory of one case.

use std::array;

/// What one body costs in memory.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Memory {
    /// Allocations of 4 KiB and more for one body.
    pub(crate) large: f64,
    /// Bytes allocated for one body.
    pub(crate) allocated: f64,
    /// The most bytes alive at one time, above those before the connection.
    pub(crate) peak: f64,
    /// The largest growth of the resident memory of the process.
    pub(crate) resident: f64,
    /// Bytes that the content keeps alive after the connection is closed.
    pub(crate) kept: f64,
}

impl From<[f64; 5]> for Memory {
    fn from([large, allocated, peak, resident, kept]: [f64; 5]) -> Self {
        Self { large, allocated, peak, resident, kept }
    }
}

impl IntoIterator for Memory {
    type Item = f64;
    type IntoIter = array::IntoIter<f64, 5>;

    fn into_iter(self) -> Self::IntoIter {
        [self.large, self.allocated, self.peak, self.resident, self.kept].into_iter()
    }
}
