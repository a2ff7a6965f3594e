//! The context of an invocation.

use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use http::HeaderMap;
use http::header::HeaderName;
use serde::de::IgnoredAny;
use tokio::time;

use super::FunctionConfig;
use super::wire::{
    CLIENT_CONTEXT, COGNITO_IDENTITY, DEADLINE_MS, FUNCTION_ARN, TENANT_ID, TRACE_ID,
};

/// Describes an invocation: its id, its deadline and its caller.
///
/// Its fields are the
/// [headers](https://docs.aws.amazon.com/lambda/latest/dg/runtimes-api.html#runtimes-api-next) that
/// come with an event, and the configuration of the function. A field is `None` if the header is missing or invalid.
///
/// # Examples
///
/// A test of a handler starts with an empty context:
///
/// ```
/// use presized_lambda_runtime::{Context, ErrorReport};
///
/// async fn greet(name: String, context: Context) -> Result<String, ErrorReport> {
///     Ok(format!("Hello, {name} of {}!", context.tenant_id.unwrap_or_default()))
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let mut context = Context::default();
/// context.tenant_id = Some("blue".to_owned());
/// assert_eq!(greet("Ada".to_owned(), context).await.unwrap(), "Hello, Ada of blue!");
/// # }
/// ```
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Context {
    /// The id of the request, which is in the log of Lambda too.
    pub request_id: String,
    /// The time at which Lambda ends the invocation, by the monotonic clock.
    pub deadline: Option<Instant>,
    /// The time at which Lambda ends the invocation, in milliseconds since the Unix epoch.
    pub deadline_ms: Option<u64>,
    /// The ARN by which the function was invoked. It can contain a version or an alias.
    pub function_arn: Option<String>,
    /// The trace header of X-Ray.
    ///
    /// A call to another function has to pass it on, or X-Ray loses the trace and Lambda cannot stop
    /// functions that call each other in a loop. With `presized-lambda-invoke`:
    /// `client.invoke(name).trace_id(context.trace_id.as_deref())`.
    pub trace_id: Option<String>,
    /// The client context in JSON. Callers set it; the AWS Mobile SDK describes the device in it.
    pub client_context: Option<String>,
    /// The Amazon Cognito identity of the caller, in JSON.
    pub identity: Option<String>,
    /// The id of the tenant, for a function with tenant isolation.
    pub tenant_id: Option<String>,
    /// The name, the version, the memory and the log of the function. All invocations share it.
    pub function: Arc<FunctionConfig>,
}

/// The error of a future that was dropped at the deadline of its invocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeadlineExceeded;

impl Context {
    /// Returns the time until the deadline, which is zero after the deadline.
    pub fn remaining(&self) -> Option<Duration> {
        let deadline = self.deadline?;
        Some(deadline.saturating_duration_since(Instant::now()))
    }

    /// Awaits `future` until the deadline. Without a deadline, awaits it to its end.
    ///
    /// Lambda ends the process at the deadline. A function that needs time to respond must give
    /// its work less than [`remaining`](Self::remaining), for example with a timeout of tokio.
    ///
    /// # Errors
    ///
    /// Returns [`DeadlineExceeded`] if the deadline comes first. `future` is dropped then.
    ///
    /// # Cancel safety
    ///
    /// Dropping this future drops `future`.
    ///
    /// # Panics
    ///
    /// Panics if there is a deadline and no tokio runtime with its timer enabled.
    ///
    /// # Examples
    ///
    /// ```
    /// use presized_lambda_runtime::{Context, ErrorReport};
    ///
    /// # async fn look_up(key: String) -> Result<String, ErrorReport> { Ok(key) }
    /// async fn handler(key: String, context: Context) -> Result<String, ErrorReport> {
    ///     context.before_deadline(look_up(key)).await?
    /// }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// # assert_eq!(handler("a".to_owned(), Context::default()).await.unwrap(), "a");
    /// # }
    /// ```
    pub async fn before_deadline<F: Future>(
        &self,
        future: F,
    ) -> Result<F::Output, DeadlineExceeded> {
        match self.deadline {
            Some(deadline) => {
                let ended = time::timeout_at(deadline.into(), future).await;
                ended.map_err(|_elapsed| DeadlineExceeded)
            }
            None => Ok(future.await),
        }
    }

    /// Reads the headers of an invocation.
    pub(super) fn new(
        request_id: String,
        headers: &HeaderMap,
        function: Arc<FunctionConfig>,
    ) -> Self {
        let deadline_ms = text(headers, DEADLINE_MS).and_then(|value| value.parse().ok());
        Self {
            request_id,
            deadline: deadline_ms.and_then(instant),
            deadline_ms,
            function_arn: owned(headers, FUNCTION_ARN),
            trace_id: owned(headers, TRACE_ID),
            client_context: json(headers, CLIENT_CONTEXT),
            identity: json(headers, COGNITO_IDENTITY),
            tenant_id: owned(headers, TENANT_ID),
            function,
        }
    }
}

