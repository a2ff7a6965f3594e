//! The client, and what all its calls share.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use http::HeaderMap;

use super::clock::Clock;
use super::credentials::CredentialsCache;
use super::endpoint::Endpoint;
use super::observe::Hook;
use super::retry::RetryPolicy;
use super::sign::Signer;
use super::transport::Transport;
use super::wire::RESPONSE_MAX;
use super::{ClientBuilder, Error, Invocation, Invoke, ResponseStream};
use presized::Reader;

/// A client of the Invoke API.
///
/// It has a pool of connections, so one client is made and cloned; a clone is the same client.
///
/// # Panics
///
/// Where a call is awaited outside of a tokio runtime that has its timer and I/O enabled.
///
/// # Examples
///
/// ```no_run
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// use presized_lambda_invoke::Client;
///
/// let client = Client::from_env()?;
/// let invocation = client.invoke("thumbnails").payload(r#"{"width": 64}"#).send().await?;
/// let image = invocation.into_result()?.payload;
/// println!("{} bytes", image.len());
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Client {
    shared: Arc<Shared>,
}

impl Client {
    /// Settings to make a client with. Without a word to the contrary nothing is read from the
    /// environment.
    pub fn builder() -> ClientBuilder {
        ClientBuilder::new()
    }

    /// The client that the environment describes: see [`ClientBuilder::environment`].
    ///
    /// # Errors
    ///
    /// As [`ClientBuilder::build`]: where there is no region, or there are no credentials.
    pub fn from_env() -> Result<Self, Error> {
        Self::builder().environment().build()
    }

    /// Calls a function, for its whole answer in one buffer.
    ///
    /// `function` is a name, `name:qualifier`, a partial ARN, or a full one with or without a
    /// qualifier.
    pub fn invoke(&self, function: impl Into<String>) -> Invoke<Invocation> {
        Invoke::new(self.shared.clone(), function.into())
    }

    /// Calls a function, for its answer as it comes.
    ///
    /// `function` is as for [`invoke`](Self::invoke). A function that does not stream is read as
    /// well: its answer comes when it is complete.
    pub fn invoke_streaming(&self, function: impl Into<String>) -> Invoke<ResponseStream> {
        Invoke::new(self.shared.clone(), function.into())
    }

    pub(super) fn new(shared: Shared) -> Self {
        Self { shared: Arc::new(shared) }
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("endpoint", &self.shared.endpoint).finish_non_exhaustive()
    }
}

/// What all calls of a client share.
pub(super) struct Shared {
    pub(super) endpoint: Endpoint,
    pub(super) transport: Transport,
    pub(super) credentials: CredentialsCache,
    pub(super) signer: Signer,
    pub(super) clock: Clock,
    /// Of every request.
    pub(super) headers: HeaderMap,
    pub(super) retry: RetryPolicy,
    pub(super) hook: Option<Hook>,
    pub(super) defaults: CallOptions,
}

/// What a call can have otherwise than its client.
#[derive(Clone, Debug)]
pub(super) struct CallOptions {
    pub(super) deadline: Deadline,
    pub(super) attempt_timeout: Option<Duration>,
    pub(super) retry_after_send: bool,
    /// How responses are read into one buffer.
    pub(super) reader: Reader,
}

/// When a call is given up.
#[derive(Clone, Copy, Debug)]
pub(super) enum Deadline {
    /// So long after it begins.
    After(Duration),
    /// Then.
    At(Instant),
}

impl Deadline {
    /// When that is, for a call that begins now.
    pub(super) fn instant(self) -> Instant {
        let now = Instant::now();
        match self {
            // A duration past the end of time is as good as a long one.
            Self::After(duration) => now.checked_add(duration).unwrap_or(now + FAR),
            Self::At(instant) => instant,
        }
    }
}

impl Default for CallOptions {
    fn default() -> Self {
        Self {
            deadline: Deadline::After(TIMEOUT),
            attempt_timeout: None,
            retry_after_send: false,
            reader: Reader::new(RESPONSE_MAX),
        }
    }
}

/// A function may run for 15 minutes
/// (<https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html>); a minute more to
/// connect and to read the answer.
const TIMEOUT: Duration = Duration::from_secs(16 * 60);

/// 30 years, which is what tokio takes for ever.
const FAR: Duration = Duration::from_secs(86_400 * 365 * 30);
