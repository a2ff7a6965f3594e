//! The calls: what each is sent with and what the function answers, all of which follows from
//! the seed and the number of the call.

use std::sync::LazyLock;
use std::time::Duration;

use bytes::Bytes;
use fastrand::Rng;

/// One call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Call {
    pub(crate) number: u32,
    pub(crate) answer: Answer,
    /// Bytes that the function answers.
    length: usize,
    /// Bytes that it is called with.
    payload_length: usize,
    /// Most bytes that the client takes, where that is less.
    pub(crate) limit: Option<u64>,
    pub(crate) timeout: Duration,
    pub(crate) attempt_timeout: Duration,
    /// When the caller drops the call.
    pub(crate) dropped_after: Option<Duration>,
    seed: u64,
}

/// What becomes of a call once the server has all of it, unless it is refused for now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// The function answers, and how much is said before.
    Sized,
    /// The same in chunks of which nobody knows how many there will be.
    Chunked,
    /// The function runs and fails.
    FunctionError,
    /// The function runs, and a gateway gives up on it.
    GatewayTimeout,
    /// The event is queued, which counts as a run.
    Queued,
    /// Nothing runs, since nothing was meant to.
    DryRun,
    /// Nothing runs, since there is no such function.
    NotFound,
    /// The function streams.
    Streamed,
    /// It streams and fails.
    StreamedError,
    /// It streams until Lambda fails.
    StreamedException,
}

impl Call {
    /// With the answer that a faulty connection can damage in any way.
    pub(crate) fn of(seed: u64, number: u32) -> Self {
        let mut rng = rng(seed, [0, number]);
        let answer = match rng.u32(..100) {
            0..33 => Answer::Sized,
            33..54 => Answer::Chunked,
            54..60 => Answer::FunctionError,
            60..64 => Answer::Queued,
            64..66 => Answer::DryRun,
            66..68 => Answer::GatewayTimeout,
            68..70 => Answer::NotFound,
            70..92 => Answer::Streamed,
            92..97 => Answer::StreamedError,
            _ => Answer::StreamedException,
        };
        let mut call = Self {
            number,
            answer,
            length: match rng.u32(..100) {
                0..10 => 0,
                10..85 => log_uniform(&mut rng, 8 << 10),
                _ => log_uniform(&mut rng, LENGTH_MAX),
            },
            payload_length: DIGITS + log_uniform(&mut rng, 16 << 10) - 1,
            limit: None,
            timeout: TIMEOUT,
            attempt_timeout: TIMEOUT,
            dropped_after: None,
            seed,
        };
        if call.answer == Answer::Chunked && call.length > 0 {
            call.length = call.length.max(CHUNK_MIN);
        }
        if rng.u32(..20) == 0 && call.length > 0 && call.answer.is_buffered_content() {
            call.limit = Some(rng.u64(..call.length as u64));
        }
        let soon = Duration::from_micros(log_uniform(&mut rng, 30_000) as u64);
        match rng.u32(..100) {
            0..4 => call.timeout = soon,
            4..8 => call.attempt_timeout = soon,
            8..12 => call.dropped_after = Some(soon),
            _ => {}
        }
        call
    }

    /// Which call `payload` is that of, if it came whole.
    pub(crate) fn of_payload(seed: u64, payload: &[u8]) -> Option<Self> {
        let digits = std::str::from_utf8(payload.get(..DIGITS)?).ok()?;
        let call = Self::of(seed, digits.parse().ok()?);
        (payload == call.payload()).then_some(call)
    }

    /// What the function is called with: the number of the call, and noise.
    pub(crate) fn payload(&self) -> Bytes {
        let noise = self.noise(self.payload_length - DIGITS);
        [format!("{:0DIGITS$}", self.number).as_bytes(), noise].concat().into()
    }

    /// What the function answers.
    pub(crate) fn content(&self) -> &'static [u8] {
        self.noise(self.length)
    }

    fn noise(&self, length: usize) -> &'static [u8] {
        let start = rng(self.seed, [1, self.number]).usize(..NOISE - LENGTH_MAX);
        &MEMORY[start..start + length]
    }
}

impl Answer {
    /// Whether the function streams its answer.
    pub(crate) fn is_streamed(self) -> bool {
        matches!(self, Self::Streamed | Self::StreamedError | Self::StreamedException)
    }

    /// Whether the answer has content that is read into one buffer.
    pub(crate) fn is_buffered_content(self) -> bool {
        matches!(self, Self::Sized | Self::Chunked | Self::FunctionError)
    }

    /// Whether it still is what it was with some bytes more, or shows that it is not.
    pub(crate) fn bears_alteration(self) -> bool {
        self.is_streamed() || matches!(self, Self::Sized | Self::Chunked)
    }

    /// How often the function is to run.
    pub(crate) fn runs(self) -> u32 {
        u32::from(!matches!(self, Self::DryRun | Self::NotFound))
    }
}

/// Numbers that follow from the seed and from what they are for.
pub(crate) fn rng(seed: u64, purpose: [u32; 2]) -> Rng {
    let [high, low] = purpose.map(u64::from);
    // Neighbouring seeds give sequences that are alike in their first numbers.
    let mut rng = Rng::with_seed(seed ^ (high << 32 | low).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    rng.u64(..);
    rng
}

/// At least 1 and at most `most`. Each power of two is as likely as the others.
pub(crate) fn log_uniform(rng: &mut Rng, most: usize) -> usize {
    ((most as f64).powf(rng.f64()) as usize).clamp(1, most)
}

/// Longer than anything takes but for a connection that stalls.
const TIMEOUT: Duration = Duration::from_secs(3);

/// Bytes of the number that a payload begins with.
const DIGITS: usize = 8;

/// Bytes in the shortest chunk, so that none is [duplicated](crate::fault::DUPLICATED) as a whole.
pub(crate) const CHUNK_MIN: usize = 128;

/// Bytes in the longest answer.
pub(crate) const LENGTH_MAX: usize = 300 << 10;

const NOISE: usize = 1 << 20;

/// No byte of it means anything in HTTP/1.1, so that a chunk of it which has moved does not end
/// where a chunk may end.
static MEMORY: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let mut rng = Rng::with_seed(0);
    (0..NOISE).map(|_| rng.u8(0x80..)).collect()
});
