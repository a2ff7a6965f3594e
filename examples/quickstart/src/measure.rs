//! The cost of reading, measured in a new process for each way and kind of body.

use std::env;
use std::fmt;
use std::net::SocketAddr;
use std::process::{Command, Stdio};
use std::str::FromStr;
use std::time::{Duration, Instant};

use crate::Error;
use crate::client::Client;
use crate::content::Content;
use crate::server::Served;
use crate::usage::{self, Side};
use crate::ways::{self, Way};

/// The first argument of the process that reads.
pub(crate) const READ: &str = "read";

/// One row of the table: bodies of one kind, read in one way by one process.
pub(crate) struct Cell {
    pub(crate) way: Way,
    pub(crate) served: Served,
    pub(crate) samples: Vec<Sample>,
}

/// The cost of one body. A figure is `None` if the system does not count it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sample {
    /// From the request to the whole body.
    pub(crate) time: Duration,
    pub(crate) cpu: Option<Duration>,
    pub(crate) page_faults: Option<u64>,
    /// The most resident memory while the body was read, in bytes above the start.
    pub(crate) peak: Option<u64>,
    /// The resident memory after the body was dropped, in bytes above the start.
    pub(crate) after: Option<u64>,
}

/// Starts a process that reads the same body `bodies` times in one way, and returns its figures.
pub(crate) fn run(
    server: SocketAddr,
    way: Way,
    served: Served,
    bodies: usize,
) -> Result<Cell, Error> {
    let args = [READ.to_owned(), server.to_string(), way.to_string(), served.to_string()];
    let mut child = Command::new(env::current_exe()?);
    child.args(args).arg(bodies.to_string()).stderr(Stdio::inherit());
    let output = child.output()?;
    if !output.status.success() {
        return Err(format!("the process that reads {served} failed: {}", output.status).into());
    }
    let lines = String::from_utf8(output.stdout)?;
    let samples = lines.lines().map(str::parse).collect::<Result<Vec<_>, _>>()?;
    if samples.len() != bodies {
        return Err(format!("{} of {bodies} bodies of {served} were read", samples.len()).into());
    }
    Ok(Cell { way, served, samples })
}

/// Reads bodies in this process, and prints the figures of each on a line.
pub(crate) async fn read(mut args: impl Iterator<Item = String>) -> Result<(), Error> {
    let mut next = || args.next().ok_or("too few arguments");
    let (server, way) = (next()?.parse()?, next()?.parse::<Way>()?);
    let (served, bodies) = (next()?.parse()?, next()?.parse()?);

    usage::pin(Side::Client);
    let content = Content::new();
    let reader = way.reader();
    let mut samples = Vec::with_capacity(bodies);
    let start = usage::memory().map(|memory| memory.resident);
    let above = |resident: u64| Some(resident.saturating_sub(start?));

    let mut client = Client::connect(server).await?;
    for _ in 0..bodies {
        usage::reset_peak();
        let (cpu, page_faults, clock) = (usage::cpu(), usage::page_faults(), Instant::now());
        let body = ways::read(reader.as_ref(), client.get(served).await?).await?;
        let time = clock.elapsed();
        let cpu = cpu.zip(usage::cpu()).map(|(before, after)| after - before);
        let page_faults =
            page_faults.zip(usage::page_faults()).map(|(before, after)| after - before);
        let peak = usage::memory().and_then(|memory| above(memory.peak));
        content.check(&body, served)?;
        drop(body);
        let after = usage::memory().and_then(|memory| above(memory.resident));
        samples.push(Sample { time, cpu, page_faults, peak, after });
    }
    for sample in samples {
        println!("{sample}");
    }
    Ok(())
}

impl Cell {
    /// Returns the median time.
    pub(crate) fn p50(&self) -> Duration {
        let mut times: Vec<_> = self.warm().map(|sample| sample.time).collect();
        times.sort_unstable();
        times.get(times.len() / 2).copied().unwrap_or_default()
    }

    /// Returns the mean CPU time of the client.
    pub(crate) fn cpu(&self) -> Option<Duration> {
        let total: Duration = self.warm().map(|sample| sample.cpu).sum::<Option<_>>()?;
        total.checked_div(u32::try_from(self.warm().count()).ok()?)
    }

    /// Returns the mean number of page faults of the client.
    pub(crate) fn page_faults(&self) -> Option<u64> {
        let total: u64 = self.warm().map(|sample| sample.page_faults).sum::<Option<_>>()?;
        total.checked_div(self.warm().count() as u64)
    }

    /// Returns the most resident memory, in bytes above the start.
    pub(crate) fn peak(&self) -> Option<u64> {
        self.samples.iter().filter_map(|sample| sample.peak).max()
    }

    /// Returns all bodies but the first, which warms up the connection, allocator and pool.
    fn warm(&self) -> impl Iterator<Item = &Sample> {
        self.samples.iter().skip(1)
    }
}

/// Writes the fields as numbers, in their order: times in nanoseconds, memory in bytes.
impl fmt::Display for Sample {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let nanos = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        let cpu = self.cpu.map(nanos);
        write!(f, "{}", nanos(self.time))?;
        for figure in [cpu, self.page_faults, self.peak, self.after] {
            match figure {
                Some(figure) => write!(f, " {figure}")?,
                None => write!(f, " -")?,
            }
        }
        Ok(())
    }
}

impl FromStr for Sample {
    type Err = Error;

    fn from_str(line: &str) -> Result<Self, Error> {
        let mut words = line.split(' ');
        let mut next = || match words.next() {
            Some("-") => Ok(None),
            Some(word) => word.parse().map(Some).map_err(Error::from),
            None => Err("too few figures of a body".into()),
        };
        Ok(Self {
            time: Duration::from_nanos(next()?.ok_or("no time of a body")?),
            cpu: next()?.map(Duration::from_nanos),
            page_faults: next()?,
            peak: next()?,
            after: next()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sample_is_read_back_as_it_was_printed() {
        let sample = Sample {
            time: Duration::from_nanos(1_234_567),
            cpu: Some(Duration::from_micros(9)),
            page_faults: Some(0),
            peak: None,
            after: Some(64 << 20),
        };
        assert_eq!(sample.to_string(), "1234567 9000 0 - 67108864");
        assert_eq!(sample.to_string().parse::<Sample>().unwrap(), sample);
    }
}
