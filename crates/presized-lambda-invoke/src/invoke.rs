//! A call before it is sent.

mod headers;

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;
use std::time::{Duration, Instant};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http::HeaderMap;
use presized::MemoryBudget;
use serde::Serialize;

use super::budget_wait::BudgetWait;
use super::call::{Call, CallResponse};
use super::call_options::{CallOptions, Deadline};
use super::client::ClientInner;
use super::input_error::InputError;
use super::recorder::Recorder;
use super::sign::PayloadHash;
use super::target::Target;
use super::{Error, Invocation, InvocationType, ResponseStream, wire};

/// A call to a function, before it is sent.
///
/// [`Client::invoke`](super::Client::invoke) makes one for an [`Invocation`], and
/// [`Client::invoke_streaming`](super::Client::invoke_streaming) makes one for a
/// [`ResponseStream`]. Options that are not set here are as the client has them. The
/// [API reference](https://docs.aws.amazon.com/lambda/latest/api/API_Invoke.html#API_Invoke_RequestParameters)
/// describes the values that Lambda accepts.
///
/// A function that is generic in `R` can set the options that both kinds of call have.
///
/// # Examples
///
/// ```
/// # use bytes::Bytes;
/// # use presized_lambda_emulator::{Emulator, Function};
/// # use presized_lambda_runtime::{Context, ErrorReport, raw};
/// # async fn total(_event: Bytes, _context: Context) -> Result<&'static str, ErrorReport> {
/// #     Ok("42")
/// # }
/// # #[tokio::main]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let emulator = Emulator::builder().function("orders", Function::new()).start().await?;
/// # emulator.attach("orders", raw(total))?;
/// # let client = emulator.client_builder().build()?;
/// use std::time::Duration;
///
/// let invocation = client
///     .invoke("orders:live")
///     .json(&serde_json::json!({ "id": 7 }))
///     .tail_log()
///     .timeout(Duration::from_secs(10))
///     .send()
///     .await?;
/// let total: u64 = invocation.json()?;
/// # assert_eq!(total, 42);
/// # Ok(())
/// # }
/// ```
#[must_use = "nothing is sent until `send` is awaited"]
pub struct Invoke<R = Invocation> {
    client: Arc<ClientInner>,
    function: String,
    qualifier: Option<String>,
    payload: Bytes,
    headers: HeaderMap,
    /// The first option that cannot be written into a request.
    error: Option<InputError>,
    options: CallOptions,
    response: PhantomData<fn() -> R>,
}

impl<R> Invoke<R> {
    /// Sets the payload. The default is empty.
    pub fn payload(mut self, payload: impl Into<Bytes>) -> Self {
        self.payload = payload.into();
        self
    }

    /// Sets the payload to a value serialized as JSON.
    pub fn json(mut self, value: &(impl Serialize + ?Sized)) -> Self {
        match serde_json::to_vec(value) {
            Ok(payload) => self.payload = payload.into(),
            Err(error) => self.fail(InputError::Json(error)),
        }
        self
    }

    /// Sets the version or alias of the function: a number, a name, or `$LATEST`.
    ///
    /// Use it only if the function was named without a qualifier.
    pub fn qualifier(mut self, qualifier: impl Into<String>) -> Self {
        self.qualifier = Some(qualifier.into());
        self
    }

    /// Asks for the log tail: the last 4 KiB of the function's log.
    pub fn tail_log(self) -> Self {
        self.option(wire::LOG_TYPE, wire::LOG_TYPE_TAIL)
    }

    /// Sets the client context: JSON that the function finds in its context.
    ///
    /// It is sent in base64. Lambda accepts up to 3,583 bytes of base64.
    pub fn client_context(self, json: impl AsRef<[u8]>) -> Self {
        let encoded = STANDARD.encode(json);
        self.option(wire::CLIENT_CONTEXT, &encoded)
    }

    /// Sets the tenant, for a function with tenant isolation.
    pub fn tenant_id(self, tenant_id: impl AsRef<str>) -> Self {
        self.option(wire::TENANT_ID, tenant_id.as_ref())
    }

    /// Sets the time that the call may take, from its begin to the end of the response, with all
    /// attempts and the waits between them.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.options.deadline = Deadline::After(timeout);
        self
    }

    /// Sets the deadline of the call instead of its timeout.
    pub fn deadline(mut self, deadline: Instant) -> Self {
        self.options.deadline = Deadline::At(deadline);
        self
    }

    /// Sets the time that one attempt may take: see
    /// [`ClientBuilder::attempt_timeout`](super::ClientBuilder::attempt_timeout).
    pub fn attempt_timeout(mut self, timeout: Duration) -> Self {
        self.options.attempt_timeout = Some(timeout);
        self
    }

    /// Sets whether the call is retried if the function may have run: see
    /// [`ClientBuilder::retry_after_send`](super::ClientBuilder::retry_after_send).
    pub fn retry_after_send(mut self, retry: bool) -> Self {
        self.options.retry_after_send = retry;
        self
    }

    pub(super) fn new(client: Arc<ClientInner>, function: String) -> Self {
        Self {
            function,
            qualifier: None,
            payload: Bytes::new(),
            headers: client.headers.clone(),
            error: None,
            options: client.defaults.clone(),
            client,
            response: PhantomData,
        }
    }

    fn fail(&mut self, error: InputError) {
        self.error.get_or_insert(error);
    }
}

