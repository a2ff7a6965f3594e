//! Memory over time, drawn: a saw, a smaller saw, and a flat line.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use plotters::prelude::*;
use presized_lambda_emulator::Emulator;
use presized_support::ledger::Ledger;

use crate::measure::settle;
use crate::ways::Way;
use crate::{Error, MIB};

const CALLS: usize = 20;
const SIZE: usize = 6 * MIB;

/// How often memory is looked at. An answer takes several milliseconds.
const PERIOD: Duration = Duration::from_micros(50);

/// Milliseconds since the first call, and MiB that are alive.
type Sample = (f64, f64);

/// Calls for 20 answers of 6 MiB in three ways, draws what memory did meanwhile, and says where.
pub(crate) async fn draw(emulator: &Emulator, out: &mut impl Write) -> Result<(), Error> {
    let mut lines = Vec::new();
    for way in Way::ALL {
        lines.push((way.name(), watch(emulator, way).await?));
    }
    let path = target().join("quickstart.svg");
    plot(&path, &lines)?;
    writeln!(out, "\nMemory over time, for {CALLS} answers of 6 MiB: {}", path.display())?;
    Ok(())
}

/// Calls on this thread while another looks at its memory.
async fn watch(emulator: &Emulator, way: Way) -> Result<Vec<Sample>, Error> {
    let caller = way.caller(emulator)?;
    Ledger::count_this_thread(true);
    let before = Ledger::live();
    // The connection and the pool are warm after the first.
    caller.call(SIZE).await?.check(SIZE)?;
    let sampler = Sampler::start(before);
    for _ in 0..CALLS {
        caller.call(SIZE).await?.check(SIZE)?;
    }
    let samples = sampler.stop()?;
    drop(caller);
    settle().await;
    Ledger::count_this_thread(false);
    Ok(samples)
}

/// A thread that notes how much memory is alive, and when.
struct Sampler {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<Vec<Sample>>,
}

impl Sampler {
    fn start(before: u64) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let thread = thread::spawn(move || {
            let start = Instant::now();
            let mut samples = Vec::new();
            while !stopped.load(Relaxed) {
                let live = Ledger::live().saturating_sub(before);
                samples.push((start.elapsed().as_secs_f64() * 1000.0, live as f64 / MIB as f64));
                thread::sleep(PERIOD);
            }
            samples
        });
        Self { stop, thread }
    }

    fn stop(self) -> Result<Vec<Sample>, Error> {
        self.stop.store(true, Relaxed);
        self.thread.join().map_err(|_| "the sampler panicked".into())
    }
}

fn plot(path: &Path, lines: &[(&str, Vec<Sample>)]) -> Result<(), Error> {
    const COLORS: [RGBColor; 3] =
        [RGBColor(200, 60, 50), RGBColor(60, 110, 190), RGBColor(30, 140, 70)];
    let samples = || lines.iter().flat_map(|(_, samples)| samples);
    let last = samples().map(|(time, _)| *time).fold(1.0, f64::max);
    let most = samples().map(|(_, memory)| *memory).fold(1.0, f64::max);

    let root = SVGBackend::new(path, (960, 480)).into_drawing_area();
    root.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(&root)
        .caption(
            format!("Memory of a caller that reads {CALLS} answers of 6 MiB"),
            ("sans-serif", 20),
        )
        .margin(16)
        .x_label_area_size(44)
        .y_label_area_size(56)
        .build_cartesian_2d(0.0..last, 0.0..most * 1.3)?;
    chart
        .configure_mesh()
        .light_line_style(TRANSPARENT)
        .x_desc("milliseconds")
        .y_desc("MiB alive")
        .draw()?;
    for ((name, samples), color) in lines.iter().zip(COLORS) {
        chart
            .draw_series(LineSeries::new(samples.iter().copied(), color.stroke_width(2)))?
            .label(*name)
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], color.stroke_width(2)));
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperRight)
        .background_style(WHITE)
        .border_style(BLACK.mix(0.3))
        .draw()?;
    root.present()?;
    Ok(())
}

/// The folder that this was built in, which is not part of anybody's source.
fn target() -> PathBuf {
    let program = std::env::current_exe().unwrap_or_default();
    // target/release/examples/quickstart
    program.ancestors().nth(3).unwrap_or(Path::new(".")).to_owned()
}
