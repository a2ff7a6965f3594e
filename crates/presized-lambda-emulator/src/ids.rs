//! The ids of invocations and traces.

use std::time::{SystemTime, UNIX_EPOCH};

use http::HeaderValue;

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

/// Returns the trace header of an invocation: that of the call, with the fields that it lacks.
///
/// A header that has `Root`, `Parent` and `Sampled` is returned byte for byte. New fields ask for no
/// sampling
/// (<https://docs.aws.amazon.com/xray/latest/devguide/xray-concepts.html#xray-concepts-tracingheader>).
pub(crate) fn trace(of_call: Option<&HeaderValue>) -> HeaderValue {
    let given = of_call.map_or(&b""[..], HeaderValue::as_bytes).trim_ascii();
    let has = |name: &str| {
        given.split(|byte| *byte == b';').any(|field| {
            let mut parts = field.splitn(2, |byte| *byte == b'=');
            parts
                .next()
                .is_some_and(|found| found.trim_ascii().eq_ignore_ascii_case(name.as_bytes()))
        })
    };
    let mut trace = Vec::new();
    let mut add = |field: &[u8]| {
        if !trace.is_empty() && !trace.ends_with(b";") {
            trace.push(b';');
        }
        trace.extend_from_slice(field);
    };
    if !has("Root") {
        let seconds = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        let (time, random) = (seconds & 0xffff_ffff, fastrand::u128(..) >> 32);
        add(format!("Root=1-{time:08x}-{random:024x}").as_bytes());
    }
    if !given.is_empty() {
        add(given);
    }
    if !has("Parent") {
        add(format!("Parent={:016x}", fastrand::u64(..)).as_bytes());
    }
    if !has("Sampled") {
        add(b"Sampled=0");
    }
    HeaderValue::from_bytes(&trace).expect("a header with ASCII text added is a header")
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

    fn completed(of_call: Option<&'static str>) -> String {
        let trace = trace(of_call.map(HeaderValue::from_static).as_ref());
        trace.to_str().expect("a trace is ASCII text").to_owned()
    }

    #[test]
    fn root_of_a_trace_is_a_time_and_a_random_number() {
        let trace = completed(None);
        let root = trace.strip_prefix("Root=1-").and_then(|rest| rest.split(';').next());
        let lengths: Vec<usize> = root.expect("a root").split('-').map(str::len).collect();
        assert_eq!(lengths, [8, 24], "{trace}");
    }

    #[test]
    fn trace_has_the_fields_of_the_call_and_those_that_it_lacks() {
        const ROOT: &str = "Root=1-5759e988-bd862e3fe1be46a994272793";
        for (of_call, expected) in [
            (None, &["Root", "Parent", "Sampled"][..]),
            (Some(""), &["Root", "Parent", "Sampled"]),
            (Some(ROOT), &[ROOT, "Parent", "Sampled"]),
            (Some("Root=1-0-1;"), &["Root=1-0-1", "Parent", "Sampled"]),
            (Some("Root=1-0-1;Sampled=1"), &["Root=1-0-1", "Sampled=1", "Parent"]),
            (
                Some("Self=1-0-2;Parent=53995c3f42cd8ad8"),
                &["Root", "Self=1-0-2", "Parent", "Sampled"],
            ),
        ] {
            let trace = completed(of_call);
            let fields: Vec<&str> = trace.split(';').collect();
            assert_eq!(fields.len(), expected.len(), "{trace}");
            for (field, expected) in fields.iter().zip(expected) {
                assert!(field.starts_with(expected), "{trace}");
            }
        }
        for complete in [
            "Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=1;Lineage=a87bd80c:1|68fd508a:5;Self=1-0-1",
            "sampled=?; parent=53995c3f42cd8ad8; root=1-0-1;",
        ] {
            assert_eq!(completed(Some(complete)), complete);
        }
    }
}
