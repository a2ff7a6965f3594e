//! The builder of a client.

use std::fmt;

use http::HeaderValue;
use presized::{BufferPool, Reader};

use super::api::Api;
use super::endpoint::Endpoint;
use super::wire::{CONCURRENCY_VARIABLE, ENDPOINT_VARIABLE, EVENT_MAX};
use super::{Error, FunctionConfig, RuntimeClient};

/// Builds a [`RuntimeClient`].
///
/// # Examples
///
/// ```
/// # fn main() -> Result<(), presized_lambda_runtime::Error> {
/// use presized::{BufferPool, Reader};
/// use presized_lambda_runtime::RuntimeClient;
///
/// let client = RuntimeClient::builder()
///     .endpoint("127.0.0.1:9001")
///     .reader(Reader::new(1 << 20).pool(&BufferPool::new(32 << 20)))
///     .build()?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
#[must_use = "a builder does nothing until `build` is called"]
pub struct RuntimeClientBuilder {
    endpoint: Option<String>,
    user_agent: Option<String>,
    reader: Reader,
    function: FunctionConfig,
}

impl RuntimeClientBuilder {
    /// Sets the endpoint of the Runtime API.
    ///
    /// It is `host:port`, as in `AWS_LAMBDA_RUNTIME_API`, or `http://host:port/path`, as some
    /// emulators need it.
    pub fn endpoint(mut self, endpoint: impl Into<String>) -> Self {
        self.endpoint = Some(endpoint.into());
        self
    }

    /// Sets how events are read: the limit in bytes, the pool, the history and the budget.
    ///
    /// The default limit is [`EVENT_MAX`](super::wire::EVENT_MAX), which is Lambda's own. A reader
    /// without a pool gets one that keeps up to 16 MiB: the event and the response of one
    /// invocation. [`RuntimeClient::from_env`] keeps as much for each concurrent invocation. A
    /// reader without a history gets one. The history predicts the length of events that declare
    /// none.
    ///
    /// # With a memory budget
    ///
    /// A [`MemoryBudget`](presized::MemoryBudget) bounds the memory of the events of all concurrent
    /// invocations. An event counts until the last clone of its `Bytes` is dropped. Responses do
    /// not count.
    ///
    /// - An event waits for room after Lambda has sent it, so the wait is part of the time that the
    ///   function has for the invocation. While it waits, the invocation is not handled.
    /// - Handlers that keep events after they return, for example in a cache, deadlock the
    ///   function: once they hold the whole budget, every later event waits for ever. Copy what you
    ///   keep.
    /// - With [`fail_fast`](presized::MemoryBudget::fail_fast), an event without room fails its
    ///   invocation, which is reported as `Runtime.EventUnreadable`.
    /// - A limit above the budget fails every event. The default limit is 6 MiB.
    ///
    /// Lambda bounds concurrency already, so most functions need no budget.
    pub fn reader(mut self, reader: impl Into<Reader>) -> Self {
        self.reader = reader.into();
        self
    }

    /// Sets the `User-Agent` header of all requests.
    pub fn user_agent(mut self, user_agent: impl Into<String>) -> Self {
        self.user_agent = Some(user_agent.into());
        self
    }

    /// Sets the configuration that invocations find in [`Context::function`](super::Context::function).
    ///
    /// The default is empty. [`RuntimeClient::from_env`] reads it from the environment.
    pub fn function(mut self, function: FunctionConfig) -> Self {
        self.function = function;
        self
    }

    /// Creates the client. It opens a connection when it needs one.
    ///
    /// # Errors
    ///
    /// Returns [`Config`](super::ErrorKind::Config) if the endpoint is missing or invalid, or if
    /// the user agent is not a header value.
    pub fn build(self) -> Result<RuntimeClient, Error> {
        let endpoint = self.endpoint.ok_or_else(|| Error::config("endpoint is not set"))?;
        let endpoint: Endpoint = endpoint.parse().map_err(Error::config)?;
        let user_agent = match self.user_agent {
            Some(text) => HeaderValue::try_from(text)
                .map_err(|_invalid| Error::config("user agent must be a valid header value"))?,
            None => HeaderValue::from_static(USER_AGENT),
        };
        let pool = self.reader.get_pool().cloned();
        let pool = pool.unwrap_or_else(|| BufferPool::new(IDLE_BYTES));
        let history = self.reader.get_history().cloned().unwrap_or_default();
        let reader = self.reader.pool(&pool).history(&history);
        Ok(RuntimeClient::new(Api::new(endpoint, user_agent), reader, pool, self.function))
    }

