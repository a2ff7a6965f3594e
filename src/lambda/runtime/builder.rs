//! The settings of a client.

use std::fmt;

use http::HeaderValue;

use super::endpoint::Endpoint;
use super::{Error, RuntimeClient};
use crate::{BufferPool, LengthHistory};

/// Settings to make a [`RuntimeClient`] with.
///
/// # Examples
///
/// ```
/// # fn main() -> Result<(), presized::lambda::runtime::Error> {
/// use presized::BufferPool;
/// use presized::lambda::runtime::RuntimeClient;
///
/// let client = RuntimeClient::builder()
///     .endpoint("127.0.0.1:9001")
///     .limit(1 << 20)
///     .pool(&BufferPool::new(32 << 20))
///     .build()?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
#[must_use = "a builder builds nothing by itself"]
pub struct RuntimeClientBuilder {
    endpoint: Option<String>,
    user_agent: Option<String>,
    limit: u64,
    pool: Option<BufferPool>,
    history: Option<LengthHistory>,
}

impl RuntimeClientBuilder {
    /// Where the Runtime API is: `host:port`, as `AWS_LAMBDA_RUNTIME_API` has it, or
    /// `http://host:port/base`, as some emulators want it.
    pub fn endpoint(mut self, endpoint: impl Into<String>) -> Self {
        self.endpoint = Some(endpoint.into());
        self
    }

    /// Most bytes of an event that are taken, inclusive. The default is 6 MiB and 100 bytes,
    /// which is what Lambda itself enforces.
    pub fn limit(mut self, bytes: u64) -> Self {
        self.limit = bytes;
        self
    }

    /// Where the memory of events comes from, and goes back to. The default is a pool of the
    /// client's own that keeps up to 16 MiB: the event and the answer of one invocation. A client
    /// [from the environment](RuntimeClient::from_env) keeps as much for each invocation that runs
    /// at the same time.
    pub fn pool(mut self, pool: &BufferPool) -> Self {
        self.pool = Some(pool.clone());
        self
    }

    /// What says how long the next event will be, where its head does not. The default is one of
    /// the client's own.
    pub fn history(mut self, history: &LengthHistory) -> Self {
        self.history = Some(history.clone());
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
        let pool = self.pool.unwrap_or_else(|| BufferPool::new(IDLE_BYTES));
        let history = self.history.unwrap_or_default();
        Ok(RuntimeClient::new(endpoint, user_agent, self.limit, pool, history))
    }

    pub(super) fn new() -> Self {
        Self { endpoint: None, user_agent: None, limit: LIMIT, pool: None, history: None }
    }

    /// What the environment says, which `variable` looks up.
    pub(super) fn from_variables(variable: impl Fn(&str) -> Option<String>) -> Result<Self, Error> {
        let endpoint = variable(ENDPOINT_VARIABLE)
            .ok_or_else(|| Error::config(format!("{ENDPOINT_VARIABLE} is not set")))?;
        let at_once = variable(CONCURRENCY_VARIABLE).and_then(|number| number.parse().ok());
        let idle_bytes = IDLE_BYTES.saturating_mul(at_once.unwrap_or(1));
        Ok(Self::new().endpoint(endpoint).pool(&BufferPool::new(idle_bytes)))
    }
}

impl fmt::Debug for RuntimeClientBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RuntimeClientBuilder")
            .field("endpoint", &self.endpoint)
            .field("limit", &self.limit)
            .finish_non_exhaustive()
    }
}

const ENDPOINT_VARIABLE: &str = "AWS_LAMBDA_RUNTIME_API";

const CONCURRENCY_VARIABLE: &str = "AWS_LAMBDA_MAX_CONCURRENCY";

const LIMIT: u64 = (6 << 20) + 100;

/// Two buffers of the size that the longest event, and the longest answer, are given.
const IDLE_BYTES: usize = 16 << 20;

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
