//! The settings of a client.

use std::env;
use std::fmt;
use std::time::Duration;

use aws_credential_types::provider::{ProvideCredentials, SharedCredentialsProvider};
use http::header::{CONTENT_TYPE, HOST, HeaderMap, HeaderValue, USER_AGENT};

use super::client::{CallOptions, Deadline, Shared};
use super::clock::Clock;
use super::connector::Connector;
use super::credentials::{self, CredentialsCache};
use super::endpoint::{self, Endpoint, EndpointError, Settings};
use super::observe::Hook;
use super::retry::RetryPolicy;
use super::sign::Signer;
use super::tls_settings::{Identity, TlsSettings};
use super::transport::Transport;
use super::{CallReport, Client, Error, HttpVersion};
use presized::Reader;

/// Settings to make a [`Client`] with.
///
/// What is set here outranks the environment, which is only asked after
/// [`environment`](Self::environment).
///
/// # Examples
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use std::time::Duration;
/// use presized::{BufferPool, Reader};
/// use presized_lambda_invoke::{Client, Credentials, RESPONSE_MAX};
///
/// let client = Client::builder()
///     .region("eu-central-1")
///     .endpoint("http://127.0.0.1:9000")
///     .credentials(Credentials::new("key", "secret", None, None, "example"))
///     .timeout(Duration::from_secs(30))
///     .reader(Reader::new(RESPONSE_MAX).pool(&BufferPool::new(64 << 20)))
///     .build()?;
/// # Ok(())
/// # }
/// ```
#[must_use = "a builder builds nothing by itself"]
pub struct ClientBuilder {
    environment: fn(&str) -> Option<String>,
    region: Option<String>,
    endpoint: Option<String>,
    fips: Option<bool>,
    dual_stack: Option<bool>,
    credentials: Option<SharedCredentialsProvider>,
    user_agent: Option<String>,
    http_version: HttpVersion,
    tls: TlsSettings,
    connect_timeout: Duration,
    idle_timeout: Duration,
    retry: RetryPolicy,
    hook: Option<Hook>,
    defaults: CallOptions,
}

impl ClientBuilder {
    pub(super) fn new() -> Self {
        Self {
            environment: |_| None,
            region: None,
            endpoint: None,
            fips: None,
            dual_stack: None,
            credentials: None,
            user_agent: None,
            http_version: HttpVersion::Negotiated,
            tls: TlsSettings::default(),
            connect_timeout: CONNECT_TIMEOUT,
            idle_timeout: IDLE_TIMEOUT,
            retry: RetryPolicy::default(),
            hook: None,
            defaults: CallOptions::default(),
        }
    }

    /// Asks the environment for what is not set here: `AWS_REGION`, `AWS_DEFAULT_REGION`;
    /// `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY`, `AWS_SESSION_TOKEN`;
    /// `AWS_ENDPOINT_URL_LAMBDA`, `AWS_ENDPOINT_URL`, `AWS_IGNORE_CONFIGURED_ENDPOINT_URLS`;
    /// `AWS_USE_FIPS_ENDPOINT`, `AWS_USE_DUALSTACK_ENDPOINT`
    /// (<https://docs.aws.amazon.com/sdkref/latest/guide/settings-reference.html>). One that is
    /// empty or blank counts as unset. They are read by [`build`](Self::build).
    pub fn environment(mut self) -> Self {
        self.environment = |name| env::var(name).ok();
        self
    }

    /// The region that requests are signed for, and whose endpoint they go to unless there is
    /// another.
    pub fn region(mut self, region: impl Into<String>) -> Self {
        self.region = Some(region.into());
        self
    }

    /// Where requests go: a URL with `http` or `https`, which may have a path. Over `http`, payloads
    /// and session tokens can be read on the way.
    ///
    /// Without it, `AWS_ENDPOINT_URL_LAMBDA` or `AWS_ENDPOINT_URL` of the environment decide,
    /// where it may be asked, and else the region.
    pub fn endpoint(mut self, url: impl Into<String>) -> Self {
        self.endpoint = Some(url.into());
        self
    }

    /// Whether to use the endpoint of the region that is validated for FIPS 140.
    pub fn fips(mut self, fips: bool) -> Self {
        self.fips = Some(fips);
        self
    }

