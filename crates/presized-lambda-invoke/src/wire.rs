//! The names and limits of the Invoke API as they are on the wire: operations and their paths,
//! headers, and sizes of payloads.
//!
//! The client uses them, and a server of the same API can: `presized-lambda-emulator` does.

use http::HeaderName;

/// An operation of the Invoke API.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// [`Invoke`](https://docs.aws.amazon.com/lambda/latest/api/API_Invoke.html): the response is
    /// one body.
    Invoke,
    /// [`InvokeWithResponseStream`](https://docs.aws.amazon.com/lambda/latest/api/API_InvokeWithResponseStream.html):
    /// the response is an event stream.
    InvokeWithResponseStream,
}

impl Operation {
    /// Returns the parts of the request path before and after the function name.
    pub const fn path_parts(self) -> (&'static str, &'static str) {
        match self {
            Self::Invoke => ("/2015-03-31/functions/", "/invocations"),
            Self::InvokeWithResponseStream => {
                ("/2021-11-15/functions/", "/response-streaming-invocations")
            }
        }
    }

    /// Returns the operation that a request path belongs to and the function name in the path,
    /// or `None` for a path of another operation.
    ///
    /// The function name is returned as it is in the path, with its percent-encoding.
    pub fn of_path(path: &str) -> Option<(Self, &str)> {
        [Self::Invoke, Self::InvokeWithResponseStream].into_iter().find_map(|operation| {
            let (before, after) = operation.path_parts();
            let name = path.strip_prefix(before)?.strip_suffix(after)?;
            Some((operation, name))
        })
    }
}

/// The query parameter that names a version or an alias.
pub const QUALIFIER: &str = "Qualifier";

/// The request header that sets the [invocation type](crate::InvocationType).
pub const INVOCATION_TYPE: HeaderName = HeaderName::from_static("x-amz-invocation-type");

/// The request header that asks for the log tail with the value [`LOG_TYPE_TAIL`].
pub const LOG_TYPE: HeaderName = HeaderName::from_static("x-amz-log-type");

/// The value of [`LOG_TYPE`] that asks for the log tail.
pub const LOG_TYPE_TAIL: &str = "Tail";

/// The request header that has the client context as JSON in base64.
pub const CLIENT_CONTEXT: HeaderName = HeaderName::from_static("x-amz-client-context");

/// The request header that names the tenant of a function with tenant isolation.
pub const TENANT_ID: HeaderName = HeaderName::from_static("x-amz-tenant-id");

/// The request header that has the X-Ray trace of the caller.
pub const TRACE_ID: HeaderName = HeaderName::from_static("x-amzn-trace-id");

/// The request header that names the execution of a durable function.
pub const DURABLE_EXECUTION_NAME: HeaderName =
    HeaderName::from_static("x-amz-durable-execution-name");

/// The response header that has the request id.
pub const REQUEST_ID: HeaderName = HeaderName::from_static("x-amzn-requestid");

/// The response header that is present if the function failed. Its value is `Handled` or
/// `Unhandled`.
pub const FUNCTION_ERROR: HeaderName = HeaderName::from_static("x-amz-function-error");

/// The response header that has the version of the function that ran.
pub const EXECUTED_VERSION: HeaderName = HeaderName::from_static("x-amz-executed-version");

/// The response header that has the log tail in base64.
pub const LOG_RESULT: HeaderName = HeaderName::from_static("x-amz-log-result");

/// The response header that has the ARN of the execution of a durable function.
pub const DURABLE_EXECUTION_ARN: HeaderName =
    HeaderName::from_static("x-amz-durable-execution-arn");

/// The response header that has the code of a service error.
pub const ERROR_TYPE: HeaderName = HeaderName::from_static("x-amzn-errortype");

/// The content type of a streamed response.
pub const EVENT_STREAM: &str = "application/vnd.amazon.eventstream";

/// The longest payload that Lambda accepts for a synchronous invocation, in bytes: 6 MiB
/// (<https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html>).
pub const REQUEST_MAX: u64 = 6 << 20;

/// The longest payload that Lambda accepts for an asynchronous invocation, in bytes: 1 MiB
/// (<https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html>).
pub const EVENT_MAX: u64 = 1 << 20;

/// The longest response that Lambda accepts from a function without streaming, in bytes: 6 MiB
/// and 100 bytes.
///
/// The API reference says 6 MB. The error of a function whose response is longer says `exceeded
/// maximum allowed payload size (6291556 bytes)`.
pub const RESPONSE_MAX: u64 = (6 << 20) + 100;

/// The longest log tail that Lambda returns, in bytes before base64: 4 KiB.
pub const LOG_TAIL_MAX: usize = 4 << 10;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn path_parts_are_recognized_around_a_function_name() {
        for operation in [Operation::Invoke, Operation::InvokeWithResponseStream] {
            let (before, after) = operation.path_parts();
            let path = format!("{before}fn%3Alive{after}");
            assert_eq!(Operation::of_path(&path), Some((operation, "fn%3Alive")));
        }
    }

    #[test]
    fn path_of_another_operation_is_not_recognized() {
        for path in [
            "/2015-03-31/functions/fn/response-streaming-invocations",
            "/2021-11-15/functions/fn/invocations",
            "/2015-03-31/functions/fn",
            "/",
            "",
            "*",
        ] {
            assert_eq!(Operation::of_path(path), None, "{path}");
        }
    }
}
