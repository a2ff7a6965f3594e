//! The faults of one direction of a connection, and the number of bytes between them.

use std::mem;
use std::ops::RangeInclusive;
use std::time::Duration;

use fastrand::Rng;

use crate::call::log_uniform;

/// A fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The bytes are delayed.
    Delay(Duration),
    /// This number of bytes is passed on a few at a time.
    Dribble(usize),
    /// The receiver sees the end of the stream.
    Cut,
    /// Both sides see a reset.
    Reset,
    /// No more bytes are passed on in either direction.
    Stall,
    /// This number of bytes is passed on twice. The connection is reset after a while, because a
    /// client may wait for bytes that a duplicated head declares.
    Duplicate { count: usize, reset_after: Duration },
}

/// The place of a fault in the bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// After exactly this number of bytes.
    After(usize),
    /// After the bytes that are in transit then, which is often the end of a message.
    AtPauseAfter(usize),
}

/// An endless sequence of faults of one direction.
#[derive(Debug)]
pub(crate) struct Faults {
    rng: Rng,
    weather: Weather,
    next: Place,
    /// The next fault ends the connection.
    ends_next: bool,
    /// The time after which an idle connection is closed.
    pub(crate) patience: Duration,
}

/// The frequency of faults.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Weather {
    /// Bytes are duplicated.
    pub(crate) duplicates: bool,
    /// The maximum of the additional bytes between most faults.
    pub(crate) respite: usize,
    /// The length of the response to CONNECT, or 0 without a tunnel. A third of the connections end
    /// before, in or directly after this response.
    pub(crate) opening: usize,
}

impl Faults {
    pub(crate) fn new(mut rng: Rng, weather: Weather) -> Self {
        let patience = match rng.u32(..100) {
            0..15 => Duration::from_millis(rng.u64(5..60)),
            _ => FOREVER,
        };
        let opening = (weather.opening > 0 && rng.u32(..3) == 0).then(|| match rng.u32(..3) {
            0 => 0,
            1 => rng.usize(1..weather.opening),
            _ => weather.opening,
        });
        let next = opening.map_or_else(|| place(&mut rng, weather), Place::After);
        Self { rng, weather, next, ends_next: opening.is_some(), patience }
    }

    /// Returns the number of the `count` bytes before the next fault, or `None` if the fault is not
    /// within them.
    pub(crate) fn due_in(&mut self, count: usize) -> Option<usize> {
        match &mut self.next {
            Place::After(left) if *left <= count => Some(*left),
            Place::AtPauseAfter(left) if *left <= count => Some(count),
            Place::After(left) | Place::AtPauseAfter(left) => {
                *left -= count;
                None
            }
        }
    }

    /// Returns the due fault.
    pub(crate) fn take(&mut self) -> Fault {
        self.next = place(&mut self.rng, self.weather);
        let rng = &mut self.rng;
        if mem::take(&mut self.ends_next) {
            return if rng.bool() { Fault::Cut } else { Fault::Reset };
        }
        match rng.u32(..100) {
            0..35 if self.weather.duplicates => Fault::Duplicate {
                count: rng.usize(DUPLICATED),
                reset_after: Duration::from_micros(log_uniform(rng, 50_000) as u64),
            },
            0..35 => Fault::Delay(Duration::from_micros(log_uniform(rng, 20_000) as u64)),
            35..65 => Fault::Dribble(log_uniform(rng, 400)),
            65..84 => Fault::Cut,
            84..99 => Fault::Reset,
            _ => Fault::Stall,
        }
    }

    /// Returns the number of bytes that are passed on at once during a dribble.
    pub(crate) fn drop_size(&mut self) -> usize {
        self.rng.usize(1..8)
    }

    /// Returns a random choice of two.
    pub(crate) fn coin(&mut self) -> bool {
        self.rng.bool()
    }
}

fn place(rng: &mut Rng, weather: Weather) -> Place {
    let mut count = log_uniform(rng, 128 << 10);
    if rng.u32(..4) != 0 {
        count += rng.usize(..=weather.respite);
    }
    if rng.bool() { Place::After(count) } else { Place::AtPauseAfter(count) }
}

/// The maximum length of a duplicate. It is shorter than any head, chunk or event stream frame, so
/// that none of them is duplicated as a whole.
pub(crate) const DUPLICATED: RangeInclusive<usize> = 1..=64;

/// Longer than any test.
const FOREVER: Duration = Duration::from_secs(3600);