    pub(super) fn new() -> Self {
        let (reader, function) = (Reader::new(EVENT_MAX), FunctionConfig::default());
        Self { endpoint: None, user_agent: None, reader, function }
    }

    /// Reads the environment, in which `variable` looks up a name.
    pub(super) fn from_variables(variable: impl Fn(&str) -> Option<String>) -> Result<Self, Error> {
        let variable = |name: &str| {
            let value = variable(name)?.trim().to_owned();
            (!value.is_empty()).then_some(value)
        };
        let endpoint = variable(ENDPOINT_VARIABLE)
            .ok_or_else(|| Error::config(format!("{ENDPOINT_VARIABLE} is not set")))?;
        let concurrency = variable(CONCURRENCY_VARIABLE).and_then(|number| number.parse().ok());
        let idle_bytes = IDLE_BYTES.saturating_mul(concurrency.unwrap_or(1));
        let reader = Reader::new(EVENT_MAX).pool(&BufferPool::new(idle_bytes));
        let function = FunctionConfig::from_variables(variable);
        Ok(Self::new().endpoint(endpoint).reader(reader).function(function))
    }
}

impl fmt::Debug for RuntimeClientBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RuntimeClientBuilder")
            .field("endpoint", &self.endpoint)
            .field("user_agent", &self.user_agent)
            .field("reader", &self.reader)
            .field("function", &self.function)
            .finish()
    }
}

/// The bytes that a pool keeps for one invocation: the buffers of the longest event and of the
/// longest response.
const IDLE_BYTES: u64 = 16 << 20;

const USER_AGENT: &str = concat!("presized/", env!("CARGO_PKG_VERSION"));

#[cfg(test)]
mod tests {
    use std::error::Error as _;

    use super::*;

    fn from(variables: &[(&str, &str)]) -> Result<RuntimeClient, Error> {
        let variable = |name: &str| {
            let found = variables.iter().find(|(variable, _)| *variable == name)?;
            Some(found.1.to_owned())
        };
        RuntimeClientBuilder::from_variables(variable)?.build()
    }

    #[test]
    fn pool_from_the_environment_grows_with_the_concurrency() {
        let api = ("AWS_LAMBDA_RUNTIME_API", "127.0.0.1:9001");
        let table = [(None, 16 << 20), (Some(" 4 "), 64 << 20), (Some(""), 16 << 20)];
        for (concurrency, idle_bytes) in table {
            let mut variables = vec![api];
            variables.extend(concurrency.map(|number| ("AWS_LAMBDA_MAX_CONCURRENCY", number)));
            let client = from(&variables).unwrap();
            let expected = format!("max_idle_bytes: {idle_bytes},");
            assert!(format!("{:?}", client.pool()).contains(&expected), "{concurrency:?}");
        }
    }

    #[test]
    fn configuration_error_names_what_is_missing_or_wrong() {
        let client = |endpoint: &str| RuntimeClient::builder().endpoint(endpoint);
        let table = [
            (from(&[]), "AWS_LAMBDA_RUNTIME_API is not set"),
            (from(&[("AWS_LAMBDA_RUNTIME_API", " ")]), "AWS_LAMBDA_RUNTIME_API is not set"),
            (RuntimeClient::builder().build(), "endpoint is not set"),
            (client("a b").build(), "endpoint must be host:port or http://host:port/path"),
            (client("a:1").user_agent("\n").build(), "user agent must be a valid header value"),
        ];
        for (built, expected) in table {
            let error = built.unwrap_err();
            assert_eq!(error.to_string(), "runtime configuration is invalid");
            assert_eq!(error.source().unwrap().to_string(), expected);
            assert!(error.is_fatal());
        }
    }
}
