//! One figure of a chart: its values and its axis.

use presized_support::table;

use super::svg::{Anchor, Svg};

/// The bars of one figure, with an axis from zero.
#[derive(Clone, Debug)]
pub struct Panel {
    title: String,
    axis: String,
    /// The values of each group, one for each series.
    values: Vec<Vec<f64>>,
    label: fn(f64) -> String,
    reference: Option<f64>,
}

impl Panel {
    /// Creates a panel from one list of values for each group, in the order of the series. A value
    /// that was not measured is not finite.
    pub fn new(
        title: impl Into<String>,
        axis: impl Into<String>,
        values: impl IntoIterator<Item = Vec<f64>>,
    ) -> Self {
        let values = values.into_iter().collect();
        let (title, axis) = (title.into(), axis.into());
        Self { title, axis, values, label: table::times, reference: None }
    }

    /// Sets how values are written. The default is a ratio, such as `0.60 ×`.
    pub fn labelled(mut self, label: fn(f64) -> String) -> Self {
        self.label = label;
        self
    }

    /// Draws a line at this value: that of the peer, to which the others are compared.
    pub fn reference(mut self, value: f64) -> Self {
        self.reference = Some(value);
        self
    }

    pub(super) fn value(&self, group: usize, series: usize) -> Option<f64> {
        let value = self.values.get(group)?.get(series).copied()?;
        value.is_finite().then_some(value)
    }

    pub(super) fn label(&self, value: f64) -> String {
        (self.label)(value)
    }

    /// Draws all but the bars, and returns the scale of the bars.
    pub(super) fn draw_axis(&self, svg: &mut Svg, left: f64, width: f64, bottom: f64) -> Scale {
        let values = || self.values.iter().flatten().copied().filter(|value| value.is_finite());
        let most = values().chain(self.reference).fold(0.0, f64::max);
        let most = if most > 0.0 { most } else { 1.0 };
        // The longest label stands behind the longest bar.
        let longest = values().map(|value| self.label(value).chars().count()).max().unwrap_or(0);
        let scale = Scale((width - 7.0 * longest as f64 - 24.0) / most);

        svg.text(left, 96.0, 13.0, Anchor::Start, &self.title);
        svg.line(left, bottom + 2.0, left + scale.length(most), bottom + 2.0, "#333333");
        let step = step(most);
        let mut tick = 0.0;
        while tick <= most * 1.0001 {
            let x = left + scale.length(tick);
            svg.line(x, bottom + 2.0, x, bottom + 6.0, "#333333");
            svg.faint_text(x, bottom + 18.0, 11.0, Anchor::Middle, &short(tick));
            tick += step;
        }
        svg.faint_text(left, bottom + 36.0, 12.0, Anchor::Start, &self.axis);
        if let Some(value) = self.reference {
            let x = left + scale.length(value);
            svg.dashed_line(x, 102.0, x, bottom + 2.0, "#333333");
        }
        scale
    }
}

/// The length of one unit in the drawing.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scale(f64);

impl Scale {
    pub(super) fn length(self, value: f64) -> f64 {
        self.0 * value
    }
}

/// Returns 1, 2 or 5 times a power of ten, so that an axis to `most` has at most five steps.
fn step(most: f64) -> f64 {
    let least = most / 5.0;
    let power = 10_f64.powf(least.log10().floor());
    let steps = [1.0, 2.0, 5.0].map(|factor| factor * power);
    steps.into_iter().find(|&step| step >= least).unwrap_or(10.0 * power)
}

fn short(tick: f64) -> String {
    let text = format!("{tick:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axis_has_at_most_five_round_steps() {
        let table = [(1.0, 0.2), (6.2, 2.0), (1.01, 0.5), (4623.0, 1000.0), (0.3, 0.1)];
        for (most, expected) in table {
            assert!((step(most) / expected - 1.0).abs() < 1e-9, "{most}: {}", step(most));
        }
    }
}
