//! The builder of a client.

mod build;
#[cfg(feature = "aws-config")]
mod from_conf;
mod proxy;
mod retry;
mod tls;

use std::env;
use std::fmt;
use std::time::Duration;

use aws_credential_types::provider::ProvideCredentials;
use presized::Reader;

use super::call_options::{CallOptions, Deadline};
use super::credentials::Provider;
use super::proxy::ProxySetting;
use super::recorder::Hook;
use super::retry::RetryPolicy;
use super::retry_quota::RETRY_QUOTA;
use super::tls_settings::TlsSettings;
use super::trace::Lookup;
use super::{CallReport, HttpVersion};

/// The settings of a [`Client`](super::Client).
///
/// A setting of the builder precedes the environment. The builder reads the environment only
/// after [`environment`](Self::environment) is called.
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
#[must_use = "a builder does nothing until `build` is called"]
pub struct ClientBuilder {
    /// Reads a variable. It is `None` if the environment is not read.
    pub(super) environment: Option<Lookup>,
    region: Option<String>,
    /// The setting that has an endpoint URL, for errors, and the URL.
    endpoint: Option<(&'static str, String)>,
    fips: Option<bool>,
    dual_stack: Option<bool>,
    credentials: Option<Provider>,
    user_agent: Option<String>,
    http_version: HttpVersion,
    tls: TlsSettings,
    proxy: ProxySetting,
    connect_timeout: Duration,
    idle_timeout: Duration,
    retry: RetryPolicy,
    retry_quota: u32,
    hook: Option<Hook>,
    defaults: CallOptions,
}

impl ClientBuilder {
    pub(super) fn new() -> Self {
        Self {
            environment: None,
            region: None,
            endpoint: None,
            fips: None,
            dual_stack: None,
            credentials: None,
            user_agent: None,
            http_version: HttpVersion::Negotiated,
            tls: TlsSettings::default(),
            proxy: ProxySetting::default(),
            connect_timeout: CONNECT_TIMEOUT,
            idle_timeout: IDLE_TIMEOUT,
            retry: RetryPolicy::default(),
            retry_quota: RETRY_QUOTA,
            hook: None,
            defaults: CallOptions::default(),
        }
    }

    /// Reads the settings that are not set here from the environment, in [`build`](Self::build).
    ///
    /// It reads `AWS_REGION`, `AWS_DEFAULT_REGION`; `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY`,
    /// `AWS_SESSION_TOKEN`; `AWS_ENDPOINT_URL_LAMBDA`, `AWS_ENDPOINT_URL`,
    /// `AWS_IGNORE_CONFIGURED_ENDPOINT_URLS`; `AWS_USE_FIPS_ENDPOINT`,
    /// `AWS_USE_DUALSTACK_ENDPOINT`
    /// (<https://docs.aws.amazon.com/sdkref/latest/guide/settings-reference.html>). White space
    /// around a value is ignored, and a variable that is empty or blank counts as unset.
    ///
    /// Inside a function, where `AWS_LAMBDA_FUNCTION_NAME` is set, each call reads
    /// `_X_AMZN_TRACE_ID`: see [`Invoke::trace_id`](super::Invoke::trace_id).
    ///
    /// It also reads which HTTP [`proxy`](Self::proxy) to use: `HTTPS_PROXY` for an https endpoint
    /// and `HTTP_PROXY` for an http endpoint, or else `ALL_PROXY`. `NO_PROXY` lists the hosts that
    /// are reached without it, separated by commas or white space. A host is a domain with its
    /// subdomains, an IP address, a network such as `10.0.0.0/8`, or `*` for all. A host with a port
    /// is reached without the proxy at that port only. List `localhost` and `127.0.0.1` if the
    /// endpoint may be local. Lower-case names are read where the upper-case name is not set. In CGI,
    /// where `REQUEST_METHOD` is set, `HTTP_PROXY` is ignored, because a request could set it
    /// (<https://httpoxy.org>).
    pub fn environment(mut self) -> Self {
        self.environment = Some(|name| env::var(name).ok());
        self
    }

    /// Sets the region. Requests are signed for it, and it decides the endpoint unless there is an
    /// endpoint URL.
    ///
    /// A name such as `fips-us-gov-west-1` or `us-east-1-fips` stands for the
    /// [FIPS endpoint](Self::fips) of the region, and requests are signed for the region.
    pub fn region(mut self, region: impl Into<String>) -> Self {
        self.region = Some(region.into());
        self
    }

    /// Sets the endpoint: a URL with `http` or `https`, which may have a path.
    ///
    /// Over `http`, payloads and session tokens can be read by others on the network. Without this
    /// setting, `AWS_ENDPOINT_URL_LAMBDA` or `AWS_ENDPOINT_URL` decides the endpoint if the
    /// [`environment`](Self::environment) is read, and otherwise the region does.
    pub fn endpoint(mut self, url: impl Into<String>) -> Self {
        self.endpoint = Some(("endpoint()", url.into()));
        self
    }

    /// Sets whether to use the FIPS 140 endpoint of the region.
    pub fn fips(mut self, fips: bool) -> Self {
        self.fips = Some(fips);
        self
    }