    /// Whether to use the endpoint of the region that has IPv6 as well.
    pub fn dual_stack(mut self, dual_stack: bool) -> Self {
        self.dual_stack = Some(dual_stack);
        self
    }

    /// Who gives the credentials: fixed ones, or any provider, such as the default chain of
    /// `aws-config`. What it gives is kept until shortly before it expires.
    pub fn credentials(mut self, provider: impl ProvideCredentials + 'static) -> Self {
        self.credentials = Some(SharedCredentialsProvider::new(provider));
        self
    }

    /// The time a connection may take, from its name to the end of TLS. The default is 5 seconds.
    pub fn connect_timeout(mut self, timeout: Duration) -> Self {
        self.connect_timeout = timeout;
        self
    }

    /// The time a call may take: all attempts, the waits between them, and the answer to its
    /// end. The default is 16 minutes, which is longer than any function may run.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.defaults.deadline = Deadline::After(timeout);
        self
    }

    /// The time one attempt may take, within that of the call. For a stream it is the time up to
    /// the head of the answer.
    ///
    /// There is none by default, since it cuts off functions that take longer, and an attempt
    /// that was cut off is followed by another only with
    /// [`retry_after_send`](Self::retry_after_send).
    pub fn attempt_timeout(mut self, timeout: Duration) -> Self {
        self.defaults.attempt_timeout = Some(timeout);
        self
    }

    /// How often a call is attempted at most, the first time included. The default is 3; 0
    /// counts as 1. One that Lambda refuses for a wrong clock of this machine is followed by
    /// another all the same, once, with the time that Lambda has.
    pub fn max_attempts(mut self, attempts: u32) -> Self {
        self.retry.max_attempts = attempts.max(1);
        self
    }

    /// How long to wait before the second attempt at most, and before any. From attempt to
    /// attempt the most doubles, and the wait is anything from 0 to it. The default is 100
    /// milliseconds and 20 seconds. A `Retry-After` of Lambda may make it longer.
    pub fn backoff(mut self, first: Duration, most: Duration) -> Self {
        self.retry.base = first;
        self.retry.cap = most;
        self
    }

    /// Whether a call is attempted again although the function may have run: the connection
    /// broke, or the attempt timed out, after the request was sent, or a gateway gave up on an
    /// answer. The default is that it is not, since the function would run twice.
    pub fn retry_after_send(mut self, retry: bool) -> Self {
        self.defaults.retry_after_send = retry;
        self
    }

    /// Sets how responses are read: the limit in bytes, and the pool, budget and history that they
    /// share. The default limit is [`RESPONSE_MAX`](super::RESPONSE_MAX).
    ///
    /// The limit bounds each response that is read into one buffer, and not a stream. A response
    /// that does not fit into the budget waits for other responses to be dropped, within the
    /// deadline of its call. A call whose limit is above the budget is not sent.
    pub fn reader(mut self, reader: impl Into<Reader>) -> Self {
        self.defaults.reader = reader.into();
        self
    }

    /// What `User-Agent` says. The default is the name and version of this crate.
    pub fn user_agent(mut self, user_agent: impl Into<String>) -> Self {
        self.user_agent = Some(user_agent.into());
        self
    }

    /// Which version of HTTP to speak.
    pub fn http_version(mut self, version: HttpVersion) -> Self {
        self.http_version = version;
        self
    }

    /// Sets whether the root certificates of the system are trusted. The default is true.
    ///
    /// With false, only the certificates of
    /// [`root_certificates_pem`](Self::root_certificates_pem) are trusted.
    pub fn system_roots(mut self, trusted: bool) -> Self {
        self.tls.system_roots = trusted;
        self
    }

    /// Adds trusted root certificates: one or more, in PEM.
    ///
    /// The PEM is parsed by [`build`](Self::build), and only for an https endpoint.
    pub fn root_certificates_pem(mut self, pem: impl AsRef<[u8]>) -> Self {
        self.tls.roots.push(pem.as_ref().to_vec());
        self
    }

    /// Sets the certificate that the client presents to a server that asks for one: a certificate
    /// chain, which begins with the client's own certificate, and its private key, both in PEM.
    ///
    /// The PEM is parsed by [`build`](Self::build), and only for an https endpoint.
    pub fn client_certificate_pem(
        mut self,
        chain: impl AsRef<[u8]>,
        private_key: impl AsRef<[u8]>,
    ) -> Self {
        self.tls.identity = Some(Identity {
            certificates: chain.as_ref().to_vec(),
            private_key: private_key.as_ref().to_vec(),
        });
        self
    }

    /// How long a connection is kept that nobody uses. It should be shorter than the other side
    /// keeps it, so that calls do not meet a connection that is being closed. The default is 20
    /// seconds.
    pub fn idle_timeout(mut self, timeout: Duration) -> Self {
        self.idle_timeout = timeout;
        self
    }

    /// Calls `hook` when a call has ended, for metrics. It is called in place, also while a call
    /// is dropped, so it should neither block nor panic.
    pub fn on_call(mut self, hook: impl Fn(&CallReport<'_>) + Send + Sync + 'static) -> Self {
        self.hook = Some(Hook::new(hook));
        self
    }

    /// Makes the client. No connection is made yet.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Config`](super::ErrorKind::Config) where settings are missing or do not fit
    /// together, and [`ErrorKind::Credentials`](super::ErrorKind::Credentials) where there is no
    /// provider and the environment, if it may be asked, has no credentials.
    pub fn build(self) -> Result<Client, Error> {
        let lookup = self.environment;
        let region = self.region.or_else(|| endpoint::region(&lookup));
        let settings = Settings {
            endpoint: self.endpoint.as_deref(),
            region: region.as_deref(),
            fips: self.fips.unwrap_or_else(|| endpoint::fips(&lookup)),
            dual_stack: self.dual_stack.unwrap_or_else(|| endpoint::dual_stack(&lookup)),
        };
        let endpoint = Endpoint::resolve(&settings, &lookup).map_err(Error::config)?;
        let region = region.ok_or_else(|| Error::config(EndpointError::NoRegion))?;
        let credentials = match self.credentials {
            Some(provider) => provider,
            None => SharedCredentialsProvider::new(
                credentials::from_env(&lookup).map_err(Error::credentials)?,
            ),
        };
        let user_agent = self.user_agent.as_deref().unwrap_or(AGENT);
        let user_agent = HeaderValue::from_str(user_agent).map_err(Error::config)?;
        let connector = if endpoint.is_tls() {
            let config = self.tls.client_config().map_err(Error::config)?;
            Connector::tls(config, self.http_version, self.connect_timeout)
        } else {
            Connector::tcp(self.http_version, self.connect_timeout)
        };
        let transport = Transport::new(connector, self.idle_timeout);
        let headers = HeaderMap::from_iter([
            (HOST, endpoint.host_header().clone()),
            (USER_AGENT, user_agent),
            (CONTENT_TYPE, HeaderValue::from_static("application/octet-stream")),
        ]);
        Ok(Client::new(Shared {
            endpoint,
            transport,
            credentials: CredentialsCache::new(credentials),
            signer: Signer::new(&region),
            clock: Clock::default(),
            headers,
            retry: self.retry,
            hook: self.hook,
            defaults: self.defaults,
        }))
    }
}

impl fmt::Debug for ClientBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientBuilder")
            .field("region", &self.region)
            .field("fips", &self.fips)
            .field("dual_stack", &self.dual_stack)
            .field("user_agent", &self.user_agent)
            .field("http_version", &self.http_version)
            .field("tls", &self.tls)
            .field("connect_timeout", &self.connect_timeout)
            .field("idle_timeout", &self.idle_timeout)
            .field("retry", &self.retry)
            .field("defaults", &self.defaults)
            // No credentials, nor the endpoint, which may be refused for having a password.
            .finish_non_exhaustive()
    }
}

const AGENT: &str = concat!("presized/", env!("CARGO_PKG_VERSION"), " lambda-invoke");

const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// Local servers close an idle connection after 5 seconds, load balancers after 60. What is
/// closed in between is met by the connection being watched while it is idle.
const IDLE_TIMEOUT: Duration = Duration::from_secs(20);
