//! One input: a body as it will be, what it claims to be, and how it is read.
//!
//! Most numbers are relative to the content, since that is where the edges are.

use arbitrary::Arbitrary;
use bytes::Bytes;
use http_body::SizeHint;
use presized::{ContentLength, Mismatch};

use crate::pattern::Pattern;

/// What the fuzzer makes up. [`Case::script`] turns it into what happens.
#[derive(Arbitrary, Debug)]
pub struct Case {
    form: CaseForm,
    limit: Number,
    declared: Declared,
    hint: Hint,
    eager: Option<Number>,
    mismatch: CaseMismatch,
    trailers_announced: bool,
    refuse_from: Option<u8>,
    pattern: Pattern,
    knows_end: bool,
    end: End,
    steps: Vec<CaseStep>,
}

/// Everything about one run, in plain numbers.
#[derive(Debug)]
pub struct Script {
    pub form: Form,
    pub limit: u64,
    pub content_length: ContentLength,
    pub hint: SizeHint,
    pub eager: Option<u64>,
    pub mismatch: Mismatch,
    pub trailers_announced: bool,
    /// Size of the smallest allocation that is refused, in bytes.
    pub refuse_from: usize,
    pub pattern: Pattern,
    /// Whether the body says so when nothing is left of it, as an honest one can.
    pub knows_end: bool,
    pub steps: Vec<Step>,
    pub end: End,
}

/// What the body does.
#[derive(Clone, Copy, Debug)]
pub enum Step {
    /// A frame of `len` bytes, more than 0, which shows `chunk` bytes of itself at a time. With
    /// `stops`, the callback ends the reading when it is told of the frame.
    Data { len: usize, chunk: usize, stops: bool },
    /// That many frames without a byte in them.
    Empty(u32),
    /// That many times not ready, and woken at once.
    Wait(u32),
    /// Not ready, and the reading is to stop.
    Stop,
    /// Not ready, and the time is over in which bytes had to arrive.
    Late,
    /// A trailers frame with this in it.
    Trailers(u8),
}

/// What the body does after the steps.
#[derive(Arbitrary, Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// It ends.
    Clean,
    /// It fails.
    Fails,
    /// It goes on with empty frames for ever.
    Floods,
    /// It is not ready any more and wakes nobody.
    Hangs,
}

/// How the content is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    Bytes,
    Vec,
    Text,
    Collected,
    /// Behind `used` bytes, with room for `spare` more.
    AppendTo {
        used: usize,
        spare: usize,
    },
    Prefix,
    Presized,
}

#[derive(Arbitrary, Debug)]
enum CaseForm {
    Bytes,
    Vec,
    Text,
    Collected,
    AppendTo { used: u16, spare: Number },
    Prefix,
    Presized,
}

#[derive(Arbitrary, Debug)]
enum Number {
    Small(u16),
    /// As many as there are bytes of content.
    Content,
    /// So many more or fewer than that.
    Near(i8),
    /// A power of two, and so many more or fewer.
    Power(u8, i8),
    Any(u64),
    Most,
}

impl Number {
    fn value(&self, content: usize) -> u64 {
        match *self {
            Self::Small(number) => number.into(),
            Self::Content => content as u64,
            Self::Near(more) => (content as u64).saturating_add_signed(more.into()),
            Self::Power(shift, more) => (1_u64 << (shift % 64)).saturating_add_signed(more.into()),
            Self::Any(number) => number,
            Self::Most => u64::MAX,
        }
    }
}

#[derive(Arbitrary, Debug)]
enum Declared {
    Unknown,
    Exact(Number),
    Hint(Number),
    Invalid,
}

#[derive(Arbitrary, Debug)]
enum Hint {
    None,
    Exact(Number),
    Lower(Number),
    Range(Number, Number),
}

#[derive(Arbitrary, Debug)]
enum CaseMismatch {
    RejectShorter,
    Reject,
    Allow,
}

#[derive(Arbitrary, Debug)]
enum CaseStep {
    Data { len: u16, scale: u8, chunk: u16 },
    Empty(u8),
    Wait(u8),
    Trailers(u8),
}

impl Case {
    pub fn script(&self) -> Script {
        let steps = self.steps();
        let content = content_len(&steps);
        let number = |number: &Number| number.value(content);
        Script {
            form: match &self.form {
                CaseForm::Bytes => Form::Bytes,
                CaseForm::Vec => Form::Vec,
                CaseForm::Text => Form::Text,
                CaseForm::Collected => Form::Collected,
                CaseForm::AppendTo { used, spare } => Form::AppendTo {
                    used: (*used).into(),
                    spare: number(spare).min(SPARE_MAX) as usize,
                },
                CaseForm::Prefix => Form::Prefix,
                CaseForm::Presized => Form::Presized,
            },
            limit: number(&self.limit),
            content_length: match &self.declared {
                Declared::Unknown => ContentLength::Unknown,
                Declared::Exact(length) => ContentLength::Exact(number(length)),
                Declared::Hint(length) => ContentLength::Hint(number(length)),
                Declared::Invalid => ContentLength::Invalid,
            },
            hint: match &self.hint {
                Hint::None => SizeHint::new(),
                Hint::Exact(length) => SizeHint::with_exact(number(length)),
                Hint::Lower(lower) => {
                    let mut hint = SizeHint::new();
                    hint.set_lower(number(lower));
                    hint
                }
                Hint::Range(one, other) => {
                    let (one, other) = (number(one), number(other));
                    let mut hint = SizeHint::new();
                    hint.set_upper(one.max(other));
                    hint.set_lower(one.min(other));
                    hint
                }
            },
            eager: self.eager.as_ref().map(number),
            mismatch: match self.mismatch {
                CaseMismatch::RejectShorter => Mismatch::RejectShorter,
                CaseMismatch::Reject => Mismatch::Reject,
                CaseMismatch::Allow => Mismatch::Allow,
            },
            trailers_announced: self.trailers_announced,
            refuse_from: self
                .refuse_from
                .map_or(REFUSE_FROM_MOST, |power| REFUSE_FROM_LEAST << (power % 13)),
            pattern: self.pattern,
            knows_end: self.knows_end,
            steps,
            end: self.end,
        }
    }

