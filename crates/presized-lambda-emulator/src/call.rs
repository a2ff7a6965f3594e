//! What the headers of a call ask for, and what of it the function is told.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::HeaderMap;
use http::header::{HeaderName, HeaderValue};

use super::ids;
use super::names::Operation;
use super::service_error::ServiceError;

/// What is to be done with a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum InvocationType {
    RequestResponse,
    Event,
    DryRun,
}

/// The headers of a call, read.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) invocation_type: InvocationType,
    pub(super) tail_log: bool,
    client_context: Option<HeaderValue>,
    tenant_id: Option<HeaderValue>,
    trace_id: HeaderValue,
}

impl Call {
    pub(super) fn read(headers: &HeaderMap, operation: Operation) -> Result<Self, ServiceError> {
        let invalid = |header, value: &HeaderValue| ServiceError::InvalidParameter {
            header,
            value: String::from_utf8_lossy(value.as_bytes()).into_owned(),
        };
        let invocation_type = match headers.get(INVOCATION_TYPE) {
            None => InvocationType::RequestResponse,
            Some(value) => match (value.as_bytes(), operation) {
                (b"RequestResponse", _) => InvocationType::RequestResponse,
                (b"DryRun", _) => InvocationType::DryRun,
                (b"Event", Operation::Invoke) => InvocationType::Event,
                _ => return Err(invalid(INVOCATION_TYPE, value)),
            },
        };
        let tail_log = match headers.get(LOG_TYPE) {
            None => false,
            Some(value) => match value.as_bytes() {
                b"Tail" => true,
                b"None" => false,
                _ => return Err(invalid(LOG_TYPE, value)),
            },
        };
        let trace_id = match headers.get(TRACE_ID) {
            Some(trace_id) => trace_id.clone(),
            None => HeaderValue::try_from(ids::trace()).expect("digits and words"),
        };
        Ok(Self {
            invocation_type,
            tail_log,
            client_context: headers.get(CLIENT_CONTEXT).map(client_context).transpose()?,
            tenant_id: headers.get(TENANT_ID).cloned(),
            trace_id,
        })
    }

    /// What the runtime is told of the call, beside the event.
    pub(super) fn context(self, id: &str, arn: &str) -> HeaderMap {
        // Both are made here, of letters, digits and a few marks.
        let value = |text: &str| HeaderValue::from_str(text).ok();
        let context = [
            (AWS_REQUEST_ID, value(id)),
            (INVOKED_FUNCTION_ARN, value(arn)),
            (RUNTIME_TRACE_ID, Some(self.trace_id)),
            (RUNTIME_CLIENT_CONTEXT, self.client_context),
            (AWS_TENANT_ID, self.tenant_id),
        ];
        context.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
    }
}

impl InvocationType {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::RequestResponse => "RequestResponse",
            Self::Event => "Event",
            Self::DryRun => "DryRun",
        }
    }

    /// The most bytes an event can have
    /// (<https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html>).
    pub(super) fn payload_max(self) -> u64 {
        match self {
            Self::RequestResponse | Self::DryRun => 6 << 20,
            Self::Event => 1 << 20,
        }
    }
}

/// JSON out of base64, on one line as a header has to be.
fn client_context(header: &HeaderValue) -> Result<HeaderValue, ServiceError> {
    let json = STANDARD.decode(header).map_err(|_| ServiceError::ClientContext)?;
    let value: serde_json::Value =
        serde_json::from_slice(&json).map_err(|_| ServiceError::ClientContext)?;
    let line = HeaderValue::from_bytes(&json).or_else(|_| value.to_string().try_into());
    line.map_err(|_| ServiceError::ClientContext)
}

const INVOCATION_TYPE: &str = "x-amz-invocation-type";
const LOG_TYPE: &str = "x-amz-log-type";
const CLIENT_CONTEXT: &str = "x-amz-client-context";
const TENANT_ID: &str = "x-amz-tenant-id";
const TRACE_ID: &str = "x-amzn-trace-id";

