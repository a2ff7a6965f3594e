//! What should come of a script, told naively: every event that could end the reading is
//! looked up on its own, and the first of them does.

use http::HeaderMap;
use presized::{ContentLength, Mismatch};

use crate::body::trailers;
use crate::case::{End, Form, LEAST, Script, Step};

/// What the reading of a body comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Whole,
    /// A prefix, and there was more.
    Cut,
    DeclaredTooLarge {
        declared: u64,
    },
    TooLarge {
        received: u64,
    },
    Incomplete {
        declared: u64,
        received: u64,
    },
    Longer {
        declared: u64,
        received: u64,
    },
    Stalled {
        received: u64,
    },
    Stopped {
        declared: Option<u64>,
        received: u64,
    },
    TooSlow {
        arrived: u64,
        received: u64,
    },
    NotText {
        valid_up_to: u64,
    },
    Broken {
        declared: Option<u64>,
        received: u64,
    },
    NeverReady,
    /// Never expected, and right where the allocator refused.
    OutOfMemory {
        requested: u64,
    },
}

/// What should come of it, and what should be there then.
#[derive(Debug)]
pub struct Expected {
    pub verdict: Verdict,
    /// Bytes of the content, from its beginning.
    pub kept: usize,
    /// What is in the trailers that are kept.
    pub trailers: Option<HeaderMap>,
    /// The length that is gone by.
    pub content_length: ContentLength,
    /// Whether the body is to be polled at all.
    pub is_polled: bool,
}

pub fn expected(script: &Script) -> Expected {
    let declared = length_gone_by(script);
    if script.is_over_at_start() {
        return Expected {
            verdict: Verdict::Whole,
            kept: 0,
            trailers: None,
            content_length: ContentLength::Exact(0),
            is_polled: false,
        };
    }
    let refused = refused(script, declared);
    let content_length = match declared {
        // As for HEAD over HTTP/2, where the end may come with an empty frame.
        ContentLength::Exact(_) if script.is_over_at_an_empty_frame() => ContentLength::Exact(0),
        _ => declared,
    };
    let events = [
        refused,
        over_limit(script),
        over_declared(script, content_length),
        prefix_full(script, content_length),
        stopped(script, declared, content_length),
        late(script),
        Some(ended(script, content_length)),
    ];
    // The first of those at the same step: the limit goes before the declared length.
    let (step, verdict, kept) =
        events.into_iter().flatten().min_by_key(|event| event.0).expect("a body has an end");
    let seen = script.steps.get(..step).unwrap_or(&script.steps);
    let verdict = match (script.form, verdict) {
        (Form::Text, Verdict::Whole) => as_text(&script.content(kept)),
        _ => verdict,
    };
    let trailers = all_trailers(seen);
    Expected { verdict, kept, trailers, content_length, is_polled: refused.is_none() }
}

impl Expected {
    /// Bytes that arrive until the reading ends.
    pub fn received(&self) -> u64 {
        match self.verdict {
            Verdict::TooLarge { received } | Verdict::Longer { received, .. } => received,
            _ => self.kept as u64,
        }
    }
}

impl Verdict {
    /// Whether the content is as it was asked for, or fails for what is in it only.
    pub fn is_success(self) -> bool {
        matches!(self, Self::Whole | Self::Cut | Self::NotText { .. })
    }
}

/// Reservations on the way to a length that is known and right: each as much as has been
/// earned, and never more than the length.
pub fn reservations(script: &Script, length: u64) -> u32 {
    let (mut capacity, mut count) = (0, 0);
    for (_, _, received) in sums(script) {
        if received > capacity {
            capacity = script.earned(received).min(length);
            count += 1;
        }
    }
    count
}

/// At which step something ends the reading, what it comes to, and the bytes kept.
type Event = (usize, Verdict, usize);

/// An exact size hint, or else what was declared, or else the lower bound of the hint.
fn length_gone_by(script: &Script) -> ContentLength {
    use ContentLength::{Exact, Hint};
    match script.hint.exact() {
        Some(exact) => Exact(exact),
        None if matches!(script.content_length, Exact(_) | Hint(_)) => script.content_length,
        None if script.hint.lower() > 0 => Hint(script.hint.lower()),
        None => script.content_length,
    }
}

/// What is declared is above the limit, before anything else happens. A hint makes no error,
/// but what the body says it will deliver at the least is no hint of that kind.
fn refused(script: &Script, length: ContentLength) -> Option<Event> {
    let exact = if let ContentLength::Exact(exact) = length { exact } else { 0 };
    let declared = exact.max(script.hint.lower());
    let verdict = match script.form {
        Form::Prefix if script.limit == 0 => Verdict::Cut,
        Form::Prefix => return None,
        _ => Verdict::DeclaredTooLarge { declared },
    };
    (declared > script.limit).then_some((0, verdict, 0))
}