    /// The steps, within bounds that keep one run short.
    fn steps(&self) -> Vec<Step> {
        let (mut room, mut empty, mut in_a_row) = (Pattern::LEN, EMPTY_MAX, 0);
        let mut steps = Vec::new();
        for step in self.steps.iter().take(STEPS_MAX) {
            steps.push(match *step {
                CaseStep::Data { len, scale, chunk } => {
                    let len = (usize::from(len) << SCALES[usize::from(scale % 8)]).min(room);
                    if len == 0 {
                        continue;
                    }
                    room -= len;
                    in_a_row = 0;
                    // A chunk of a single byte makes a long run and finds nothing that
                    // one of a few bytes does not.
                    let chunk = if chunk == 0 { len } else { usize::from(chunk).max(len / 64) };
                    Step::Data { len, chunk, stops: scale >= STOPS_FROM }
                }
                CaseStep::Empty(count) => {
                    // A few of them, or many.
                    let count = u32::from(count % 128) << if count < 128 { 0 } else { 6 };
                    let count = count.min(empty).min(EMPTY_IN_A_ROW_MAX - in_a_row);
                    empty -= count;
                    in_a_row += count;
                    Step::Empty(count)
                }
                CaseStep::Wait(STOPS_FROM..) => Step::Stop,
                CaseStep::Wait(LATE_FROM..) => Step::Late,
                CaseStep::Wait(count) => Step::Wait((count % 8).into()),
                CaseStep::Trailers(value) => Step::Trailers(value),
            });
        }
        steps
    }
}

impl Script {
    /// Whether the body has nothing in it at all, and says so before it is polled.
    pub fn is_over_at_start(&self) -> bool {
        self.knows_end && self.end == End::Clean && self.steps.iter().all(Step::is_nothing)
    }

    /// Whether the body has an empty frame and no content, and says then that it is over.
    pub fn is_over_at_an_empty_frame(&self) -> bool {
        let is_empty = |step: &Step| matches!(step, Step::Empty(1..));
        let has_content = self.steps.iter().any(|step| matches!(step, Step::Data { .. }));
        let has_empty = self.steps.iter().any(is_empty) || self.end == End::Floods;
        self.knows_end && !has_content && has_empty
    }

    /// Returns whether the body has more than one frame of trailers.
    pub fn has_several_trailers(&self) -> bool {
        self.steps.iter().filter(|step| matches!(step, Step::Trailers(_))).count() > 1
    }

    /// The content up to `len`, as it should arrive.
    pub fn content(&self, len: usize) -> Bytes {
        self.pattern.bytes().slice(..len)
    }

    /// Bytes of the caller's buffer that are not content.
    pub fn used(&self) -> usize {
        if let Form::AppendTo { used, .. } = self.form { used } else { 0 }
    }

    /// What a body that has delivered `received` bytes may hold: nothing before the
    /// first of them, and then what the design page says.
    pub fn earned(&self, received: u64) -> u64 {
        if received == 0 {
            return 0;
        }
        self.limit.min(self.eager().max(received.saturating_mul(4)))
    }

    /// The eager bound, or the documented default.
    pub fn eager(&self) -> u64 {
        self.eager.unwrap_or(16 << 20)
    }
}

impl Step {
    /// Whether it is over without anything having been seen of it.
    fn is_nothing(&self) -> bool {
        matches!(self, Self::Empty(0) | Self::Wait(0))
    }
}

fn content_len(steps: &[Step]) -> usize {
    steps.iter().map(|step| if let Step::Data { len, .. } = step { *len } else { 0 }).sum()
}

/// Most frames are small, so that most runs are short.
const SCALES: [u32; 8] = [0, 0, 0, 0, 1, 2, 4, 6];

/// The scale of a frame, or the count of a wait, from which on it stops the reading: one in 32.
const STOPS_FROM: u8 = 248;

/// The count of a wait from which on it is too long.
const LATE_FROM: u8 = 240;

/// Bytes that have to arrive in each period.
pub const LEAST: u64 = 1_000;

const STEPS_MAX: usize = 64;

/// Empty frames in all, short of a flood.
const EMPTY_MAX: u32 = 24_000;

/// A reader that gives up on this many is too impatient.
const EMPTY_IN_A_ROW_MAX: u32 = 8_000;

const SPARE_MAX: u64 = 2 << 20;

/// The smallest refusal: what does not depend on the size of a body is below it, also the merged
/// trailers of `STEPS_MAX` frames. A `HeaderMap` aborts if there is no memory for it.
const REFUSE_FROM_LEAST: usize = 8 << 10;

/// Far above any content here, and above the default eager bound.
const REFUSE_FROM_MOST: usize = 32 << 20;
