//! Bar charts as SVG files.

mod panel;
mod svg;

pub use self::panel::Panel;
use self::svg::{Anchor, Svg};

/// A colour of the palette of Okabe and Ito, which colour-blind readers can tell apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Color {
    /// For peers.
    Grey,
    /// For a second peer, or for a lower bound.
    LightGrey,
    /// For presized with its defaults.
    Blue,
    /// For presized with a pool.
    Green,
    /// For presized with a history, or with both.
    Purple,
    /// For presized in another setting.
    Orange,
}

impl Color {
    fn code(self) -> &'static str {
        match self {
            Self::Grey => "#777777",
            Self::LightGrey => "#bbbbbb",
            Self::Blue => "#0072b2",
            Self::Green => "#009e73",
            Self::Purple => "#cc79a7",
            Self::Orange => "#e69f00",
        }
    }
}

/// Horizontal bars: a group for each case, a bar for each series, and a panel for each figure.
#[derive(Clone, Debug)]
pub struct Chart {
    title: String,
    note: String,
    series: Vec<(String, Color)>,
    groups: Vec<String>,
    panels: Vec<Panel>,
}

impl Chart {
    /// Creates a chart. The title says the finding, and the note says what was measured.
    pub fn new(title: impl Into<String>, note: impl Into<String>) -> Self {
        let (title, note) = (title.into(), note.into());
        Self { title, note, series: Vec::new(), groups: Vec::new(), panels: Vec::new() }
    }

    /// Adds a series, which has one bar in each group.
    pub fn series(mut self, name: impl Into<String>, color: Color) -> Self {
        self.series.push((name.into(), color));
        self
    }

    /// Sets the names of the groups.
    pub fn groups(mut self, names: impl IntoIterator<Item = String>) -> Self {
        self.groups = names.into_iter().collect();
        self
    }

    /// Adds a panel to the right of the others.
    pub fn panel(mut self, panel: Panel) -> Self {
        self.panels.push(panel);
        self
    }

    /// Draws the chart.
    pub fn to_svg(&self) -> String {
        let rows = self.rows();
        let bottom = rows.last().map_or(TOP, |row| row.y + BAR);
        let mut svg = Svg::new(WIDTH, bottom + AXIS);
        svg.text(MARGIN, 26.0, 18.0, Anchor::Start, &self.title);
        svg.faint_text(MARGIN, 46.0, 12.0, Anchor::Start, &self.note);
        self.legend(&mut svg);
        let longest = self.groups.iter().map(|name| name.chars().count()).max().unwrap_or(0);
        let left = MARGIN + 7.0 * longest as f64 + 10.0;
        let width = (WIDTH - MARGIN - left) / self.panels.len().max(1) as f64;
        for (index, name) in self.groups.iter().enumerate() {
            let mut of_group = rows.iter().filter(|row| row.group == index).map(|row| row.y);
            if let Some(first) = of_group.next() {
                let last = of_group.next_back().unwrap_or(first);
                let middle = (first + last + BAR) / 2.0 + 4.0;
                svg.text(left - 10.0, middle, 12.0, Anchor::End, name);
            }
        }
        for (index, panel) in self.panels.iter().enumerate() {
            let left = left + index as f64 * width;
            let scale = panel.draw_axis(&mut svg, left, width, bottom);
            for row in &rows {
                if let Some(value) = panel.value(row.group, row.series) {
                    let color = self.series[row.series].1.code();
                    svg.rect(left, row.y, scale.length(value).max(1.0), BAR - 2.0, color);
                    let end = left + scale.length(value) + 4.0;
                    svg.text(end, row.y + BAR - 4.0, 11.0, Anchor::Start, &panel.label(value));
                }
            }
            svg.line(left, TOP - 4.0, left, bottom + 2.0, "#333333");
        }
        svg.finish()
    }

    fn legend(&self, svg: &mut Svg) {
        let mut left = MARGIN;
        for (name, color) in &self.series {
            svg.rect(left, 58.0, 12.0, 12.0, color.code());
            svg.text(left + 17.0, 68.0, 12.0, Anchor::Start, name);
            left += 17.0 + 6.8 * name.chars().count() as f64 + 20.0;
        }
    }

    /// The bars of the chart from top to bottom. A series that a group does not have takes no room.
    fn rows(&self) -> Vec<Row> {
        let mut rows = Vec::new();
        let mut y = TOP;
        for group in 0..self.groups.len() {
            for series in 0..self.series.len() {
                if self.panels.iter().any(|panel| panel.value(group, series).is_some()) {
                    rows.push(Row { group, series, y });
                    y += BAR;
                }
            }
            y += GAP;
        }
        rows
    }
}

/// The place of one bar.
struct Row {
    group: usize,
    series: usize,
    y: f64,
}

const WIDTH: f64 = 1060.0;
const MARGIN: f64 = 16.0;
/// Where the first bar begins, below title, note, legend and panel titles.
const TOP: f64 = 112.0;
/// The height of a bar with its distance to the next.
const BAR: f64 = 15.0;
/// The distance between two groups.
const GAP: f64 = 9.0;
/// The height of the axis and its name.
const AXIS: f64 = 48.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chart_has_title_series_axes_and_the_values_that_were_measured() {
        let chart = Chart::new("half the time & memory", "one run")
            .series("peer", Color::Grey)
            .series("presized", Color::Blue)
            .groups(["1 KiB".to_owned(), "6 MiB".to_owned()])
            .panel(
                Panel::new("CPU", "µs a body", [vec![10.0, 5.0], vec![f64::NAN, 7.5]])
                    .labelled(|value| format!("{value} µs")),
            );
        let svg = chart.to_svg();
        for text in ["half the time &amp; memory", "peer", "6 MiB", "CPU", "µs a body", "7.5 µs"]
        {
            assert!(svg.contains(&format!(">{text}<")), "{text} in {svg}");
        }
        // One background, two legend boxes and three bars.
        assert_eq!(svg.matches("<rect").count(), 6);
        assert!(!svg.contains("NaN"));
    }
}
