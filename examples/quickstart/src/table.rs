//! A table in plain text, and figures with their units.

use std::fmt;
use std::time::Duration;

/// A table with a number of columns of words, aligned to the left, before columns of figures,
/// aligned to the right.
pub(crate) struct Table<const N: usize> {
    words: usize,
    rows: Vec<Row<N>>,
}

enum Row<const N: usize> {
    Cells([String; N]),
    Rule,
}

impl<const N: usize> Table<N> {
    pub(crate) fn new(words: usize, header: [&str; N]) -> Self {
        Self { words, rows: vec![Row::Cells(header.map(str::to_owned))] }
    }

    pub(crate) fn row(&mut self, cells: [String; N]) {
        self.rows.push(Row::Cells(cells));
    }

    /// Adds a line between two groups of rows.
    pub(crate) fn rule(&mut self) {
        self.rows.push(Row::Rule);
    }

    fn widths(&self) -> [usize; N] {
        let mut widths = [0; N];
        for row in &self.rows {
            if let Row::Cells(cells) = row {
                for (width, cell) in widths.iter_mut().zip(cells) {
                    *width = cell.chars().count().max(*width);
                }
            }
        }
        widths
    }
}

impl<const N: usize> fmt::Display for Table<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let widths = self.widths();
        for row in &self.rows {
            let mut line = String::new();
            for (column, width) in widths.into_iter().enumerate() {
                if column > 0 {
                    line += "  ";
                }
                line += &match row {
                    Row::Rule => "─".repeat(width),
                    Row::Cells(cells) if column < self.words => {
                        format!("{:<width$}", cells[column])
                    }
                    Row::Cells(cells) => format!("{:>width$}", cells[column]),
                };
            }
            writeln!(f, "{}", line.trim_end())?;
        }
        Ok(())
    }
}

/// Formats a figure, or its absence where the system does not count it.
pub(crate) fn or_unknown<T>(figure: Option<T>, format: impl FnOnce(T) -> String) -> String {
    figure.map_or_else(|| "n/a".to_owned(), format)
}

/// Formats a number of bytes: `10 bytes`, `1 KiB`, `65.4 MiB`.
pub(crate) fn bytes(count: u64) -> String {
    const UNITS: [&str; 5] = ["bytes", "KiB", "MiB", "GiB", "TiB"];
    let unit = (count.checked_ilog2().unwrap_or(0) as usize / 10).min(UNITS.len() - 1);
    let size = 1_u64 << (10 * unit);
    if count % size == 0 {
        format!("{} {}", count / size, UNITS[unit])
    } else {
        format!("{:.1} {}", count as f64 / size as f64, UNITS[unit])
    }
}

/// Formats a number with separators: `18,716`.
pub(crate) fn count(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Formats a time: `41 µs`, `4.18 ms`, `71.2 ms`.
pub(crate) fn time(time: Duration) -> String {
    let micros = time.as_secs_f64() * 1e6;
    match micros {
        ..1e3 => format!("{micros:.0} µs"),
        ..1e4 => format!("{:.2} ms", micros / 1e3),
        _ => format!("{:.1} ms", micros / 1e3),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_aligned_to_the_left_and_figures_to_the_right() {
        let mut table = Table::new(1, ["body", "p50"]);
        table.rule();
        table.row(["1 KiB".into(), "9 µs".into()]);
        table.row(["64 MiB".into(), "10.5 ms".into()]);
        let lines = "body        p50\n──────  ───────\n1 KiB      9 µs\n64 MiB  10.5 ms\n";
        assert_eq!(table.to_string(), lines);
    }

    #[test]
    fn figures_have_the_unit_that_leaves_a_whole_part() {
        let sizes =
            [(10, "10 bytes"), (1 << 10, "1 KiB"), (3 << 19, "1.5 MiB"), (1 << 40, "1 TiB")];
        for (count, expected) in sizes {
            assert_eq!(bytes(count), expected);
        }
        let counts = [(0, "0"), (999, "999"), (18_716, "18,716"), (1_000_000, "1,000,000")];
        for (number, expected) in counts {
            assert_eq!(count(number), expected);
        }
        let times = [(999, "999 µs"), (4_180, "4.18 ms"), (71_200, "71.2 ms")];
        for (micros, expected) in times {
            assert_eq!(time(Duration::from_micros(micros)), expected);
        }
    }
}
