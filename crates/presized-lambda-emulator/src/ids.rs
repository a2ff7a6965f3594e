//! The ids of invocations and traces.

use std::time::{SystemTime, UNIX_EPOCH};

/// Returns a new UUID of version 4 (RFC 9562 §5.4), which is Lambda's form of a request id.
pub(crate) fn uuid() -> String {
    let random = fastrand::u128(..);
    format!(
        "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
        random >> 96,
        random >> 80 & 0xffff,
        random >> 64 & 0x0fff | 0x4000,
        random >> 48 & 0x3fff | 0x8000,
        random & 0xffff_ffff_ffff,
    )
}

/// Returns the trace header of a call that has none. It asks for no sampling
/// (<https://docs.aws.amazon.com/xray/latest/devguide/xray-concepts.html#xray-concepts-tracingheader>).
pub(crate) fn trace() -> String {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    format!(
        "Root=1-{:08x}-{:024x};Parent={:016x};Sampled=0",
        seconds & 0xffff_ffff,
        fastrand::u128(..) >> 32,
        fastrand::u64(..),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_id_is_a_new_uuid_of_version_4() {
        let id = uuid();
        let lengths: Vec<usize> = id.split('-').map(str::len).collect();
        assert_eq!(lengths, [8, 4, 4, 4, 12], "{id}");
        assert!(id.chars().all(|c| c == '-' || c.is_ascii_hexdigit()), "{id}");
        assert_eq!(id.as_bytes()[14], b'4', "{id}");
        assert!(b"89ab".contains(&id.as_bytes()[19]), "{id}");
        assert_ne!(id, uuid());
    }

    #[test]
    fn root_of_a_trace_is_a_time_and_a_random_number() {
        let trace = trace();
        let root = trace.strip_prefix("Root=1-").and_then(|rest| rest.split(';').next());
        let lengths: Vec<usize> = root.expect("a root").split('-').map(str::len).collect();
        assert_eq!(lengths, [8, 24], "{trace}");
    }
}
