//! The wire format of the Runtime API: routes, header names, environment variables and limits.
//!
//! A client and a server of the
//! [Runtime API](https://docs.aws.amazon.com/lambda/latest/dg/runtimes-api.html) need the same
//! values. The runtime of this crate uses them, and an emulator or a test server can.

mod route;

use http::header::{HeaderName, HeaderValue};

pub use self::route::Route;

/// Carries the id of the request, beside an event.
pub const REQUEST_ID: HeaderName = HeaderName::from_static("lambda-runtime-aws-request-id");

/// Carries an id that tells two invocations of one request apart, beside an event.
///
/// A response or an error that belongs to the event carries it as well.
pub const INVOCATION_ID: HeaderName = HeaderName::from_static("lambda-runtime-invocation-id");

/// Carries the deadline in milliseconds since the Unix epoch, beside an event.
pub const DEADLINE_MS: HeaderName = HeaderName::from_static("lambda-runtime-deadline-ms");

/// Carries the ARN by which the function was invoked, beside an event.
pub const FUNCTION_ARN: HeaderName = HeaderName::from_static("lambda-runtime-invoked-function-arn");

/// Carries the trace header of X-Ray, beside an event.
pub const TRACE_ID: HeaderName = HeaderName::from_static("lambda-runtime-trace-id");

/// Carries the client context in JSON, beside an event.
pub const CLIENT_CONTEXT: HeaderName = HeaderName::from_static("lambda-runtime-client-context");

/// Carries the Amazon Cognito identity in JSON, beside an event.
pub const COGNITO_IDENTITY: HeaderName = HeaderName::from_static("lambda-runtime-cognito-identity");

/// Carries the id of the tenant, beside an event.
pub const TENANT_ID: HeaderName = HeaderName::from_static("lambda-runtime-aws-tenant-id");

/// Carries the response mode: [`STREAMING`], or nothing for a buffered response.
pub const RESPONSE_MODE: HeaderName =
    HeaderName::from_static("lambda-runtime-function-response-mode");

/// Carries the type of a function's error: a header of an error, a trailer of a streamed response.
pub const FUNCTION_ERROR_TYPE: HeaderName =
    HeaderName::from_static("lambda-runtime-function-error-type");

/// Carries the error report in base64: a trailer of a streamed response.
pub const FUNCTION_ERROR_BODY: HeaderName =
    HeaderName::from_static("lambda-runtime-function-error-body");

/// Carries the cause of an error for X-Ray, in JSON.
pub const XRAY_ERROR_CAUSE: HeaderName =
    HeaderName::from_static("lambda-runtime-function-xray-error-cause");

/// Carries the name of an extension that registers.
pub const EXTENSION_NAME: HeaderName = HeaderName::from_static("lambda-extension-name");

/// Carries the id of an extension: beside the response to its registration, and its requests.
pub const EXTENSION_ID: HeaderName = HeaderName::from_static("lambda-extension-identifier");

/// The value of [`RESPONSE_MODE`] for a streamed response.
pub const STREAMING: HeaderValue = HeaderValue::from_static("streaming");

/// The content type of a streamed response that begins with an HTTP prelude.
pub const HTTP_INTEGRATION: HeaderValue =
    HeaderValue::from_static("application/vnd.awslambda.http-integration-response");

/// Separates the HTTP prelude from the body of a streamed response.
pub const PRELUDE_END: [u8; 8] = [0; 8];

/// The environment variable that holds the endpoint of the Runtime API.
pub const ENDPOINT_VARIABLE: &str = "AWS_LAMBDA_RUNTIME_API";

/// The environment variable that holds the number of concurrent invocations of one process.
pub const CONCURRENCY_VARIABLE: &str = "AWS_LAMBDA_MAX_CONCURRENCY";

/// The environment variable that is [`SNAP_START`] where Lambda takes a snapshot of the process.
pub const INITIALIZATION_VARIABLE: &str = "AWS_LAMBDA_INITIALIZATION_TYPE";

/// The value of [`INITIALIZATION_VARIABLE`] where Lambda takes a snapshot of the process.
pub const SNAP_START: &str = "snap-start";

/// The maximum length of an event in bytes: 6 MiB and 100 bytes.
pub const EVENT_MAX: u64 = (6 << 20) + 100;

/// The maximum length of a buffered response, or of an error report, in bytes: 6 MiB and 100 bytes.
pub const RESPONSE_MAX: u64 = (6 << 20) + 100;

/// The maximum length of a
/// [streamed response](https://docs.aws.amazon.com/lambda/latest/dg/configuration-response-streaming.html)
/// in bytes: 200 MiB.
pub const STREAM_MAX: u64 = 200 << 20;

/// The maximum length of [`XRAY_ERROR_CAUSE`] in bytes: 64 KiB.
///
/// A cause is a part of a segment, and X-Ray takes
/// [segments](https://docs.aws.amazon.com/general/latest/gr/xray.html) of up to 64 KB. Lambda itself
/// drops a cause of 1 MiB and more. Other servers of the Runtime API close the connection at shorter
/// heads of requests, so that the error would not arrive.
pub const XRAY_ERROR_CAUSE_MAX: usize = 64 << 10;

/// The maximum length of all trailers of a streamed response in bytes, with the empty line.
///
/// Lambda's server of the Runtime API is written in Go, whose HTTP server reads this much. It treats
/// a response with longer trailers as one whose connection broke.
pub const TRAILERS_MAX: usize = 4_096;
