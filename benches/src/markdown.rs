//! Tables of BENCHMARKS.md.

use std::fmt;

/// A table in Markdown.
#[derive(Clone, Debug)]
pub struct Markdown {
    text: String,
    columns: usize,
}

impl Markdown {
    /// Creates a table with this header.
    pub fn new<const N: usize>(header: [&str; N]) -> Self {
        let mut table = Self { text: String::new(), columns: N };
        table.row(header.map(str::to_owned));
        table.row([const { "---" }; N].map(str::to_owned));
        table
    }

    /// Adds a row.
    ///
    /// # Panics
    ///
    /// Panics if the row has another number of cells than the header.
    pub fn row<const N: usize>(&mut self, cells: [String; N]) {
        assert_eq!(N, self.columns, "each row has one cell for each column");
        self.text.push_str(&format!("| {} |\n", cells.join(" | ")));
    }
}

impl fmt::Display for Markdown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Formats a ratio, such as `0.60`. A figure that was not measured is a dash.
pub fn ratio(value: f64) -> String {
    if value.is_finite() { format!("{value:.2}") } else { "–".to_owned() }
}

/// Formats several figures in one cell, such as `0.60 / 0.71 / 0.62`.
pub fn several(values: impl IntoIterator<Item = f64>, format: fn(f64) -> String) -> String {
    values.into_iter().map(format).collect::<Vec<_>>().join(" / ")
}

/// Formats a number of page faults, such as `1,537`.
pub fn count(value: f64) -> String {
    if !value.is_finite() {
        return "–".to_owned();
    }
    let digits = format!("{value:.0}");
    let groups: Vec<_> = digits.as_bytes().rchunks(3).rev().map(String::from_utf8_lossy).collect();
    groups.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_has_a_header_and_rows() {
        let mut table = Markdown::new(["body", "CPU"]);
        table.row(["6 MiB".to_owned(), several([0.6, f64::NAN], ratio)]);
        assert_eq!(table.to_string(), "| body | CPU |\n| --- | --- |\n| 6 MiB | 0.60 / – |\n");
    }

    #[test]
    fn counts_have_groups_of_three_digits() {
        for (value, expected) in [(0.0, "0"), (999.6, "1,000"), (16385.0, "16,385")] {
            assert_eq!(count(value), expected);
        }
    }
}
