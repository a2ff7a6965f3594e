//! The end of a log, which a caller gets on request.

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use presized_lambda_invoke::wire::LOG_TAIL_MAX;

/// The last 4 KiB of a log.
#[derive(Debug, Default)]
pub(crate) struct LogTail {
    kept: Vec<u8>,
}

impl LogTail {
    pub(crate) fn push(&mut self, output: &[u8]) {
        let output = &output[output.len().saturating_sub(LOG_TAIL_MAX)..];
        let excess = (self.kept.len() + output.len()).saturating_sub(LOG_TAIL_MAX);
        self.kept.drain(..excess);
        self.kept.extend_from_slice(output);
    }

    /// Encodes the log for `X-Amz-Log-Result` and `LogResult`.
    pub(crate) fn encode(&self) -> String {
        STANDARD.encode(&self.kept)
    }
}

/// Returns the line that Lambda logs before the output of an invocation.
pub(crate) fn start_line(request_id: &str, version: &str) -> String {
    format!("START RequestId: {request_id} Version: {version}\n")
}

/// Returns the lines that Lambda logs after the output of an invocation, without the used memory,
/// which the emulator does not know.
pub(crate) fn end_lines(request_id: &str, duration: Duration, memory_mb: u32) -> String {
    let millis = duration.as_secs_f64() * 1e3;
    format!(
        "END RequestId: {request_id}\n\
         REPORT RequestId: {request_id}\tDuration: {millis:.2} ms\t\
         Billed Duration: {:.0} ms\tMemory Size: {memory_mb} MB\n",
        millis.ceil(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_4_kib_are_kept_for_writes_of_any_size() {
        let written: Vec<u8> = (0..10_000).map(|i: u32| i.to_le_bytes()[0]).collect();
        for (size, length) in [(1, 100), (1, 4096), (7, 4097), (4096, 8192), (10_000, 10_000)] {
            let mut tail = LogTail::default();
            for output in written[..length].chunks(size) {
                tail.push(output);
            }
            let expected = &written[length.saturating_sub(4096)..length];
            assert_eq!(tail.kept, expected, "{length} bytes by {size}");
            assert_eq!(STANDARD.decode(tail.encode()).ok().as_deref(), Some(expected));
        }
    }

    #[test]
    fn start_and_end_lines_are_those_of_lambda() {
        assert_eq!(start_line("r-1", "$LATEST"), "START RequestId: r-1 Version: $LATEST\n");
        assert_eq!(
            end_lines("r-1", Duration::from_micros(1_234), 128),
            "END RequestId: r-1\n\
             REPORT RequestId: r-1\tDuration: 1.23 ms\tBilled Duration: 2 ms\tMemory Size: 128 MB\n"
        );
    }
}
