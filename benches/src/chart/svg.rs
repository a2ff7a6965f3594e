//! The shapes of a chart as SVG text.

use std::fmt::Write;

/// Which end of a text its position is.
#[derive(Clone, Copy, Debug)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

impl Anchor {
    fn name(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Middle => "middle",
            Self::End => "end",
        }
    }
}

/// A drawing with a white background, so that it can be read on a dark page.
pub(super) struct Svg(String);

impl Svg {
    pub(super) fn new(width: f64, height: f64) -> Self {
        let mut svg = Self(format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
             width=\"{width}\" height=\"{height}\" font-family=\"sans-serif\">\n"
        ));
        svg.rect(0.0, 0.0, width, height, "#ffffff");
        svg
    }

    pub(super) fn rect(&mut self, x: f64, y: f64, width: f64, height: f64, color: &str) {
        self.push(format_args!(
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" fill=\"{color}\"/>"
        ));
    }

    pub(super) fn line(&mut self, x1: f64, y1: f64, x2: f64, y2: f64, color: &str) {
        self.push(format_args!(
            "<line x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\" stroke=\"{color}\"/>"
        ));
    }

    pub(super) fn dashed_line(&mut self, x1: f64, y1: f64, x2: f64, y2: f64, color: &str) {
        self.push(format_args!(
            "<line x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\" stroke=\"{color}\" \
             stroke-dasharray=\"3 3\"/>"
        ));
    }

    pub(super) fn text(&mut self, x: f64, y: f64, size: f64, anchor: Anchor, text: &str) {
        self.write_text(x, y, size, anchor, "#111111", text);
    }

    pub(super) fn faint_text(&mut self, x: f64, y: f64, size: f64, anchor: Anchor, text: &str) {
        self.write_text(x, y, size, anchor, "#555555", text);
    }

    pub(super) fn finish(mut self) -> String {
        self.0.push_str("</svg>\n");
        self.0
    }

    fn write_text(&mut self, x: f64, y: f64, size: f64, anchor: Anchor, color: &str, text: &str) {
        let (anchor, text) = (anchor.name(), escaped(text));
        self.push(format_args!(
            "<text x=\"{x:.1}\" y=\"{y:.1}\" font-size=\"{size}\" text-anchor=\"{anchor}\" \
             fill=\"{color}\">{text}</text>"
        ));
    }

    fn push(&mut self, element: std::fmt::Arguments<'_>) {
        // Writing to a string does not fail.
        let _ = writeln!(self.0, "{element}");
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
