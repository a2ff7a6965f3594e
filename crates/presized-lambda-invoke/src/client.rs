//! The client and the state that its calls share.

use std::fmt;
use std::sync::Arc;

use http::HeaderMap;

use super::call_options::CallOptions;
use super::clock::Clock;
use super::credentials::CredentialsCache;
use super::endpoint::Endpoint;
use super::recorder::Hook;
use super::retry::RetryPolicy;
use super::retry_quota::RetryQuota;
use super::sign::Signer;
use super::trace::Lookup;
use super::transport::Transport;
use super::{ClientBuilder, Error, Invocation, Invoke, ResponseStream};

/// A client of the Invoke API.
///
/// It has a pool of connections and a quota of retries. Make one client and clone it: clones share
/// both.
///
/// # Panics
///
/// A call panics outside of a tokio runtime with its timer and I/O enabled.
///
/// # Examples
///
/// ```
/// # use bytes::Bytes;
/// # use presized_lambda_emulator::{Emulator, Function};
/// # use presized_lambda_runtime::{Context, ErrorReport, raw};
/// # async fn thumbnail(_event: Bytes, _context: Context) -> Result<&'static str, ErrorReport> {
/// #     Ok("PNG")
/// # }
/// # #[tokio::main]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// #     // It runs once more, with the environment of a client of the emulator.
/// #     if std::env::var_os("AWS_ENDPOINT_URL_LAMBDA").is_none() {
/// #         let emulator =
/// #             Emulator::builder().function("thumbnails", Function::new()).start().await?;
/// #         emulator.attach("thumbnails", raw(thumbnail))?;
/// #         let mut program = tokio::process::Command::new(std::env::current_exe()?);
/// #         program.env("AWS_ENDPOINT_URL_LAMBDA", emulator.url()).env("AWS_REGION", "us-east-1");
/// #         program.env("AWS_ACCESS_KEY_ID", "AKID").env("AWS_SECRET_ACCESS_KEY", "secret");
/// #         assert!(program.status().await?.success());
/// #         return Ok(());
/// #     }
/// use presized_lambda_invoke::Client;
///
/// let client = Client::from_env()?;
/// let invocation = client.invoke("thumbnails").payload(r#"{"width": 64}"#).send().await?;
/// let image = invocation.into_result()?.payload;
/// println!("{} bytes", image.len());
/// # assert_eq!(image, "PNG");
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Client {
    inner: Arc<ClientInner>,
}

impl Client {
    /// Returns a builder with the default settings.
    ///
    /// It reads the environment only after [`environment`](ClientBuilder::environment) is called.
    pub fn builder() -> ClientBuilder {
        ClientBuilder::new()
    }

    /// Makes a client from the environment: see [`ClientBuilder::environment`].
    ///
    /// # Errors
    ///
    /// Returns an error if there is no region or if there are no credentials, as
    /// [`ClientBuilder::build`] does.
    pub fn from_env() -> Result<Self, Error> {
        Self::builder().environment().build()
    }

    /// Starts a call whose response is read into one buffer.
    ///
    /// `function` is a name, `name:qualifier`, a partial ARN, or a full ARN with or without a
    /// qualifier.
    pub fn invoke(&self, function: impl Into<String>) -> Invoke<Invocation> {
        Invoke::new(Arc::clone(&self.inner), function.into())
    }

    /// Starts a call whose response is streamed.
    ///
    /// `function` is as for [`invoke`](Self::invoke). If the function does not stream, its
    /// response arrives when it is complete.
    pub fn invoke_streaming(&self, function: impl Into<String>) -> Invoke<ResponseStream> {
        Invoke::new(Arc::clone(&self.inner), function.into())
    }

    /// Returns the tokens that are left for retries: see
    /// [`ClientBuilder::retry_quota`](ClientBuilder::retry_quota).
    pub fn retry_quota(&self) -> u32 {
        self.inner.retry_quota.left()
    }

    pub(super) fn new(inner: ClientInner) -> Self {
        Self { inner: Arc::new(inner) }
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("endpoint", &self.inner.endpoint).finish_non_exhaustive()
    }
}

/// The state that all calls of a client share.
pub(super) struct ClientInner {
    pub(super) endpoint: Endpoint,
    pub(super) transport: Transport,
    pub(super) credentials: CredentialsCache,
    pub(super) signer: Signer,
    pub(super) clock: Arc<Clock>,
    /// Reads the environment if this process is a function, for the trace of each call.
    pub(super) function_environment: Option<Lookup>,
    /// The headers of every request.
    pub(super) headers: HeaderMap,
    pub(super) retry: RetryPolicy,
    pub(super) retry_quota: RetryQuota,
    pub(super) hook: Option<Hook>,
    pub(super) defaults: CallOptions,
}
