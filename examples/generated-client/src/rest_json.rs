//! Errors of the protocol aws.protocols#restJson1: "Operation error serialization" in
//! <https://smithy.io/2.0/aws/protocols/aws-restjson1-protocol.html>.

use serde_json::Value;

use super::{ErrorMetadata, ErrorResponse};

/// The code of the header, or else of the body; the message of the body, if that is JSON.
pub fn metadata(response: &ErrorResponse) -> ErrorMetadata {
    let document = serde_json::from_slice(&response.content).unwrap_or(Value::Null);
    let member = |name| document.get(name).and_then(Value::as_str);
    let header = response.headers.get("x-amzn-errortype").and_then(|value| value.to_str().ok());
    let code = [header, member("code"), member("__type")];
    let code = code.into_iter().flatten().map(shape_name).find(|name| !name.is_empty());
    let message = ["message", "Message", "errorMessage"].into_iter().find_map(member);
    ErrorMetadata {
        status: response.status,
        code: code.map(str::to_owned),
        message: message.map(str::to_owned),
    }
}

/// `namespace#Name:URI` without namespace and URI, of which each may be missing.
fn shape_name(code: &str) -> &str {
    // The URI first: there may be a `#` in it.
    let code = code.split_once(':').map_or(code, |(name, _uri)| name);
    code.split_once('#').map_or(code, |(_namespace, name)| name).trim()
}
