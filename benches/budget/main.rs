//! Many bodies at once, with and without a budget: peak memory and CPU time.
//!
//! Each case is a client process of its own. It opens a connection for each body and requests all
//! bodies at the same time. The contents are checked and dropped. The module `crowd` measures what
//! the budget itself costs.

mod crowd;

use http::Method;
use http_body_util::BodyExt;
use presized::{MemoryBudget, Reader};
use presized_benches::chart::{Chart, Color, Panel};
use presized_benches::child;
use presized_benches::markdown::{Markdown, several};
use presized_benches::record::{self, Rows, figure};
use presized_support::bars::is_trial;
use presized_support::client::{Client, Error};
use presized_support::meter::{Resident, Side, pin, thread_cpu};
use presized_support::pattern;
use presized_support::server::{Protocol, Server, known};
use presized_support::table::{self, Table, median};
use tokio::runtime;
use tokio::task::JoinSet;

const MIB: u64 = 1 << 20;
const LENGTH: u64 = 6 * MIB;
const BUDGET: u64 = 64 * MIB;

/// A way to read many bodies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Collect,
    Presized,
    /// presized with a budget for all bodies.
    Budget,
}

const WAYS: [Way; 3] = [Way::Collect, Way::Presized, Way::Budget];

impl Way {
    fn name(self) -> &'static str {
        match self {
            Self::Collect => "collect().to_bytes()",
            Self::Presized => "presized",
            Self::Budget => "presized, budget of 64 MiB",
        }
    }
}

/// The measurements of one case.
struct Cell {
    bodies: usize,
    way: Way,
    /// The growth of resident memory, in bytes.
    peak: f64,
    /// Seconds of CPU time for each body.
    cpu: f64,
}

fn main() -> Result<(), Error> {
    if let Some(job) = child::job() {
        return run(&job);
    }
    let start = || {
        pin(Side::Server);
        Server::start(Protocol::Http1)
    };
    // On a thread that ends, because this thread must not stay on the CPU of the server.
    let server = std::thread::spawn(start).join().map_err(|_| "the server panicked")??;
    let (counts, rounds) = if is_trial() { (&[1, 4][..], 1) } else { (&[1, 20, 200][..], 5) };
    let mut cells = Vec::new();
    for &bodies in counts {
        let mut measured = WAYS.map(|_| (Vec::new(), Vec::new()));
        for _ in 0..rounds {
            for (way, (peaks, cpus)) in WAYS.into_iter().zip(&mut measured) {
                let job = format!("{way:?} {bodies} {}", server.endpoint());
                let mut client = child::Client::start(&job, &[])?;
                let [peak, cpu] = client.ask_numbers("read")?;
                client.finish()?;
                peaks.push(peak);
                cpus.push(cpu);
            }
        }
        cells.extend(WAYS.into_iter().zip(measured).map(|(way, (peaks, cpus))| Cell {
            bodies,
            way,
            peak: median(peaks),
            cpu: median(cpus),
        }));
    }
    println!("{}", figures(&cells));
    println!(
        "Bodies of 6 MiB over HTTP/1.1, a connection for each. Medians over processes. The CPU time\nincludes the check of the content."
    );
    record::rows("budget", &rows(&cells))?;
    record::chart("budget", &chart(&cells, counts))?;
    record::table("budget", &markdown(&cells))?;
    crowd::run()
}

/// Runs a client process, which reads all bodies once.
fn run(job: &str) -> Result<(), Error> {
    let mut words = job.splitn(3, ' ');
    let mut word = || words.next().ok_or("a job has three words or more");
    let name = word()?;
    let way = WAYS.into_iter().find(|way| format!("{way:?}") == name);
    let way = way.ok_or_else(|| format!("unknown way: {name}"))?;
    let bodies: usize = word()?.parse()?;
    let endpoint = word()?.parse()?;
    pin(Side::Client);
    pattern::prepare();
    let runtime = runtime::Builder::new_current_thread().enable_all().build()?;
    child::serve(|_| {
        let numbers = runtime.block_on(async {
            let mut clients = Vec::new();
            for _ in 0..bodies {
                clients.push(Client::connect(&endpoint).await?);
            }
            read(way, clients).await
        })?;
        Ok(child::numbers(numbers))
    })
}