impl Invoke<Invocation> {
    /// Sets how Lambda handles the invocation. The default is
    /// [`InvocationType::RequestResponse`].
    pub fn invocation_type(self, invocation_type: InvocationType) -> Self {
        self.option(wire::INVOCATION_TYPE, invocation_type.as_str())
    }

    /// Sets the name of the execution that a durable function starts or joins.
    pub fn durable_execution_name(self, name: impl AsRef<str>) -> Self {
        self.option(wire::DURABLE_EXECUTION_NAME, name.as_ref())
    }

    /// Sets the limit of the response in bytes, inclusive, instead of the limit of the client.
    pub fn limit(mut self, bytes: u64) -> Self {
        self.options.reader = self.options.reader.limit(bytes);
        self
    }

    /// Sends the call and reads its whole response.
    ///
    /// While the memory budget of the client is full, or other responses wait for it, the call waits
    /// before it is sent: see [`ClientBuilder::reader`](super::ClientBuilder::reader).
    ///
    /// # Errors
    ///
    /// Returns an [`Error`], which tells whether the function
    /// [may have run](Error::may_have_run). A function that ran and failed is not an error of the
    /// call: see [`Invocation::function_error`].
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped after the request was sent, the connection is closed (HTTP/1.1)
    /// or the stream is reset (HTTP/2). The function may have run, and continues to run.
    pub async fn send(mut self) -> Result<Invocation, Error> {
        // The response could be refused only after the function has run.
        let limit = self.options.reader.get_limit();
        let capacity = self.options.reader.get_budget().map(MemoryBudget::capacity);
        if let Some(capacity) = capacity.filter(|&capacity| limit > capacity) {
            self.fail(InputError::LimitOverBudget { limit, capacity });
        }
        run(self).await
    }
}

impl Invoke<ResponseStream> {
    /// Sets the time without a byte after which the stream fails: see
    /// [`ClientBuilder::stream_idle_timeout`](super::ClientBuilder::stream_idle_timeout).
    pub fn stream_idle_timeout(mut self, timeout: Duration) -> Self {
        self.options.stream_idle_timeout = Some(timeout);
        self
    }

    /// Sends the call and waits for the head of its response.
    ///
    /// # Errors
    ///
    /// Returns an [`Error`], which tells whether the function
    /// [may have run](Error::may_have_run). A later failure is an error of the stream.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped after the request was sent, the connection is closed (HTTP/1.1)
    /// or the stream is reset (HTTP/2). The function may have run, and continues to run.
    pub async fn send(self) -> Result<ResponseStream, Error> {
        run(self).await
    }
}

async fn run<R: CallResponse>(mut invoke: Invoke<R>) -> Result<R, Error> {
    let target = target_of(&mut invoke);
    invoke.trace();
    let mut recorder = Recorder::new(
        invoke.client.hook.clone(),
        invoke.function,
        invoke.qualifier,
        invoke.payload.len(),
        BudgetWait::of(&invoke.options.reader),
    );
    let target = match target {
        Ok(target) => target,
        Err(error) => {
            recorder.failed(&error);
            return Err(error);
        }
    };
    let call = Call {
        target,
        headers: invoke.headers,
        payload_hash: PayloadHash::of(&invoke.payload),
        payload: invoke.payload,
        deadline: invoke.options.deadline.instant().into(),
        options: invoke.options,
        client: invoke.client,
    };
    call.run(recorder).await
}

/// Returns the request target of the call, or the first error of its options.
fn target_of<R: CallResponse>(invoke: &mut Invoke<R>) -> Result<Target, Error> {
    if let Some(error) = invoke.error.take() {
        return Err(Error::bad_input(error));
    }
    let base_path = invoke.client.endpoint.base_path();
    Target::new(base_path, R::OPERATION, &invoke.function, invoke.qualifier.as_deref())
        .map_err(Error::bad_input)
}

impl<R> fmt::Debug for Invoke<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Invoke")
            .field("function", &self.function)
            .field("qualifier", &self.qualifier)
            .field("payload", &format_args!("{} bytes", self.payload.len()))
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}
