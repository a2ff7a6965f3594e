//! The calls. The seed and the number of a call determine its payload and its response.

use std::sync::LazyLock;
use std::time::Duration;

use bytes::Bytes;
use fastrand::Rng;

/// One call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Call {
    pub(crate) number: u32,
    pub(crate) scenario: Scenario,
    /// The length of the response.
    length: usize,
    /// The length of the payload.
    payload_length: usize,
    /// The limit of the client, if it is below the length of the response.
    pub(crate) limit: Option<u64>,
    pub(crate) timeout: Duration,
    pub(crate) attempt_timeout: Duration,
    /// The time after which the caller drops the call.
    pub(crate) dropped_after: Option<Duration>,
    seed: u64,
}

/// The response of the server to a complete request, unless it refuses it temporarily.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scenario {
    /// The function returns a response with a content length.
    Sized,
    /// The function returns a chunked response.
    Chunked,
    /// The function runs and fails.
    FunctionError,
    /// The function runs, and a gateway times out.
    GatewayTimeout,
    /// The event is queued, which counts as a run.
    Queued,
    /// Nothing runs, because it is a dry run.
    DryRun,
    /// Nothing runs, because there is no such function.
    NotFound,
    /// The function streams its response.
    Streamed,
    /// The function fails while it streams.
    StreamedError,
    /// Lambda fails while the function streams.
    StreamedException,
}

impl Call {
    /// Makes the call with this number.
    pub(crate) fn of(seed: u64, number: u32) -> Self {
        let mut rng = rng(seed, [0, number]);
        let scenario = match rng.u32(..100) {
            0..33 => Scenario::Sized,
            33..54 => Scenario::Chunked,
            54..60 => Scenario::FunctionError,
            60..64 => Scenario::Queued,
            64..66 => Scenario::DryRun,
            66..68 => Scenario::GatewayTimeout,
            68..70 => Scenario::NotFound,
            70..92 => Scenario::Streamed,
            92..97 => Scenario::StreamedError,
            _ => Scenario::StreamedException,
        };
        let mut call = Self {
            number,
            scenario,
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
        if call.scenario == Scenario::Chunked && call.length > 0 {
            call.length = call.length.max(CHUNK_MIN);
        }
        if rng.u32(..20) == 0 && call.length > 0 && call.scenario.is_buffered_content() {
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

    /// Returns the call with this payload, if the payload is complete.
    pub(crate) fn of_payload(seed: u64, payload: &[u8]) -> Option<Self> {
        let digits = std::str::from_utf8(payload.get(..DIGITS)?).ok()?;
        let call = Self::of(seed, digits.parse().ok()?);
        (payload == call.payload()).then_some(call)
    }

    /// Returns the payload: the number of the call, and noise.
    pub(crate) fn payload(&self) -> Bytes {
        let noise = self.noise(self.payload_length - DIGITS);
        [format!("{:0DIGITS$}", self.number).as_bytes(), noise].concat().into()
    }

    /// Returns the content of the response.
    pub(crate) fn content(&self) -> &'static [u8] {
        self.noise(self.length)
    }

    fn noise(&self, length: usize) -> &'static [u8] {
        let start = rng(self.seed, [1, self.number]).usize(..NOISE - LENGTH_MAX);
        &MEMORY[start..start + length]
    }
}

impl Scenario {
    /// Returns whether the function streams its response.
    pub(crate) fn is_streamed(self) -> bool {
        matches!(self, Self::Streamed | Self::StreamedError | Self::StreamedException)
    }

    /// Returns whether the response has content that is read into one buffer.
    pub(crate) fn is_buffered_content(self) -> bool {
        matches!(self, Self::Sized | Self::Chunked | Self::FunctionError)
    }

    /// Returns whether inserted bytes leave the response of the same kind or make it invalid.
    pub(crate) fn bears_alteration(self) -> bool {
        self.is_streamed() || matches!(self, Self::Sized | Self::Chunked)
    }

    /// Returns the number of times that the function should run.
    pub(crate) fn runs(self) -> u32 {
        u32::from(!matches!(self, Self::DryRun | Self::NotFound))
    }
}

/// Returns random numbers that depend on the seed and the purpose.
pub(crate) fn rng(seed: u64, purpose: [u32; 2]) -> Rng {
    let [high, low] = purpose.map(u64::from);
    // The first numbers of adjacent seeds are similar.
    let mut rng = Rng::with_seed(seed ^ (high << 32 | low).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    rng.u64(..);
    rng
}

/// Returns a number from 1 to `max`. Each power of two is equally likely.
pub(crate) fn log_uniform(rng: &mut Rng, max: usize) -> usize {
    ((max as f64).powf(rng.f64()) as usize).clamp(1, max)
}

/// Longer than any call takes, unless its connection stalls.
const TIMEOUT: Duration = Duration::from_secs(3);

/// The digits of the number at the begin of a payload.
const DIGITS: usize = 8;

/// The length of the shortest chunk. A duplicate is shorter, so that no chunk is
/// [duplicated](crate::fault::DUPLICATED) as a whole.
pub(crate) const CHUNK_MIN: usize = 128;

/// The length of the longest response.
pub(crate) const LENGTH_MAX: usize = 300 << 10;

const NOISE: usize = 1 << 20;

/// Its bytes have no meaning in HTTP/1.1, so that a shifted chunk does not end at the end of a valid
/// chunk.
static MEMORY: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let mut rng = Rng::with_seed(0);
    (0..NOISE).map(|_| rng.u8(0x80..)).collect()
});
