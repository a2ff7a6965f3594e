//! Plain text tables, and figures with units.

use std::fmt;
use std::time::Duration;

/// A plain text table, with words aligned left and figures aligned right.
#[derive(Debug)]
pub struct Table {
    words: usize,
    rows: Vec<Row>,
}

#[derive(Debug)]
enum Row {
    Cells(Vec<String>),
    Rule,
}

impl Table {
    /// Creates a table with two header lines. Its first `words` columns are words.
    pub fn new<const N: usize>(words: usize, over: [&str; N], header: [&str; N]) -> Self {
        let line = |cells: [&str; N]| Row::Cells(cells.map(str::to_owned).into());
        Self { words, rows: vec![line(over), line(header)] }
    }

    /// Adds a row.
    pub fn row<const N: usize>(&mut self, cells: [String; N]) {
        self.rows.push(Row::Cells(cells.into()));
    }

    /// Adds a line, below the header or between two groups of rows.
    pub fn rule(&mut self) {
        self.rows.push(Row::Rule);
    }

    fn widths(&self) -> Vec<usize> {
        let mut widths = Vec::new();
        for row in &self.rows {
            if let Row::Cells(cells) = row {
                widths.resize(widths.len().max(cells.len()), 0);
                for (width, cell) in widths.iter_mut().zip(cells) {
                    *width = (*width).max(cell.chars().count());
                }
            }
        }
        widths
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let widths = self.widths();
        for row in &self.rows {
            let mut line = String::new();
            for (column, width) in widths.iter().copied().enumerate() {
                let gap = if column == 0 { "" } else { "  " };
                line += gap;
                line += &match row {
                    Row::Rule => "─".repeat(width),
                    Row::Cells(cells) => {
                        let cell = cells.get(column).map_or("", String::as_str);
                        if column < self.words {
                            format!("{cell:<width$}")
                        } else {
                            format!("{cell:>width$}")
                        }
                    }
                };
            }
            writeln!(f, "{}", line.trim_end())?;
        }
        Ok(())
    }
}

/// Formats a number of bytes in the largest unit of which there is at least one: `6 MiB`, `1.5 KiB`.
pub fn bytes(count: u64) -> String {
    let (unit, name) = match count {
        0..1024 => return format!("{count} B"),
        1024..1_048_576 => (1024.0, "KiB"),
        _ => (1_048_576.0, "MiB"),
    };
    let number = format!("{:.1}", count as f64 / unit);
    format!("{} {name}", number.strip_suffix(".0").unwrap_or(&number))
}

/// Formats a time with three digits or more.
pub fn time(time: Duration) -> String {
    let nanos = time.as_secs_f64() * 1e9;
    match nanos {
        ..999.5 => format!("{nanos:.0} ns"),
        ..99_950.0 => format!("{:.1} µs", nanos / 1e3),
        ..9_999_500.0 => format!("{:.0} µs", nanos / 1e3),
        _ => format!("{:.1} ms", nanos / 1e6),
    }
}

/// Formats a ratio: `1.05 ×`.
pub fn times(ratio: f64) -> String {
    match ratio {
        ..9.995 => format!("{ratio:.2} ×"),
        ..99.95 => format!("{ratio:.1} ×"),
        _ => format!("{ratio:.0} ×"),
    }
}

/// Returns the median, or NaN if there are no figures.
pub fn median(figures: impl IntoIterator<Item = f64>) -> f64 {
    let mut figures: Vec<f64> = figures.into_iter().collect();
    figures.sort_unstable_by(f64::total_cmp);
    let middle = figures.len() / 2;
    match figures.len() {
        0 => f64::NAN,
        odd if odd % 2 == 1 => figures[middle],
        _ => (figures[middle - 1] + figures[middle]) / 2.0,
    }
}
