//! Figures beside the bar that each has to reach.

use std::fmt;

use crate::table::Table;

/// Whether the caller wants to see that a benchmark works, and no figures:
/// `cargo bench -- --test` and `cargo test --benches`.
pub fn is_trial() -> bool {
    let has = |flag| std::env::args().any(|argument| argument == flag);
    has("--test") || !has("--bench")
}

/// Figures of one run, in the order they were added.
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
    /// A figure that must not be above `bar`.
    pub fn at_most(&mut self, figure: impl Into<String>, value: f64, bar: f64) {
        self.0.push(Bar { figure: figure.into(), value, bound: Some(Bound::AtMost(bar)) });
    }

    /// A figure that must be `bar`, neither more nor less.
    pub fn exactly(&mut self, figure: impl Into<String>, value: f64, bar: f64) {
        self.0.push(Bar { figure: figure.into(), value, bound: Some(Bound::Exactly(bar)) });
    }

    /// A figure to compare with.
    pub fn beside(&mut self, figure: impl Into<String>, value: f64) {
        self.0.push(Bar { figure: figure.into(), value, bound: None });
    }
}

impl fmt::Display for Bars {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut table = Table::new(1, [""; 4], ["figure", "value", "bar", ""]);
        table.rule();
        // A trial run leaves cases out, and their figures are not numbers.
        for Bar { figure, value, bound } in self.0.iter().filter(|bar| !bar.value.is_nan()) {
            let (bar, met) = match *bound {
                None => (String::new(), ""),
                Some(Bound::AtMost(bar)) => (format!("≤ {bar:.2}"), verdict(*value <= bar)),
                Some(Bound::Exactly(bar)) => (format!("= {bar:.2}"), verdict(*value == bar)),
            };
            table.row([figure.clone(), format!("{value:.2}"), bar, met.to_owned()]);
        }
        table.fmt(f)
    }
}

fn verdict(met: bool) -> &'static str {
    if met { "met" } else { "MISSED" }
}
