//! A chart of memory against calls, as an SVG file.

use std::path::Path;

use plotters::prelude::*;
use presized_support::table;

use crate::Error;
use crate::calls::Calls;

const MIB: f64 = (1 << 20) as f64;

/// Vermilion, blue and green of the palette of Okabe and Ito, which colour-blind readers can
/// tell apart.
const COLORS: [RGBColor; 3] = [RGBColor(213, 94, 0), RGBColor(0, 114, 178), RGBColor(0, 158, 115)];

const GREY: RGBColor = RGBColor(90, 90, 90);

/// The number of calls, and MiB.
type Point = (f64, f64);

/// Draws one curve for each way. All calls had responses of `size` bytes.
pub(crate) fn draw(path: &Path, size: usize, ways: &[Calls]) -> Result<(), Error> {
    let curves: Vec<_> = ways.iter().map(curve).collect();
    let points = || curves.iter().flatten();
    let calls = points().map(|(calls, _)| *calls).fold(1.0, f64::max);
    let most = points().map(|(_, memory)| *memory).fold(1.0, f64::max);

    let root = SVGBackend::new(path, (960, 560)).into_drawing_area();
    root.fill(&WHITE)?;
    let area = root.margin(14, 0, 0, 0);
    let title = format!("Memory of a caller, for responses of {}", table::bytes(size as u64));
    let area = area.titled(&title, ("sans-serif", 24))?;
    let area = area.titled(SUBTITLE, ("sans-serif", 15).into_font().color(&GREY))?;
    let mut chart = ChartBuilder::on(&area)
        .margin(16)
        .x_label_area_size(48)
        .y_label_area_size(64)
        .build_cartesian_2d(0.0..calls, 0.0..most * 1.4)?;
    chart
        .configure_mesh()
        .disable_x_mesh()
        .light_line_style(TRANSPARENT)
        .x_desc("calls")
        .y_desc("allocated memory above the start (MiB)")
        .axis_desc_style(("sans-serif", 16))
        .label_style(("sans-serif", 14))
        .x_labels(calls as usize + 1)
        .x_label_formatter(&|calls| format!("{calls:.0}"))
        .y_label_formatter(&|memory| format!("{memory:.0}"))
        .draw()?;
    for ((way, curve), color) in ways.iter().zip(curves).zip(COLORS) {
        chart
            .draw_series(LineSeries::new(curve, color.stroke_width(3)))?
            .label(way.way.to_string())
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 20, y)], color.stroke_width(3)));
    }
    let length = size as f64 / MIB;
    chart
        .draw_series(DashedLineSeries::new([(0.0, length), (calls, length)], 6, 4, GREY.into()))?
        .label("length of one response")
        .legend(|(x, y)| PathElement::new([(x, y), (x + 20, y)], GREY));
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperRight)
        .label_font(("sans-serif", 16))
        .background_style(WHITE)
        .border_style(BLACK.mix(0.3))
        .draw()?;
    root.present()?;
    Ok(())
}

const SUBTITLE: &str = "Each line rises to the peak of a call, \
    and falls to what the caller keeps after the response is dropped.";

/// Returns two points for each call: the peak, and the memory after the response was dropped.
fn curve(calls: &Calls) -> Vec<Point> {
    let mut points = vec![(0.0, 0.0)];
    for (index, sample) in calls.samples.iter().enumerate() {
        let call = (index + 1) as f64;
        points.push((call, sample.peak as f64 / MIB));
        points.push((call, sample.after as f64 / MIB));
    }
    points
}
