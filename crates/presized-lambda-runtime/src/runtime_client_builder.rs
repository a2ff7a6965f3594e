//! The settings of a client.

use std::fmt;

use http::HeaderValue;

use super::endpoint::Endpoint;
use super::wire::{CONCURRENCY_VARIABLE, ENDPOINT_VARIABLE, EVENT_MAX};
use super::{Error, RuntimeClient};
use presized::{BufferPool, Reader};

/// Settings to make a [`RuntimeClient`] with.
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
#[must_use = "a builder builds nothing by itself"]
pub struct RuntimeClientBuilder {
    endpoint: Option<String>,
    user_agent: Option<String>,
    reader: Reader,
}

impl RuntimeClientBuilder {
    /// Where the Runtime API is: `host:port`, as `AWS_LAMBDA_RUNTIME_API` has it, or
    /// `http://host:port/base`, as some emulators want it.
    pub fn endpoint(mut self, endpoint: impl Into<String>) -> Self {
        self.endpoint = Some(endpoint.into());
        self
    }

    /// Sets how events are read: the limit in bytes, and the pool and history that they share. The
    /// default limit is [`EVENT_MAX`](super::EVENT_MAX), which Lambda itself enforces.
    ///
    /// A reader without a pool gets a pool that keeps up to 16 MiB: the event and the response of
    /// one invocation. A client [from the environment](RuntimeClient::from_env) keeps as much for
    /// each concurrent invocation. A reader without a history gets one, which predicts the length
    /// of events that declare none.
    pub fn reader(mut self, reader: impl Into<Reader>) -> Self {
        self.reader = reader.into();
        self
    }

    /// Replaces the `User-Agent` of the requests.
    pub fn user_agent(mut self, user_agent: impl Into<String>) -> Self {
        self.user_agent = Some(user_agent.into());
        self
    }

    /// Makes the client. It connects when it has something to ask.
    ///
    /// # Errors
    ///
    /// [`Config`](super::ErrorKind::Config) where there is no endpoint, or a setting cannot be
    /// what it is given as.
    pub fn build(self) -> Result<RuntimeClient, Error> {
        let endpoint = self.endpoint.ok_or_else(|| Error::config("no endpoint is set"))?;
        let endpoint: Endpoint = endpoint.parse().map_err(Error::config)?;
        let user_agent = match self.user_agent {
            Some(text) => HeaderValue::try_from(text).map_err(Error::config)?,
            None => HeaderValue::from_static(USER_AGENT),
        };
        let pool = self.reader.get_pool().cloned();
        let pool = pool.unwrap_or_else(|| BufferPool::new(IDLE_BYTES));
        let history = self.reader.get_history().cloned().unwrap_or_default();
        let reader = self.reader.pool(&pool).history(&history);
        Ok(RuntimeClient::new(endpoint, user_agent, reader, pool))
    }

    pub(super) fn new() -> Self {
        Self { endpoint: None, user_agent: None, reader: Reader::new(EVENT_MAX) }
    }

    /// What the environment says, which `variable` looks up.
    pub(super) fn from_variables(variable: impl Fn(&str) -> Option<String>) -> Result<Self, Error> {
        let endpoint = variable(ENDPOINT_VARIABLE)
            .ok_or_else(|| Error::config(format!("{ENDPOINT_VARIABLE} is not set")))?;
        let at_once = variable(CONCURRENCY_VARIABLE).and_then(|number| number.parse().ok());
        let idle_bytes = IDLE_BYTES.saturating_mul(at_once.unwrap_or(1));
        let reader = Reader::new(EVENT_MAX).pool(&BufferPool::new(idle_bytes));
        Ok(Self::new().endpoint(endpoint).reader(reader))
    }
}

impl fmt::Debug for RuntimeClientBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RuntimeClientBuilder")
            .field("endpoint", &self.endpoint)
            .field("reader", &self.reader)
            .finish_non_exhaustive()
    }
}

/// Two buffers of the size that the longest event, and the longest answer, are given.
const IDLE_BYTES: u64 = 16 << 20;

const USER_AGENT: &str = concat!("presized/", env!("CARGO_PKG_VERSION"));

#[cfg(test)]
mod tests {
    use super::*;

    fn from(variables: &[(&str, &str)]) -> Result<RuntimeClient, Error> {
        let variable = |name: &str| {
            let found = variables.iter().find(|(variable, _)| *variable == name)?;
            Some(found.1.to_owned())
        };
        RuntimeClientBuilder::from_variables(variable)?.build()
    }

    #[test]
    fn the_pool_of_the_environment_is_as_large_as_its_concurrency() {
        let api = ("AWS_LAMBDA_RUNTIME_API", "127.0.0.1:9001");
        let table = [(None, 16 << 20), (Some("4"), 64 << 20), (Some("many"), 16 << 20)];
        for (concurrency, idle_bytes) in table {
            let mut variables = vec![api];
            variables.extend(concurrency.map(|number| ("AWS_LAMBDA_MAX_CONCURRENCY", number)));
            let client = from(&variables).unwrap();
            let expected = format!("max_idle_bytes: {idle_bytes},");
            assert!(format!("{:?}", client.pool()).contains(&expected), "{concurrency:?}");
        }
    }

    #[test]
    fn what_is_missing_is_named() {
        let error = from(&[]).unwrap_err();
        assert_eq!(error.to_string(), "client cannot be built: AWS_LAMBDA_RUNTIME_API is not set");
        let error = RuntimeClient::builder().build().unwrap_err();
        assert_eq!(error.to_string(), "client cannot be built: no endpoint is set");
    }
}
