//! The charts of a run, one for each question.

use std::io;

use presized_benches::allocator::{DEFAULT, RETURNED};
use presized_benches::chart::{Chart, Color, Panel};
use presized_benches::record;
use presized_support::table;

use crate::case::{MIB, SIX_MIB, Transport, Way};
use crate::outcome::Outcomes;

/// Draws the charts. A trial run has no body of 6 MiB, and its titles are about 1 MiB.
pub(crate) fn draw(states: &[Outcomes], lengths: &[u64]) -> io::Result<()> {
    let state = |wanted| states.iter().find(|outcomes| outcomes.allocator == wanted);
    let (Some(default), Some(returned)) = (state(DEFAULT), state(RETURNED)) else {
        return Ok(());
    };
    let charts = Charts { states, default, returned, lengths };
    record::chart("loopback-declared", &charts.declared())?;
    record::chart("loopback-chunked", &charts.chunked())?;
    record::chart("loopback-tls", &charts.tls())?;
    record::chart("loopback-pool", &charts.pool())
}

struct Charts<'a> {
    states: &'a [Outcomes],
    default: &'a Outcomes,
    returned: &'a Outcomes,
    lengths: &'a [u64],
}

const NOTE: &str = "hyper over loopback, medians. Default: glibc without settings. Returned: freed \
    memory goes back to the kernel. The dashed line is the peer.";