/// Reads a body over each connection at the same time.
async fn read(way: Way, clients: Vec<Client>) -> Result<[f64; 2], Error> {
    let mut reader = Reader::new(LENGTH);
    if way == Way::Budget {
        reader = reader.budget(&MemoryBudget::new(BUDGET));
    }
    let bodies = clients.len() as f64;
    let (resident, cpu) = (Resident::read().now, thread_cpu());
    let mut tasks = JoinSet::new();
    for mut client in clients {
        let reader = reader.clone();
        tasks.spawn(async move {
            let response = client.get(&known(LENGTH)).await?;
            let content = match way {
                Way::Collect => response.into_body().collect().await?.to_bytes(),
                _ => reader.response(&Method::GET, response).bytes().await?,
            };
            if !pattern::is_whole(&content, LENGTH) {
                return Err(format!("a body of {LENGTH} bytes has wrong content").into());
            }
            Ok::<_, Error>(())
        });
    }
    while let Some(task) = tasks.join_next().await {
        task??;
    }
    let cpu = (thread_cpu() - cpu).as_secs_f64() / bodies;
    Ok([Resident::read().peak.saturating_sub(resident) as f64, cpu])
}

fn figures(cells: &[Cell]) -> Table {
    let mut table = Table::new(
        2,
        ["bodies", "", "peak", "CPU"],
        ["at once", "read with", "resident", "per body"],
    );
    for row in cells.chunks(WAYS.len()) {
        table.rule();
        for cell in row {
            table.row([
                cell.bodies.to_string(),
                cell.way.name().to_owned(),
                table::bytes(cell.peak as u64),
                format!("{:.2} ms", cell.cpu * 1e3),
            ]);
        }
    }
    table
}

fn rows(cells: &[Cell]) -> Rows {
    let mut rows = Rows::new(["bodies", "read_with", "peak_resident_bytes", "cpu_us"]);
    for cell in cells {
        rows.push([
            cell.bodies.to_string(),
            cell.way.name().to_owned(),
            figure(cell.peak),
            figure(cell.cpu * 1e6),
        ]);
    }
    rows
}

/// Returns the table of BENCHMARKS.md.
fn markdown(cells: &[Cell]) -> Markdown {
    let mut table = Markdown::new([
        "bodies at once",
        "peak resident, MiB: `collect()` / presized / budget of 64 MiB",
        "CPU of one body, ms",
    ]);
    for row in cells.chunks(WAYS.len()) {
        table.row([
            row[0].bodies.to_string(),
            several(row.iter().map(|cell| cell.peak / MIB as f64), |mib| format!("{mib:.0}")),
            several(row.iter().map(|cell| cell.cpu * 1e3), |time| format!("{time:.2}")),
        ]);
    }
    table
}

fn chart(cells: &[Cell], counts: &[usize]) -> Chart {
    let most = counts.last().copied().unwrap_or_default();
    let peak = |way| {
        let found = cells.iter().find(|cell| cell.bodies == most && cell.way == way);
        table::bytes(found.map_or(0, |cell| cell.peak as u64))
    };
    let title = format!(
        "A budget of 64 MiB bounds {most} bodies at once to {}; collect().to_bytes() takes {}",
        peak(Way::Budget),
        peak(Way::Collect),
    );
    let note = "Bodies of 6 MiB over HTTP/1.1, a connection for each. The rest above 64 MiB is in \
        the read buffers of hyper.";
    let values = |figure: fn(&Cell) -> f64| {
        cells.chunks(WAYS.len()).map(move |row| row.iter().map(figure).collect())
    };
    let colors = [Color::Grey, Color::Blue, Color::Green];
    WAYS.into_iter()
        .zip(colors)
        .fold(Chart::new(title, note), |chart, (way, color)| chart.series(way.name(), color))
        .groups(counts.iter().map(|bodies| format!("{bodies} at once")))
        .panel(
            Panel::new("peak memory", "MiB resident", values(|cell| cell.peak / MIB as f64))
                .labelled(|value| format!("{value:.0} MiB")),
        )
        .panel(
            Panel::new("CPU time", "ms for each body", values(|cell| cell.cpu * 1e3))
                .labelled(|value| format!("{value:.2} ms")),
        )
}
