//! The figures of a benchmark, each with the bar that it has to meet.

use std::fmt;

use crate::table::Table;

/// Returns whether the benchmark only has to run once, and its figures do not matter:
/// `cargo bench -- --test` and `cargo test --benches`.
pub fn is_trial() -> bool {
    let has = |flag| std::env::args().any(|argument| argument == flag);
    has("--test") || !has("--bench")
}

/// The figures of one run, in the order in which they were added.
#[derive(Debug, Default)]
pub struct Bars(Vec<Bar>);

#[derive(Debug)]
struct Bar {
    figure: String,
    value: f64,
    bound: Option<Bound>,
}

#[derive(Debug)]
enum Bound {
    AtMost(f64),
    Exactly(f64),
}

impl Bars {
    /// Adds a figure that must not be above `bar`.
    pub fn at_most(&mut self, figure: impl Into<String>, value: f64, bar: f64) {
        self.0.push(Bar { figure: figure.into(), value, bound: Some(Bound::AtMost(bar)) });
    }

    /// Adds a figure that must be equal to `bar`.
    pub fn exactly(&mut self, figure: impl Into<String>, value: f64, bar: f64) {
        self.0.push(Bar { figure: figure.into(), value, bound: Some(Bound::Exactly(bar)) });
    }

    /// Adds a figure without a bar, for comparison.
    pub fn beside(&mut self, figure: impl Into<String>, value: f64) {
        self.0.push(Bar { figure: figure.into(), value, bound: None });
    }

    /// Returns whether every figure meets its bar.
    pub fn are_met(&self) -> bool {
        self.0.iter().all(Bar::is_met)
    }
}

impl Bar {
    fn is_met(&self) -> bool {
        match self.bound {
            None => true,
            Some(Bound::AtMost(bar)) => self.value <= bar,
            Some(Bound::Exactly(bar)) => self.value == bar,
        }
    }
}

impl fmt::Display for Bars {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut table = Table::new(1, [""; 4], ["figure", "value", "bar", ""]);
        table.rule();
        // A trial run omits cases, and their figures are NaN.
        for bar in self.0.iter().filter(|bar| !bar.value.is_nan()) {
            let verdict = if bar.is_met() { "met" } else { "MISSED" };
            let (bound, verdict) = match bar.bound {
                None => (String::new(), ""),
                Some(Bound::AtMost(most)) => (format!("≤ {most:.2}"), verdict),
                Some(Bound::Exactly(exact)) => (format!("= {exact:.2}"), verdict),
            };
            let value = format!("{:.2}", bar.value);
            table.row([bar.figure.clone(), value, bound, verdict.to_owned()]);
        }
        table.fmt(f)
    }
}
