//! What happens on one direction of a connection, and after how many bytes.

use std::ops::RangeInclusive;
use std::time::Duration;

use fastrand::Rng;

use crate::call::log_uniform;

/// What happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Nothing for a while.
    Delay(Duration),
    /// So many bytes go on a few at a time.
    Dribble(usize),
    /// Nothing more comes, and the receiver sees an end.
    Cut,
    /// Both sides see a reset.
    Reset,
    /// Nothing more comes in either direction, for ever.
    Stall,
    /// So many bytes come twice, and after a while the connection is reset, since a client may
    /// wait for ever for what it believes to have been announced.
    Duplicate { count: usize, reset_after: Duration },
}

/// Where in the bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// After exactly so many more.
    After(usize),
    /// At the end of what is on the way then, which tends to be that of a message.
    AtPauseAfter(usize),
}

/// The faults of one direction, without an end.
#[derive(Debug)]
pub(crate) struct Faults {
    rng: Rng,
    weather: Weather,
    next: Place,
    /// How long a connection is kept on which nothing comes.
    pub(crate) patience: Duration,
}

/// How hard it comes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Weather {
    /// Whether bytes are duplicated.
    pub(crate) duplicates: bool,
    /// Bytes that most faults are further apart than they would be, at the most.
    pub(crate) respite: usize,
}

impl Faults {
    pub(crate) fn new(mut rng: Rng, weather: Weather) -> Self {
        let patience = match rng.u32(..100) {
            0..15 => Duration::from_millis(rng.u64(5..60)),
            _ => FOREVER,
        };
        let next = place(&mut rng, weather);
        Self { rng, weather, next, patience }
    }

    /// How many of the `count` bytes that have come go on before the next fault. None where
    /// there is no fault in them.
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

    /// The fault that is due.
    pub(crate) fn take(&mut self) -> Fault {
        self.next = place(&mut self.rng, self.weather);
        let rng = &mut self.rng;
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

    /// Bytes that go on at once while they dribble.
    pub(crate) fn drop_size(&mut self) -> usize {
        self.rng.usize(1..8)
    }

    /// One of two things.
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

/// Shorter than any head, any chunk and any frame of an event stream, so that none of them comes
/// twice as a whole and is taken for another.
pub(crate) const DUPLICATED: RangeInclusive<usize> = 1..=64;

/// Longer than any test takes.
const FOREVER: Duration = Duration::from_secs(3600);