    /// Sets whether to use the dual-stack endpoint of the region, which has IPv6 too.
    pub fn dual_stack(mut self, dual_stack: bool) -> Self {
        self.dual_stack = Some(dual_stack);
        self
    }

    /// Sets the credentials: fixed ones, or a provider such as the default chain of `aws-config`.
    ///
    /// The client caches the credentials of a provider until shortly before they expire. If the
    /// provider then fails or has no others, the client continues to use them, even after they have
    /// expired, and Lambda decides whether it accepts them. A call without any credentials waits for
    /// the provider for at most 5 seconds, and then fails with
    /// [`Credentials`](super::ErrorKind::Credentials).
    pub fn credentials(mut self, provider: impl ProvideCredentials + 'static) -> Self {
        self.credentials = Some(Provider::new(provider));
        self
    }

    /// Sets the time to make a connection, from the name lookup to the end of the TLS handshake, and
    /// through a [`proxy`](Self::proxy) too. The default is 5 seconds.
    pub fn connect_timeout(mut self, timeout: Duration) -> Self {
        self.connect_timeout = timeout;
        self
    }

    /// Sets the time that a call may take, from its begin to the end of the response, with all
    /// attempts and the waits between them.
    ///
    /// The default is 16 minutes, which is longer than any function may run.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.defaults.deadline = Deadline::After(timeout);
        self
    }

    /// Sets the time that one attempt may take, within the time of the call. For a stream it ends
    /// with the head of the response.
    ///
    /// The default is no limit, because a limit also ends calls to functions that run longer. An
    /// attempt that timed out after it was sent is retried only with
    /// [`retry_after_send`](Self::retry_after_send).
    pub fn attempt_timeout(mut self, timeout: Duration) -> Self {
        self.defaults.attempt_timeout = Some(timeout);
        self
    }

    /// Sets the time after which a streamed response fails if no byte of its body arrives while the
    /// caller waits for one. The time in which the caller does not read is not counted. The error is
    /// a [`Timeout`](super::ErrorKind::Timeout) with the limit
    /// [`StreamIdle`](super::TimeoutLimit::StreamIdle).
    ///
    /// The default is no limit, because a function may pause for as long as it may run:
    /// [15 minutes](https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html). The
    /// [timeout](Self::timeout) of the call ends a stream that is silent for longer. Set a time that
    /// is longer than any pause of the function, so that a connection that has failed silently is
    /// noticed earlier. The wait for the head of the response is not bounded by it, but by
    /// [`attempt_timeout`](Self::attempt_timeout).
    pub fn stream_idle_timeout(mut self, timeout: Duration) -> Self {
        self.defaults.stream_idle_timeout = Some(timeout);
        self
    }

    /// Sets how responses are read: the limit in bytes, and the pool, budget and history that they
    /// share. The default limit is [`RESPONSE_MAX`](super::RESPONSE_MAX).
    ///
    /// The limit bounds each response that is read into one buffer, and not a stream. A response
    /// that does not fit into the budget waits for other responses to be dropped, within the
    /// deadline of its call, and then fails with [`BudgetFull`](super::ErrorKind::BudgetFull).
    ///
    /// A call is not sent while the budget is full or other responses wait for it. Before each
    /// attempt, the call waits for its turn to reserve one byte of the budget, which it returns at
    /// once. Its response may still wait then. A budget that
    /// [fails fast](presized::MemoryBudget::fail_fast) lets no call wait.
    ///
    /// A call whose limit is above the capacity of the budget fails with
    /// [`BadInput`](super::ErrorKind::BadInput), and is not sent.
    pub fn reader(mut self, reader: impl Into<Reader>) -> Self {
        self.defaults.reader = reader.into();
        self
    }

    /// Sets the header `User-Agent`. The default is the name and version of this crate.
    pub fn user_agent(mut self, user_agent: impl Into<String>) -> Self {
        self.user_agent = Some(user_agent.into());
        self
    }

    /// Sets the version of HTTP. The default is [`HttpVersion::Negotiated`].
    pub fn http_version(mut self, version: HttpVersion) -> Self {
        self.http_version = version;
        self
    }

    /// Sets the time that an idle connection is kept. The default is 20 seconds.
    ///
    /// It should be shorter than the idle timeout of the server, so that a call does not use a
    /// connection that the server is closing. A shorter time in the header `Keep-Alive` of a
    /// response precedes it, less a second.
    pub fn idle_timeout(mut self, timeout: Duration) -> Self {
        self.idle_timeout = timeout;
        self
    }

    /// Sets a function that receives the report of each call when the call has ended, for metrics.
    ///
    /// It runs in the task of the call, even while a call is dropped, so it must neither block nor
    /// panic.
    pub fn on_call(mut self, hook: impl Fn(&CallReport<'_>) + Send + Sync + 'static) -> Self {
        self.hook = Some(Hook::new(hook));
        self
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
            .field("retry_quota", &self.retry_quota)
            .field("defaults", &self.defaults)
            // Without the credentials, and without the URLs of the endpoint and of the proxy, which
            // may have a password.
            .finish_non_exhaustive()
    }
}

const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// Local servers close an idle connection after 5 seconds, load balancers after 60. The client
/// notices the close, because it watches idle connections.
const IDLE_TIMEOUT: Duration = Duration::from_secs(20);
