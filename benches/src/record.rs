//! Records of a run: CSV files and charts under `benches/results`.

use std::env;
use std::fmt::Write;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::chart::Chart;

/// Rows of figures, for a CSV file.
#[derive(Debug)]
pub struct Rows {
    text: String,
    columns: usize,
}

impl Rows {
    /// Creates rows with these column names. A name states its unit, such as `cpu_us`.
    pub fn new<const N: usize>(columns: [&str; N]) -> Self {
        let mut rows = Self { text: String::new(), columns: N };
        rows.push(columns.map(str::to_owned));
        rows
    }

    /// Adds a row.
    ///
    /// # Panics
    ///
    /// Panics if the row has another number of cells than there are columns.
    pub fn push<const N: usize>(&mut self, cells: [String; N]) {
        assert_eq!(N, self.columns, "each row has one cell for each column");
        let cells = cells.map(|cell| quoted(&cell));
        self.text.push_str(&cells.join(","));
        self.text.push('\n');
    }

    /// Returns the text of the CSV file.
    pub fn as_csv(&self) -> &str {
        &self.text
    }
}

/// Quotes a cell where RFC 4180 demands it.
fn quoted(cell: &str) -> String {
    if cell.contains([',', '"', '\n']) {
        format!("\"{}\"", cell.replace('"', "\"\""))
    } else {
        cell.to_owned()
    }
}

/// Formats a figure with four significant digits. A figure that was not measured is an empty cell.
pub fn figure(value: f64) -> String {
    if !value.is_finite() {
        return String::new();
    }
    let digits = match value.abs() {
        0.0 => 0,
        value => (3 - value.log10().floor() as i32).clamp(0, 9),
    };
    let mut text = String::new();
    let _ = write!(text, "{value:.*}", digits as usize);
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

/// Writes `NAME.csv`, if a record is wanted.
pub fn rows(name: &str, rows: &Rows) -> io::Result<()> {
    write(&format!("{name}.csv"), rows.as_csv())
}

/// Draws a chart and writes it to `NAME.svg`, if a record is wanted.
pub fn chart(name: &str, chart: &Chart) -> io::Result<()> {
    // Drawn in each run, so that a trial run finds what is wrong with it.
    write(&format!("{name}.svg"), &chart.to_svg())
}

fn write(name: &str, content: &str) -> io::Result<()> {
    match directory() {
        Some(directory) => fs::write(directory.join(name), content),
        None => Ok(()),
    }
}

/// The directory for records: `benches/results` if `PRESIZED_RECORD` is `1`, or else the directory
/// that it names. Without the variable there is no record.
fn directory() -> Option<PathBuf> {
    let wanted = env::var_os("PRESIZED_RECORD").filter(|wanted| !wanted.is_empty())?;
    Some(if wanted == "1" {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("results")
    } else {
        wanted.into()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_four_significant_digits_and_no_trailing_zeros() {
        let table = [
            (0.0, "0"),
            (1.0, "1"),
            (0.6012345, "0.6012"),
            (12_582_912.4, "12582912"),
            (1537.0, "1537"),
            (0.25, "0.25"),
            (f64::NAN, ""),
        ];
        for (value, expected) in table {
            assert_eq!(figure(value), expected);
        }
    }

    #[test]
    fn cells_with_a_comma_are_quoted() {
        let mut rows = Rows::new(["read with", "cpu_us"]);
        rows.push(["presized, pool".to_owned(), figure(1.5)]);
        assert_eq!(rows.as_csv(), "read with,cpu_us\n\"presized, pool\",1.5\n");
    }
}
