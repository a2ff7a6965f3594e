//! The headers of a request to the Invoke API.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::HeaderMap;
use http::header::{HeaderName, HeaderValue};
use presized_lambda_invoke::wire::{
    CLIENT_CONTEXT, INVOCATION_TYPE, LOG_TYPE, LOG_TYPE_TAIL, Operation, TENANT_ID, TRACE_ID,
};
use presized_lambda_runtime::wire;

use super::ServiceError;
use super::call_type::CallType;
use crate::ids;

/// The options that a client sets by headers.
#[derive(Debug)]
pub(super) struct InvokeHeaders {
    pub(super) call_type: CallType,
    pub(super) wants_log: bool,
    client_context: Option<HeaderValue>,
    tenant_id: Option<HeaderValue>,
    trace_id: HeaderValue,
}

impl InvokeHeaders {
    pub(super) fn read(headers: &HeaderMap, operation: Operation) -> Result<Self, ServiceError> {
        let call_type = match headers.get(INVOCATION_TYPE) {
            None => CallType::RequestResponse,
            Some(value) => CallType::read(value, operation)
                .ok_or_else(|| ServiceError::invalid_parameter(&INVOCATION_TYPE, value))?,
        };
        let wants_log = match headers.get(LOG_TYPE) {
            None => false,
            Some(value) if value == LOG_TYPE_TAIL => true,
            Some(value) if value == "None" => false,
            Some(value) => return Err(ServiceError::invalid_parameter(&LOG_TYPE, value)),
        };
        Ok(Self {
            call_type,
            wants_log,
            client_context: headers.get(CLIENT_CONTEXT).map(client_context).transpose()?,
            tenant_id: headers.get(TENANT_ID).cloned(),
            trace_id: ids::trace(headers.get(TRACE_ID)),
        })
    }

    /// Returns the headers that the runtime gets with the event.
    pub(super) fn into_event_headers(self, request_id: &str, arn: &str) -> HeaderMap {
        // Both consist of ASCII letters, digits and punctuation.
        let value = |text: &str| HeaderValue::from_str(text).ok();
        let headers: [(HeaderName, Option<HeaderValue>); 5] = [
            (wire::REQUEST_ID, value(request_id)),
            (wire::FUNCTION_ARN, value(arn)),
            (wire::TRACE_ID, Some(self.trace_id)),
            (wire::CLIENT_CONTEXT, self.client_context),
            (wire::TENANT_ID, self.tenant_id),
        ];
        headers.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
    }
}

/// Decodes a client context from base64, into JSON on one line as a header needs it.
fn client_context(header: &HeaderValue) -> Result<HeaderValue, ServiceError> {
    let json = STANDARD.decode(header).map_err(|_| ServiceError::ClientContext)?;
    let value: serde_json::Value =
        serde_json::from_slice(&json).map_err(|_| ServiceError::ClientContext)?;
    let line = HeaderValue::from_bytes(&json).or_else(|_| value.to_string().try_into());
    line.map_err(|_| ServiceError::ClientContext)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(
        headers: &[(&'static str, &str)],
        operation: Operation,
    ) -> Result<InvokeHeaders, ServiceError> {
        let headers = headers.iter().map(|&(name, value)| {
            (HeaderName::from_static(name), HeaderValue::from_str(value).unwrap())
        });
        InvokeHeaders::read(&headers.collect(), operation)
    }

    #[test]
    fn invocation_type_is_one_of_three_and_not_event_for_a_stream() {
        use Operation::{Invoke, InvokeWithResponseStream};
        for (operation, value, expected) in [
            (Invoke, "RequestResponse", Some(CallType::RequestResponse)),
            (Invoke, "Event", Some(CallType::Event)),
            (Invoke, "DryRun", Some(CallType::DryRun)),
            (Invoke, "event", None),
            (Invoke, "", None),
            (InvokeWithResponseStream, "RequestResponse", Some(CallType::RequestResponse)),
            (InvokeWithResponseStream, "DryRun", Some(CallType::DryRun)),
            (InvokeWithResponseStream, "Event", None),
        ] {
            let headers = read(&[("x-amz-invocation-type", value)], operation);
            assert_eq!(headers.ok().map(|headers| headers.call_type), expected, "{value}");
        }
        let headers = read(&[], Invoke).unwrap();
        assert_eq!(headers.call_type, CallType::RequestResponse);
    }

    #[test]
    fn log_type_is_tail_or_none() {
        for (value, expected) in [("Tail", Some(true)), ("None", Some(false)), ("tail", None)] {
            let headers = read(&[("x-amz-log-type", value)], Operation::Invoke);
            assert_eq!(headers.ok().map(|headers| headers.wants_log), expected, "{value}");
        }
    }

    #[test]
    fn client_context_reaches_the_runtime_as_json_on_one_line() {
        for (json, expected) in [
            (r#"{"a": "b"}"#, Some(r#"{"a": "b"}"#)),
            ("{\r\n\"a\": 1}", Some(r#"{"a":1}"#)),
            ("{\"a\": \"\u{f6}\"}", Some("{\"a\": \"\u{f6}\"}")),
            ("{bad", None),
            ("", None),
        ] {
            let encoded = STANDARD.encode(json);
            let headers = read(&[("x-amz-client-context", &encoded)], Operation::Invoke);
            let context = headers.ok().map(|headers| headers.into_event_headers("r", "arn"));
            let found = context.map(|context| context[wire::CLIENT_CONTEXT].clone());
            assert_eq!(found.as_ref().map(HeaderValue::as_bytes), expected.map(str::as_bytes));
        }
        assert!(read(&[("x-amz-client-context", "%%%")], Operation::Invoke).is_err());
    }

    #[test]
    fn runtime_gets_request_id_arn_trace_and_tenant() {
        let headers =
            [("x-amz-tenant-id", "blue"), ("x-amzn-trace-id", "Root=1-0-1;Parent=1;Sampled=1")];
        let context =
            read(&headers, Operation::Invoke).unwrap().into_event_headers("r-1", "arn:aws:x");
        for (name, value) in [
            ("lambda-runtime-aws-request-id", "r-1"),
            ("lambda-runtime-invoked-function-arn", "arn:aws:x"),
            ("lambda-runtime-trace-id", "Root=1-0-1;Parent=1;Sampled=1"),
            ("lambda-runtime-aws-tenant-id", "blue"),
        ] {
            assert_eq!(context[name], value);
        }
        assert_eq!(context.len(), 4);
    }
}
