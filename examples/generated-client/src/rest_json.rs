//! Error responses of the protocol aws.protocols#restJson1: "Operation error serialization" in
//! <https://smithy.io/2.0/aws/protocols/aws-restjson1-protocol.html>.

use serde_json::Value;

use crate::{ErrorMetadata, ErrorResponse};

/// Reads the code from the header field, or else from the JSON of the body, and the message from the
/// body.
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

/// Returns the name in `namespace#Name:URI`. Namespace and URI are optional.
fn shape_name(code: &str) -> &str {
    // The URI is cut first, because it may contain a `#`.
    let code = code.split_once(':').map_or(code, |(name, _uri)| name);
    code.split_once('#').map_or(code, |(_namespace, name)| name).trim()
}
