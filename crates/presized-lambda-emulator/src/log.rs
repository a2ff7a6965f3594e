//! What a function logs, as far as a caller gets to see it.

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// The last 4 KB of a log.
#[derive(Debug, Default)]
pub(super) struct Tail {
    kept: Vec<u8>,
}

impl Tail {
    pub(super) fn push(&mut self, output: &[u8]) {
        let output = &output[output.len().saturating_sub(KEPT)..];
        let excess = (self.kept.len() + output.len()).saturating_sub(KEPT);
        self.kept.drain(..excess);
        self.kept.extend_from_slice(output);
    }

    /// Puts this before what the other is going to have.
    pub(super) fn move_to(self, other: &mut Self) {
        other.push(&self.kept);
    }

    /// As `X-Amz-Log-Result` and `LogResult` have it.
    pub(super) fn encode(&self) -> String {
        STANDARD.encode(&self.kept)
    }
}

/// The line before whatever the function writes.
pub(super) fn start(request_id: &str, version: &str) -> String {
    format!("START RequestId: {request_id} Version: {version}\n")
}

/// The lines after it. How much memory was used is not known here, and not told.
pub(super) fn end(request_id: &str, duration: Duration, memory_mb: u32) -> String {
    let millis = duration.as_secs_f64() * 1e3;
    format!(
        "END RequestId: {request_id}\n\
         REPORT RequestId: {request_id}\tDuration: {millis:.2} ms\t\
         Billed Duration: {:.0} ms\tMemory Size: {memory_mb} MB\n",
        millis.ceil(),
    )
}

/// <https://docs.aws.amazon.com/lambda/latest/api/API_Invoke.html>, `X-Amz-Log-Result`.
const KEPT: usize = 4096;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_4_kib_are_kept_however_they_came() {
        let written: Vec<u8> = (0..10_000).map(|i: u32| i.to_le_bytes()[0]).collect();
        for (size, length) in [(1, 100), (1, 4096), (7, 4097), (4096, 8192), (10_000, 10_000)] {
            let mut tail = Tail::default();
            for output in written[..length].chunks(size) {
                tail.push(output);
            }
            let expected = &written[length.saturating_sub(4096)..length];
            assert_eq!(tail.kept, expected, "{length} bytes by {size}");
            assert_eq!(STANDARD.decode(tail.encode()).ok().as_deref(), Some(expected));
        }
    }

    #[test]
    fn lines_are_as_lambda_writes_them() {
        assert_eq!(start("r-1", "$LATEST"), "START RequestId: r-1 Version: $LATEST\n");
        assert_eq!(
            end("r-1", Duration::from_micros(1_234), 128),
            "END RequestId: r-1\n\
             REPORT RequestId: r-1\tDuration: 1.23 ms\tBilled Duration: 2 ms\tMemory Size: 128 MB\n"
        );
    }
}