impl fmt::Display for DeadlineExceeded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("deadline of the invocation exceeded")
    }
}

impl std::error::Error for DeadlineExceeded {}

/// Returns the instant at which the system clock shows this time.
fn instant(epoch_ms: u64) -> Option<Instant> {
    let at = SystemTime::UNIX_EPOCH.checked_add(Duration::from_millis(epoch_ms))?;
    let now = Instant::now();
    match at.duration_since(SystemTime::now()) {
        Ok(ahead) => now.checked_add(ahead),
        // An `Instant` cannot be before the start of the machine.
        Err(error) => Some(now.checked_sub(error.duration()).unwrap_or(now)),
    }
}

/// Returns the value of a header that is not empty. Values that clients set can be any UTF-8.
fn text(headers: &HeaderMap, name: HeaderName) -> Option<&str> {
    let value = std::str::from_utf8(headers.get(name)?.as_bytes()).ok()?;
    (!value.is_empty()).then_some(value)
}

fn owned(headers: &HeaderMap, name: HeaderName) -> Option<String> {
    text(headers, name).map(str::to_owned)
}

fn json(headers: &HeaderMap, name: HeaderName) -> Option<String> {
    owned(headers, name).filter(|json| serde_json::from_str::<IgnoredAny>(json).is_ok())
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn context(headers: &[(&'static str, &[u8])]) -> Context {
        let headers = headers.iter().map(|(name, value)| {
            (HeaderName::from_static(name), HeaderValue::from_bytes(value).unwrap())
        });
        Context::new("id".to_owned(), &headers.collect(), Arc::default())
    }

    fn epoch_ms() -> u64 {
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
        since.as_millis().try_into().unwrap()
    }

    #[test]
    fn missing_or_invalid_header_is_none() {
        let values: [&[u8]; 6] = [b"", b"x", b"{bad", b"-", b"\xff", b"18446744073709551616x"];
        for value in values {
            let context = context(&[
                ("lambda-runtime-deadline-ms", value),
                ("lambda-runtime-client-context", value),
                ("lambda-runtime-cognito-identity", value),
            ]);
            assert_eq!((context.deadline, context.deadline_ms), (None, None), "{value:?}");
            assert_eq!((context.client_context, context.identity), (None, None), "{value:?}");
        }
        for value in [&b""[..], b"\xff"] {
            let context = context(&[
                ("lambda-runtime-invoked-function-arn", value),
                ("lambda-runtime-trace-id", value),
                ("lambda-runtime-aws-tenant-id", value),
            ]);
            assert_eq!((context.function_arn, context.trace_id), (None, None), "{value:?}");
            assert_eq!(context.tenant_id, None, "{value:?}");
        }
    }

    #[test]
    fn headers_that_clients_set_may_be_any_utf8() {
        let context = context(&[
            ("lambda-runtime-client-context", b"{\"custom\":{\"n\":\"\xc3\xa9\"}}"),
            ("lambda-runtime-aws-tenant-id", b"\xc3\xa9"),
        ]);
        assert_eq!(context.client_context.unwrap(), "{\"custom\":{\"n\":\"\u{e9}\"}}");
        assert_eq!(context.tenant_id.as_deref(), Some("\u{e9}"));
    }

    #[test]
    fn deadline_is_an_instant_in_the_past_or_the_future() {
        let minute = Duration::from_secs(60);
        let table = [
            (epoch_ms() + 60_000, Duration::from_secs(59)..=minute),
            (epoch_ms() - 60_000, Duration::ZERO..=Duration::ZERO),
            (0, Duration::ZERO..=Duration::ZERO),
        ];
        for (deadline_ms, expected) in table {
            let value = deadline_ms.to_string();
            let context = context(&[("lambda-runtime-deadline-ms", value.as_bytes())]);
            assert_eq!(context.deadline_ms, Some(deadline_ms));
            assert!(expected.contains(&context.remaining().unwrap()), "{deadline_ms}");
        }
        // There may be no such instant.
        let far = context(&[("lambda-runtime-deadline-ms", b"18446744073709551615")]);
        assert_eq!(far.deadline_ms, Some(u64::MAX));
    }

    #[tokio::test(start_paused = true)]
    async fn deadline_ends_a_future() {
        let mut context = context(&[]);
        assert_eq!(context.before_deadline(async { 1 }).await, Ok(1));
        context.deadline = Some(time::Instant::now().into_std() + Duration::from_secs(3));
        let slow = time::sleep(Duration::from_secs(4));
        assert_eq!(context.before_deadline(slow).await, Err(DeadlineExceeded));
        assert_eq!(context.before_deadline(async { 2 }).await, Ok(2));
    }
}
