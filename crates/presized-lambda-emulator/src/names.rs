//! The names of functions, and the account and region that the emulator is in.

/// Returns whether a function can have this name.
pub(crate) fn is_function_name(name: &str) -> bool {
    (1..=64).contains(&name.len()) && is_word(name)
}

/// Returns whether a version or an alias can have this name.
pub(crate) fn is_qualifier(qualifier: &str) -> bool {
    let published = qualifier.strip_prefix(LATEST);
    matches!(published, Some("" | ".PUBLISHED"))
        || (1..=128).contains(&qualifier.len()) && is_word(qualifier)
}

/// Returns the ARN of a function.
pub(crate) fn arn(name: &str, qualifier: Option<&str>) -> String {
    let arn = format!("arn:aws:lambda:{REGION}:{ACCOUNT}:function:{name}");
    match qualifier {
        None => arn,
        Some(qualifier) => format!("{arn}:{qualifier}"),
    }
}

/// Returns the log group of a function.
pub(crate) fn log_group(name: &str) -> String {
    format!("/aws/lambda/{name}")
}

fn is_word(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
}

/// The version of a function that was not published.
pub(crate) const LATEST: &str = "$LATEST";

pub(crate) const REGION: &str = "us-east-1";

/// The log stream of all functions.
pub(crate) const LOG_STREAM: &str = "emulator";

/// The account in the examples of AWS's documentation.
const ACCOUNT: &str = "123456789012";
