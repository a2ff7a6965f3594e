//! A chart of memory against bodies read, as an SVG file.

use std::path::Path;

use plotters::prelude::*;

use crate::Error;
use crate::measure::Cell;
use crate::table;

const MIB: f64 = (1 << 20) as f64;

/// Vermilion, blue and green of the palette of Okabe and Ito, which colour-blind readers can
/// tell apart.
const COLORS: [RGBColor; 3] = [RGBColor(213, 94, 0), RGBColor(0, 114, 178), RGBColor(0, 158, 115)];

/// The number of bodies read, and MiB.
type Point = (f64, f64);

/// Draws one curve for each cell. All cells have read the same body.
pub(crate) fn draw(path: &Path, cells: &[&Cell]) -> Result<(), Error> {
    let curves: Vec<_> = cells.iter().map(|cell| curve(cell)).collect();
    let points = || curves.iter().flatten();
    let bodies = points().map(|(bodies, _)| *bodies).fold(1.0, f64::max);
    let most = points().map(|(_, memory)| *memory).fold(1.0, f64::max);
    let size = cells.first().map_or(0, |cell| cell.served.sent);

    let root = SVGBackend::new(path, (960, 560)).into_drawing_area();
    root.fill(&WHITE)?;
    let area = root.margin(14, 0, 0, 0);
    let title = format!(
        "Memory of a client that reads bodies of {}, with a declared length",
        table::bytes(size)
    );
    let area = area.titled(&title, ("sans-serif", 24))?;
    let area = area.titled(SUBTITLE, ("sans-serif", 15).into_font().color(&GREY))?;
    let mut chart = ChartBuilder::on(&area)
        .margin(16)
        .x_label_area_size(48)
        .y_label_area_size(64)
        .build_cartesian_2d(0.0..bodies, 0.0..most * 1.4)?;
    chart
        .configure_mesh()
        .disable_x_mesh()
        .light_line_style(TRANSPARENT)
        .x_desc("bodies read")
        .y_desc("resident memory above the start (MiB)")
        .axis_desc_style(("sans-serif", 16))
        .label_style(("sans-serif", 14))
        .x_labels(bodies as usize + 1)
        .x_label_formatter(&|bodies| format!("{bodies:.0}"))
        .y_label_formatter(&|memory| format!("{memory:.0}"))
        .draw()?;
    for ((cell, curve), color) in cells.iter().zip(curves).zip(COLORS) {
        chart
            .draw_series(LineSeries::new(curve, color.stroke_width(3)))?
            .label(cell.way.to_string())
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 20, y)], color.stroke_width(3)));
    }
    let length = size as f64 / MIB;
    chart
        .draw_series(DashedLineSeries::new([(0.0, length), (bodies, length)], 6, 4, GREY.into()))?
        .label("length of one body")
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

const SUBTITLE: &str = "Each line rises to the peak while a body is read, \
    and falls to what the process keeps after the body is dropped.";

const GREY: RGBColor = RGBColor(90, 90, 90);

/// Returns two points for each body: the peak, and the memory after the body was dropped.
fn curve(cell: &Cell) -> Vec<Point> {
    let mut points = vec![(0.0, 0.0)];
    for (index, sample) in cell.samples.iter().enumerate() {
        let read = (index + 1) as f64;
        for memory in [sample.peak, sample.after].into_iter().flatten() {
            points.push((read, memory as f64 / MIB));
        }
    }
    points
}
