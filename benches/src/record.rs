//! Records of a run: CSV files and charts under `benches/results`, and tables in BENCHMARKS.md.

use std::env;
use std::fmt::Write;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::chart::Chart;
use crate::markdown::Markdown;

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

/// Replaces the table `NAME` of BENCHMARKS.md, if a record is wanted. A record in another directory
/// has a file `NAME.md` instead.
pub fn table(name: &str, table: &Markdown) -> io::Result<()> {
    let Some(directory) = directory() else { return Ok(()) };
    if directory != results() {
        return fs::write(directory.join(format!("{name}.md")), table.to_string());
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../BENCHMARKS.md");
    let page = replaced(&fs::read_to_string(&path)?, name, &table.to_string());
    let page =
        page.ok_or_else(|| io::Error::other(format!("BENCHMARKS.md has no table {name}")))?;
    fs::write(path, page)
}

/// Replaces the table after the line that ends with `<!-- NAME -->`.
fn replaced(page: &str, name: &str, table: &str) -> Option<String> {
    let mark = format!("<!-- {name} -->\n\n");
    let (before, rest) = page.split_once(&mark)?;
    let old: usize =
        rest.split_inclusive('\n').take_while(|line| line.starts_with('|')).map(str::len).sum();
    let gap = if old == 0 { "\n" } else { "" };
    Some(format!("{before}{mark}{table}{gap}{}", &rest[old..]))
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
    Some(if wanted == "1" { results() } else { wanted.into() })
}

fn results() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("results")
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
    fn table_after_its_mark_is_replaced() {
        let page = "a <!-- one -->\n\n| old |\n| --- |\n\nb <!-- two -->\n\nc\n";
        let expected = "a <!-- one -->\n\n| new |\n\nb <!-- two -->\n\nc\n";
        assert_eq!(replaced(page, "one", "| new |\n").as_deref(), Some(expected));
        let expected = "a <!-- one -->\n\n| old |\n| --- |\n\nb <!-- two -->\n\n| new |\n\nc\n";
        assert_eq!(replaced(page, "two", "| new |\n").as_deref(), Some(expected));
        assert_eq!(replaced(page, "three", "new\n"), None);
    }

    #[test]
    fn cells_with_a_comma_are_quoted() {
        let mut rows = Rows::new(["read with", "cpu_us"]);
        rows.push(["presized, pool".to_owned(), figure(1.5)]);
        assert_eq!(rows.as_csv(), "read with,cpu_us\n\"presized, pool\",1.5\n");
    }
}