fn over_limit(script: &Script) -> Option<Event> {
    let (step, _, received) = sums(script).find(|&(_, _, sum)| sum > script.limit)?;
    let verdict = match script.form {
        Form::Prefix => Verdict::Cut,
        _ => Verdict::TooLarge { received },
    };
    Some((step, verdict, script.limit as usize))
}

fn over_declared(script: &Script, length: ContentLength) -> Option<Event> {
    let ContentLength::Exact(declared) = length else { return None };
    if script.mismatch != Mismatch::Reject {
        return None;
    }
    let (step, before, received) = sums(script).find(|&(_, _, sum)| sum > declared)?;
    Some((step, Verdict::Longer { declared, received }, before as usize))
}

/// A prefix needs no more frames where more is declared.
fn prefix_full(script: &Script, length: ContentLength) -> Option<Event> {
    let more_is_declared =
        matches!(length, ContentLength::Exact(declared) if declared > script.limit);
    if script.form != Form::Prefix || !more_is_declared {
        return None;
    }
    let (step, _, received) = sums(script).find(|&(_, _, sum)| sum == script.limit)?;
    Some((step, Verdict::Cut, received as usize))
}

/// The caller has had enough, of a frame or of waiting.
fn stopped(script: &Script, declared: ContentLength, judged: ContentLength) -> Option<Event> {
    let stops = |step: &Step| matches!(step, Step::Stop | Step::Data { stops: true, .. });
    let step = script.steps.iter().position(stops)?;
    let received = sums(script).take_while(|sum| sum.0 <= step).last().map_or(0, |sum| sum.2);
    // The length may be judged anew at an empty frame.
    let is_judged = script.steps[..step].iter().any(|step| matches!(step, Step::Empty(1..)));
    let declared = if is_judged { judged } else { declared }.value();
    let verdict = Verdict::Stopped { declared, received };
    Some((step, verdict, received as usize))
}

/// A wait was too long, in a period in which too little had arrived.
fn late(script: &Script) -> Option<Event> {
    let (mut received, mut start) = (0, None);
    for (index, step) in script.steps.iter().enumerate() {
        match *step {
            Step::Data { len, .. } => received += len as u64,
            Step::Wait(0) | Step::Empty(_) | Step::Trailers(_) => {}
            Step::Wait(_) | Step::Stop | Step::Late => {
                let running = start.filter(|start| received - start < LEAST).unwrap_or(received);
                start = Some(running);
                if let Step::Late = step {
                    let verdict = Verdict::TooSlow { arrived: received - running, received };
                    return Some((index, verdict, received as usize));
                }
            }
        }
    }
    None
}

fn ended(script: &Script, length: ContentLength) -> Event {
    let received = sums(script).last().map_or(0, |(_, _, sum)| sum);
    let exact = if let ContentLength::Exact(exact) = length { Some(exact) } else { None };
    let verdict = match script.end {
        End::Clean => match exact {
            Some(declared) if received < declared && script.mismatch != Mismatch::Allow => {
                Verdict::Incomplete { declared, received }
            }
            _ => Verdict::Whole,
        },
        End::Fails => {
            let trailers_missing =
                script.trailers_announced && all_trailers(&script.steps).is_none();
            if exact == Some(received) && !trailers_missing {
                Verdict::Whole
            } else {
                Verdict::Broken { declared: length.value(), received }
            }
        }
        End::Floods => Verdict::Stalled { received },
        End::Hangs => Verdict::NeverReady,
    };
    (usize::MAX, verdict, received as usize)
}

fn as_text(content: &[u8]) -> Verdict {
    match std::str::from_utf8(content) {
        Ok(_) => Verdict::Whole,
        Err(error) => Verdict::NotText { valid_up_to: error.valid_up_to() as u64 },
    }
}

/// For each frame with content: its step, and the bytes received before and with it.
pub fn sums(script: &Script) -> impl Iterator<Item = (usize, u64, u64)> {
    let mut sum = 0;
    script.steps.iter().enumerate().filter_map(move |(index, step)| {
        let Step::Data { len, .. } = step else { return None };
        let before = sum;
        sum += *len as u64;
        Some((index, before, sum))
    })
}

/// All fields of all frames of trailers, one after the other.
fn all_trailers(steps: &[Step]) -> Option<HeaderMap> {
    let frames = steps.iter().filter_map(|step| match step {
        Step::Trailers(value) => Some(trailers(*value)),
        _ => None,
    });
    frames.reduce(|mut all, frame| {
        for (name, value) in &frame {
            all.append(name, value.clone());
        }
        all
    })
}
