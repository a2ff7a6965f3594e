//! The results of all calls.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use crate::call::Call;
use crate::proxy::Tally;
use crate::server::Server;
use crate::verdict::{End, Verdict};

/// The counts of the client, the server and the proxies.
#[derive(Debug)]
pub(crate) struct Report<'a> {
    calls: u32,
    proxies: [&'a Tally; 2],
    server: &'a Server,
    /// The calls go through tunnels.
    tunnelled: bool,
    right: u32,
    altered: u32,
    dropped: u32,
    /// By kind, and whether the function may have run.
    failed: BTreeMap<(&'static str, bool), u32>,
    /// The correct calls that needed more than one attempt.
    right_in_the_end: u32,
    /// The calls with an invalid result.
    wrong: Vec<String>,
}

impl<'a> Report<'a> {
    pub(crate) fn new(
        calls: u32,
        proxies: [&'a Tally; 2],
        server: &'a Server,
        tunnelled: bool,
    ) -> Self {
        Self {
            calls,
            proxies,
            server,
            tunnelled,
            right: 0,
            altered: 0,
            dropped: 0,
            failed: BTreeMap::new(),
            right_in_the_end: 0,
            wrong: Vec::new(),
        }
    }

    pub(crate) fn add(&mut self, call: &Call, verdict: &Verdict) {
        match verdict.end {
            End::Right => {
                self.right += 1;
                self.right_in_the_end += u32::from(verdict.attempts > Some(1));
            }
            End::Altered => self.altered += 1,
            End::Dropped => self.dropped += 1,
            End::Failed { kind, may_have_run } => {
                *self.failed.entry((kind, may_have_run)).or_default() += 1;
            }
            End::Wrong(_) => {}
        }
        let counts = &self.server.record.calls[call.number as usize];
        if let Err(reason) = verdict.verify(call, counts) {
            self.wrong.push(format!("{reason}\n    {call:?}"));
        }
    }

    /// Asserts that no result is invalid and that enough faults occurred.
    pub(crate) fn verify(&self) {
        for reason in self.wrong.iter().take(20) {
            println!("wrong: {reason}");
        }
        assert_eq!(self.wrong.len(), 0, "calls with an invalid result");
        assert_eq!(self.server.record.garbled.load(Relaxed), 0, "requests that no call sent");
        // More than a third of the tunnels end before the first request.
        let least = if self.tunnelled { self.calls / 10 } else { self.calls / 3 };
        assert!(self.right > least, "too few calls are correct");
        assert!(self.right_in_the_end > 0, "no call needed a second attempt");
        if self.tunnelled {
            for (place, count) in self.openings() {
                assert!(count > 0, "no connection ended {place} the response to CONNECT");
            }
        }
        let faults: u32 = self.faults().iter().map(|(_, count)| count).sum();
        assert!(faults > self.calls / 50, "only {faults} faults");
        for may_have_run in [false, true] {
            let failed = self.failed.keys().filter(|(_, may)| *may == may_have_run).count();
            assert!(failed > 2, "{failed} kinds of errors with may_have_run {may_have_run}");
        }
    }

    fn faults(&self) -> [(&'static str, u32); 9] {
        let sum = |count: fn(&Tally) -> &AtomicU32| {
            self.proxies.iter().map(|tally| count(tally).load(Relaxed)).sum()
        };
        [
            ("times without a listener", sum(|tally| &tally.deaf)),
            ("connections closed at once", sum(|tally| &tally.unwelcome)),
            ("connections closed because they were idle", sum(|tally| &tally.quiet)),
            ("delays", sum(|tally| &tally.delays)),
            ("dribbles", sum(|tally| &tally.dribbles)),
            ("cuts", sum(|tally| &tally.cuts)),
            ("resets", sum(|tally| &tally.resets)),
            ("stalls", sum(|tally| &tally.stalls)),
            ("duplicates", sum(|tally| &tally.duplicates)),
        ]
    }

    /// Returns the cuts and resets before, in and after the response to CONNECT.
    fn openings(&self) -> [(&'static str, u32); 3] {
        let sum = |place: usize| {
            self.proxies.iter().map(|tally| tally.openings[place].load(Relaxed)).sum()
        };
        [("before", sum(0)), ("in", sum(1)), ("after", sum(2))]
    }
}

impl fmt::Display for Report<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let record = &self.server.record;
        let (mut requests, mut runs) = (0, 0);
        for counts in &record.calls {
            requests += counts.requests.load(Relaxed);
            runs += counts.runs.load(Relaxed);
        }
        let connections: u32 =
            self.proxies.iter().map(|tally| tally.connections.load(Relaxed)).sum();
        writeln!(f, "{} calls over {connections} connections", self.calls)?;
        writeln!(f, "{requests} requests reached the server, which ran {runs}")?;
        writeln!(f, "{} correct, {} of them after a retry", self.right, self.right_in_the_end)?;
        writeln!(f, "{} altered in a way that cannot be detected", self.altered)?;
        writeln!(f, "{} dropped", self.dropped)?;
        for ((kind, may_have_run), count) in &self.failed {
            let or_not = if *may_have_run { "may have run" } else { "has not run" };
            writeln!(f, "{count} failed: {kind}, {or_not}")?;
        }
        for (what, count) in self.faults() {
            writeln!(f, "{count} {what}")?;
        }
        if self.tunnelled {
            for (place, count) in self.openings() {
                writeln!(f, "{count} cuts and resets {place} the response to CONNECT")?;
            }
        }
        Ok(())
    }
}