impl Charts<'_> {
    fn declared(&self) -> Chart {
        let ways = [Way::Collect, Way::Presized, Way::Pool];
        self.of_transport("Declared length", Transport::Http1, &ways)
    }

    fn chunked(&self) -> Chart {
        let ways = [Way::Collect, Way::Presized, Way::Pool, Way::PoolHistory];
        self.of_transport("Chunked", Transport::Chunked, &ways)
    }

    fn tls(&self) -> Chart {
        let ways = [Way::Collect, Way::Presized, Way::Pool];
        let title = format!(
            "TLS: presized takes {} with a declared length, {} chunked",
            self.finding(Transport::Tls, Way::Presized),
            table::times(self.ratio(Transport::TlsChunked, Way::Presized)),
        );
        let cases = [(Transport::Tls, ""), (Transport::TlsChunked, ", chunked")];
        let cases: Vec<_> = cases
            .into_iter()
            .flat_map(|(transport, suffix)| {
                self.lengths.iter().map(move |&length| (transport, length, suffix))
            })
            .collect();
        let values = |figure: &dyn Fn(Transport, u64, Way) -> f64| {
            let of_case = |&(transport, length, _): &(Transport, u64, _)| {
                ways.map(|way| figure(transport, length, way)).into()
            };
            cases.iter().map(of_case).collect::<Vec<Vec<f64>>>()
        };
        let cpu = |outcomes: &Outcomes| {
            values(&|transport, length, way| {
                outcomes.cpu_ratio(transport, length, way, Way::Collect)
            })
        };
        let names = cases.iter().map(|(_, length, suffix)| table::bytes(*length) + suffix);
        legend(Chart::new(title, NOTE), &ways)
            .groups(names)
            .panel(Panel::new("CPU time, default", RATIO, cpu(self.default)).reference(1.0))
            .panel(Panel::new("CPU time, returned", RATIO, cpu(self.returned)).reference(1.0))
            .panel(Panel::new(
                "resident memory, default",
                "÷ length of the body",
                values(&|transport, length, way| self.resident(transport, length, way)),
            ))
    }

    fn pool(&self) -> Chart {
        let ways = [Way::Collect, Way::Presized, Way::Pool, Way::ReadInto];
        let length = self.subject();
        let pooled = self.returned.faults(Transport::Http1, length, Way::Pool);
        let peer = self.returned.faults(Transport::Http1, length, Way::Collect);
        let title = format!(
            "Warm pool: {pooled:.0} page faults for {} where collect().to_bytes() takes {peer:.0}",
            table::bytes(length),
        );
        let cases = || {
            let large = self.lengths.iter().copied().filter(|&length| length >= MIB);
            large.flat_map(|length| self.states.iter().map(move |outcomes| (outcomes, length)))
        };
        let values = |figure: fn(&Outcomes, u64, Way) -> f64| {
            let of_case = move |(outcomes, length)| ways.map(|way| figure(outcomes, length, way));
            cases().map(move |case| of_case(case).into())
        };
        legend(
            Chart::new(title, "HTTP/1.1 with a declared length, in each allocator state."),
            &ways,
        )
        .groups(cases().map(|(outcomes, length)| {
            format!("{} {}", table::bytes(length), outcomes.allocator.name)
        }))
        .panel(
            Panel::new("page faults", "for each MiB of the body", values(faults_of_mib))
                .labelled(whole),
        )
        .panel(Panel::new(
            "bytes allocated",
            "÷ length of the body",
            values(|outcomes, length, way| {
                outcomes.memory(Transport::Http1, length, way, |memory| memory.allocated)
            }),
        ))
        .panel(
            Panel::new(
                "CPU time",
                RATIO,
                values(|outcomes, length, way| {
                    outcomes.cpu_ratio(Transport::Http1, length, way, Way::Collect)
                }),
            )
            .reference(1.0),
        )
    }

    /// The figures of all lengths over one transport.
    fn of_transport(&self, subject: &str, transport: Transport, ways: &[Way]) -> Chart {
        let title = format!(
            "{subject}: presized takes {}, {} with a warm pool",
            self.finding(transport, Way::Presized),
            table::times(self.ratio(transport, Way::Pool)),
        );
        let values = |figure: &dyn Fn(u64, Way) -> f64| {
            let of_length =
                |&length: &u64| ways.iter().map(|&way| figure(length, way)).collect::<Vec<_>>();
            self.lengths.iter().map(of_length).collect::<Vec<_>>()
        };
        let cpu = |outcomes: &Outcomes| {
            values(&|length, way| outcomes.cpu_ratio(transport, length, way, Way::Collect))
        };
        legend(Chart::new(title, NOTE), ways)
            .groups(self.lengths.iter().map(|&length| table::bytes(length)))
            .panel(Panel::new("CPU time, default", RATIO, cpu(self.default)).reference(1.0))
            .panel(Panel::new("CPU time, returned", RATIO, cpu(self.returned)).reference(1.0))
            .panel(Panel::new(
                "resident memory, default",
                "÷ length of the body",
                values(&|length, way| self.resident(transport, length, way)),
            ))
            .panel(
                Panel::new(
                    "page faults, returned",
                    "for each MiB of the body",
                    values(&|length, way| {
                        let faults = self.returned.faults(transport, length, way);
                        large(length, faults * MIB as f64 / length as f64)
                    }),
                )
                .labelled(whole),
            )
    }

    /// The length that titles are about.
    fn subject(&self) -> u64 {
        if self.lengths.contains(&SIX_MIB) { SIX_MIB } else { MIB }
    }

    /// Returns resident memory ÷ the length of a body. For smaller bodies, the pages of the program
    /// itself are most of it.
    fn resident(&self, transport: Transport, length: u64, way: Way) -> f64 {
        if length < self.subject() {
            return f64::NAN;
        }
        self.default.memory(transport, length, way, |memory| memory.resident)
    }

    fn ratio(&self, transport: Transport, way: Way) -> f64 {
        self.default.cpu_ratio(transport, self.subject(), way, Way::Collect)
    }

    fn finding(&self, transport: Transport, way: Way) -> String {
        format!(
            "{} the CPU time of collect().to_bytes() at {}",
            table::times(self.ratio(transport, way)),
            table::bytes(self.subject()),
        )
    }
}

const RATIO: &str = "÷ collect().to_bytes()";

fn faults_of_mib(outcomes: &Outcomes, length: u64, way: Way) -> f64 {
    outcomes.faults(Transport::Http1, length, way) * MIB as f64 / length as f64
}

/// Leaves a figure out for small bodies, where the buffers of hyper are most of it.
fn large(length: u64, figure: f64) -> f64 {
    if length < MIB { f64::NAN } else { figure }
}

fn whole(value: f64) -> String {
    format!("{value:.0}")
}

fn legend(chart: Chart, ways: &[Way]) -> Chart {
    let color = |way| match way {
        Way::Collect => Color::Grey,
        Way::Pool => Color::Green,
        Way::PoolHistory => Color::Purple,
        Way::ReadInto => Color::LightGrey,
        _ => Color::Blue,
    };
    ways.iter().fold(chart, |chart, &way| chart.series(way.name(), color(way)))
}