const AWS_REQUEST_ID: HeaderName = HeaderName::from_static("lambda-runtime-aws-request-id");
const INVOKED_FUNCTION_ARN: HeaderName =
    HeaderName::from_static("lambda-runtime-invoked-function-arn");
const RUNTIME_TRACE_ID: HeaderName = HeaderName::from_static("lambda-runtime-trace-id");
const RUNTIME_CLIENT_CONTEXT: HeaderName = HeaderName::from_static("lambda-runtime-client-context");
const AWS_TENANT_ID: HeaderName = HeaderName::from_static("lambda-runtime-aws-tenant-id");

#[cfg(test)]
mod tests {
    use super::*;

    fn read(headers: &[(&'static str, &str)], operation: Operation) -> Result<Call, ServiceError> {
        let headers = headers.iter().map(|&(name, value)| {
            (HeaderName::from_static(name), HeaderValue::from_str(value).unwrap())
        });
        Call::read(&headers.collect(), operation)
    }

    #[test]
    fn the_type_is_one_of_three_and_no_stream_is_an_event() {
        use Operation::{Invoke, InvokeStreaming};
        for (operation, value, expected) in [
            (Invoke, "RequestResponse", Some(InvocationType::RequestResponse)),
            (Invoke, "Event", Some(InvocationType::Event)),
            (Invoke, "DryRun", Some(InvocationType::DryRun)),
            (Invoke, "event", None),
            (Invoke, "", None),
            (InvokeStreaming, "RequestResponse", Some(InvocationType::RequestResponse)),
            (InvokeStreaming, "DryRun", Some(InvocationType::DryRun)),
            (InvokeStreaming, "Event", None),
        ] {
            let call = read(&[("x-amz-invocation-type", value)], operation);
            assert_eq!(call.ok().map(|call| call.invocation_type), expected, "{value}");
        }
        let call = read(&[], Invoke).unwrap();
        assert_eq!(call.invocation_type, InvocationType::RequestResponse);
    }

    #[test]
    fn the_log_is_asked_for_by_name() {
        for (value, expected) in [("Tail", Some(true)), ("None", Some(false)), ("tail", None)] {
            let call = read(&[("x-amz-log-type", value)], Operation::Invoke);
            assert_eq!(call.ok().map(|call| call.tail_log), expected, "{value}");
        }
    }

    #[test]
    fn a_client_context_is_json_on_one_line() {
        for (json, expected) in [
            (r#"{"a": "b"}"#, Some(r#"{"a": "b"}"#)),
            ("{\r\n\"a\": 1}", Some(r#"{"a":1}"#)),
            ("{\"a\": \"\u{f6}\"}", Some("{\"a\": \"\u{f6}\"}")),
            ("{bad", None),
            ("", None),
        ] {
            let encoded = STANDARD.encode(json);
            let call = read(&[("x-amz-client-context", &encoded)], Operation::Invoke);
            let context = call.ok().map(|call| call.context("r", "arn"));
            let found = context.map(|context| context[RUNTIME_CLIENT_CONTEXT].clone());
            assert_eq!(found.as_ref().map(HeaderValue::as_bytes), expected.map(str::as_bytes));
        }
        assert!(read(&[("x-amz-client-context", "%%%")], Operation::Invoke).is_err());
    }

    #[test]
    fn the_runtime_is_told_who_what_and_where() {
        let headers = [("x-amz-tenant-id", "blue"), ("x-amzn-trace-id", "Root=1-0-1;Sampled=1")];
        let context = read(&headers, Operation::Invoke).unwrap().context("r-1", "arn:aws:x");
        for (name, value) in [
            ("lambda-runtime-aws-request-id", "r-1"),
            ("lambda-runtime-invoked-function-arn", "arn:aws:x"),
            ("lambda-runtime-trace-id", "Root=1-0-1;Sampled=1"),
            ("lambda-runtime-aws-tenant-id", "blue"),
        ] {
            assert_eq!(context[name], value);
        }
        assert_eq!(context.len(), 4);
    }
}
