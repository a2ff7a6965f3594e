//! The tables of BENCHMARKS.md.

use std::io;

use presized_benches::markdown::{Markdown, count, ratio, several};
use presized_benches::record;
use presized_support::table;

use crate::case::{KIB, SIX_MIB, Transport, Way};
use crate::outcome::Outcomes;

/// Writes a table for each question.
pub(crate) fn write(states: &[Outcomes], lengths: &[u64]) -> io::Result<()> {
    let tables = Tables { states, lengths };
    record::table("declared", &tables.of_transport(Transport::Http1, Way::Pool))?;
    record::table("chunked", &tables.of_transport(Transport::Chunked, Way::PoolHistory))?;
    record::table("pool", &tables.pool())
}

struct Tables<'a> {
    states: &'a [Outcomes],
    lengths: &'a [u64],
}

impl Tables<'_> {
    /// The lengths of the tables. The others are in the CSV file.
    fn rows(&self) -> impl Iterator<Item = u64> {
        self.lengths.iter().copied().filter(|&length| length != 64 * KIB)
    }

    /// All lengths over one transport. The figures of a cell are those of the three states.
    fn of_transport(&self, transport: Transport, pooled: Way) -> Markdown {
        let mut table = Markdown::new([
            "body",
            "CPU ÷ `collect()`",
            if pooled == Way::Pool { "warm pool" } else { "warm pool and history" },
            "resident ÷ body: `collect()`, presized",
            "page faults, returned: `collect()`, presized, pool",
        ]);
        for length in self.rows() {
            let cpu = |way| {
                let ratios = self
                    .states
                    .iter()
                    .map(|one| one.cpu_ratio(transport, length, way, Way::Collect));
                several(ratios, ratio)
            };
            // The first state is the default, and the last returns freed memory.
            let resident = [Way::Collect, Way::Presized].map(|way| {
                let first = self.states.first();
                first.map_or(f64::NAN, |one| one.memory(transport, length, way, |one| one.resident))
            });
            let faults = [Way::Collect, Way::Presized, pooled].map(|way| {
                self.states.last().map_or(f64::NAN, |one| one.faults(transport, length, way))
            });
            table.row([
                table::bytes(length),
                cpu(Way::Presized),
                cpu(pooled),
                if length < SIX_MIB { String::new() } else { several(resident, ratio) },
                several(faults, count),
            ]);
        }
        table
    }

    /// The figures of a warm pool for bodies of 6 MiB, in each state.
    fn pool(&self) -> Markdown {
        let ways = [Way::Collect, Way::Presized, Way::Pool, Way::ReadInto];
        let mut table =
            Markdown::new(["allocator", "page faults", "bytes allocated ÷ body", "CPU ÷ read(2)"]);
        for outcomes in self.states {
            for length in self.rows().filter(|&length| length == SIX_MIB) {
                let transport = Transport::Http1;
                let allocated =
                    |way| outcomes.memory(transport, length, way, |memory| memory.allocated);
                table.row([
                    outcomes.allocator.name.to_owned(),
                    several(ways.map(|way| outcomes.faults(transport, length, way)), count),
                    several(ways.map(allocated), ratio),
                    several(
                        ways.map(|way| outcomes.cpu_ratio(transport, length, way, Way::ReadInto)),
                        ratio,
                    ),
                ]);
            }
        }
        table
    }
}
