//! The trace header, by which X-Ray connects calls and Lambda detects recursive loops
//! (<https://docs.aws.amazon.com/lambda/latest/dg/invocation-recursion.html>).

use http::HeaderValue;
use percent_encoding::{CONTROLS, percent_encode};

use super::environment::variable;

/// Reads a variable of the environment.
pub(super) type Lookup = fn(&str) -> Option<String>;

/// Returns `lookup` if it is the environment of a function, as all AWS SDKs decide it.
pub(super) fn in_function(lookup: Option<Lookup>) -> Option<Lookup> {
    lookup.filter(|lookup| variable(lookup, FUNCTION_NAME).is_some())
}

/// Returns the trace header of the current invocation. A runtime that serves one invocation at a
/// time changes the variable with each.
pub(super) fn of_environment(lookup: Lookup) -> Option<HeaderValue> {
    variable(&lookup, TRACE_ID).as_deref().and_then(header_value)
}

/// Returns the header value of a trace id, or `None` if it is blank. Control characters and
/// characters outside of ASCII are percent-encoded, as in the AWS SDKs.
pub(super) fn header_value(trace_id: &str) -> Option<HeaderValue> {
    let trimmed = trace_id.trim();
    if trimmed.is_empty() {
        return None;
    }
    HeaderValue::try_from(percent_encode(trimmed.as_bytes(), CONTROLS).to_string()).ok()
}

const FUNCTION_NAME: &str = "AWS_LAMBDA_FUNCTION_NAME";
const TRACE_ID: &str = "_X_AMZN_TRACE_ID";

#[cfg(test)]
mod tests;
