//! Names that are given out once.

use std::time::{SystemTime, UNIX_EPOCH};

/// A version 4 UUID (RFC 9562 §5.4), which is what Lambda calls a request by.
pub(super) fn uuid() -> String {
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

/// The trace of a call that came with none, not to be sampled
/// (<https://docs.aws.amazon.com/xray/latest/devguide/xray-concepts.html#xray-concepts-tracingheader>).
pub(super) fn trace() -> String {
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
    fn an_id_is_a_uuid_of_version_4_and_never_the_same() {
        let id = uuid();
        let lengths: Vec<usize> = id.split('-').map(str::len).collect();
        assert_eq!(lengths, [8, 4, 4, 4, 12], "{id}");
        assert!(id.chars().all(|c| c == '-' || c.is_ascii_hexdigit()), "{id}");
        assert_eq!(id.as_bytes()[14], b'4', "{id}");
        assert!(b"89ab".contains(&id.as_bytes()[19]), "{id}");
        assert_ne!(id, uuid());
    }

    #[test]
    fn a_trace_has_a_root_of_time_and_chance() {
        let trace = trace();
        let root = trace.strip_prefix("Root=1-").and_then(|rest| rest.split(';').next());
        let lengths: Vec<usize> = root.expect("a root").split('-').map(str::len).collect();
        assert_eq!(lengths, [8, 24], "{trace}");
    }
}
