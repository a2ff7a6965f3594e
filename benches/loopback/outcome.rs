//! The measurements of the cases.

use presized_benches::allocator::Allocator;
use presized_support::table::median;

use crate::case::{Case, Transport, Way};
use crate::memory::Memory;

/// The measurements of one case.
pub(crate) struct Outcome {
    pub(crate) case: Case,
    pub(crate) memory: Memory,
    /// Seconds for one body, in each round.
    pub(crate) cpu: Vec<f64>,
    /// Page faults for one body, in each round.
    pub(crate) faults: Vec<f64>,
}

impl Outcome {
    /// Divides a figure of the memory by the length of the body.
    pub(crate) fn of_body(&self, figure: fn(&Memory) -> f64) -> f64 {
        figure(&self.memory) / self.case.length as f64
    }
}

/// All cases in one state of the allocator.
pub(crate) struct Outcomes {
    pub(crate) allocator: Allocator,
    pub(crate) all: Vec<Outcome>,
}

impl Outcomes {
    pub(crate) fn find(&self, transport: Transport, length: u64, way: Way) -> Option<&Outcome> {
        self.all.iter().find(|one| one.case == Case { transport, length, way })
    }

    /// Returns a figure of the memory, divided by the length of the body. It is NaN if a trial run
    /// has left the case out.
    pub(crate) fn memory(
        &self,
        transport: Transport,
        length: u64,
        way: Way,
        figure: fn(&Memory) -> f64,
    ) -> f64 {
        self.find(transport, length, way).map_or(f64::NAN, |one| one.of_body(figure))
    }

    /// Returns the median of the page faults of one body.
    pub(crate) fn faults(&self, transport: Transport, length: u64, way: Way) -> f64 {
        let outcome = self.find(transport, length, way);
        outcome.map_or(f64::NAN, |one| median(one.faults.iter().copied()))
    }

    /// Returns the median over the rounds of the CPU time of `way` ÷ that of `peer` in the same
    /// round.
    pub(crate) fn cpu_ratio(&self, transport: Transport, length: u64, way: Way, peer: Way) -> f64 {
        let cpu = |way| self.find(transport, length, way).map_or(&[][..], |one| &one.cpu);
        median(cpu(way).iter().zip(cpu(peer)).map(|(way, peer)| way / peer))
    }
}
