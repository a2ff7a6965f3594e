//! One call, before it is sent.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;
use std::time::{Duration, Instant};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http::HeaderMap;
use http::header::{HeaderName, HeaderValue};
use serde::Serialize;

use super::call::{Answer, Call};
use super::client::{CallOptions, Deadline, Shared};
use super::observe::Recorder;
use super::path::{Target, target};
use super::sign::PayloadHash;
use super::{BoxError, Error, Invocation, InvocationType, ResponseStream, wire};
use presized::MemoryBudget;

/// A call to a function, to be completed and sent.
///
/// It is made by [`Client::invoke`](super::Client::invoke), for an [`Invocation`], and by
/// [`Client::invoke_streaming`](super::Client::invoke_streaming), for a
/// [`ResponseStream`](super::ResponseStream). What is not set is as the client has it. What Lambda
/// takes of each option is in its
/// [API reference](https://docs.aws.amazon.com/lambda/latest/api/API_Invoke.html#API_Invoke_RequestParameters).
///
/// What both kinds of call have is set on an `Invoke<A>` of any `A`, so one function can do it for
/// both.
///
/// # Examples
///
/// ```no_run
/// # async fn example(client: presized_lambda_invoke::Client) -> Result<(), Box<dyn std::error::Error>> {
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
/// # Ok(())
/// # }
/// ```
#[must_use = "nothing is sent until `send` is awaited"]
pub struct Invoke<A = Invocation> {
    shared: Arc<Shared>,
    function: String,
    qualifier: Option<String>,
    payload: Bytes,
    headers: HeaderMap,
    /// The first thing that could not be put into the request.
    bad_input: Option<BoxError>,
    options: CallOptions,
    answer: PhantomData<fn() -> A>,
}

impl<A> Invoke<A> {
    /// What the function is called with, as it is. The default is nothing at all.
    pub fn payload(mut self, payload: impl Into<Bytes>) -> Self {
        self.payload = payload.into();
        self
    }

    /// What the function is called with, written as JSON.
    pub fn json(mut self, value: &(impl Serialize + ?Sized)) -> Self {
        match serde_json::to_vec(value) {
            Ok(payload) => self.payload = payload.into(),
            Err(error) => self.refuse(error),
        }
        self
    }

    /// The version or alias to call: a number, a name, or `$LATEST`. For a function that was
    /// given without one.
    pub fn qualifier(mut self, qualifier: impl Into<String>) -> Self {
        self.qualifier = Some(qualifier.into());
        self
    }

    /// Asks for the last 4 KB of the function's log.
    pub fn tail_log(self) -> Self {
        self.header(wire::LOG_TYPE, wire::LOG_TYPE_TAIL)
    }

    /// JSON that the function finds in its context. Lambda takes up to 3,583 bytes of it,
    /// counted after base64, which is put around it here.
    pub fn client_context(self, json: impl AsRef<[u8]>) -> Self {
        let encoded = STANDARD.encode(json);
        self.header(wire::CLIENT_CONTEXT, &encoded)
    }

    /// The tenant that the function is executed for, where it isolates them.
    pub fn tenant_id(self, tenant_id: impl AsRef<str>) -> Self {
        self.header(wire::TENANT_ID, tenant_id.as_ref())
    }

    /// The time the call may take: all attempts, the waits between them, and the answer to its
    /// end.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.options.deadline = Deadline::After(timeout);
        self
    }

    /// When the call is given up.
    pub fn deadline(mut self, deadline: Instant) -> Self {
        self.options.deadline = Deadline::At(deadline);
        self
    }

    /// The time one attempt may take: see
    /// [`ClientBuilder::attempt_timeout`](super::ClientBuilder::attempt_timeout).
    pub fn attempt_timeout(mut self, timeout: Duration) -> Self {
        self.options.attempt_timeout = Some(timeout);
        self
    }

    /// Whether the call is attempted again although the function may have run: see
    /// [`ClientBuilder::retry_after_send`](super::ClientBuilder::retry_after_send).
    pub fn retry_after_send(mut self, retry: bool) -> Self {
        self.options.retry_after_send = retry;
        self
    }

    pub(super) fn new(shared: Arc<Shared>, function: String) -> Self {
        Self {
            function,
            qualifier: None,
            payload: Bytes::new(),
            headers: shared.headers.clone(),
            bad_input: None,
            options: shared.defaults.clone(),
            shared,
            answer: PhantomData,
        }
    }

    fn header(mut self, name: HeaderName, value: &str) -> Self {
        match HeaderValue::from_str(value) {
            // RFC 9110 §5.5: whoever reads it takes them off, and finds another tenant.
            Ok(_) if value.trim_matches([' ', '\t']) != value => {
                self.refuse(format!("{name}: a header cannot begin or end with a blank"));
            }
            Ok(value) => {
                self.headers.insert(name, value);
            }
            Err(error) => self.refuse(format!("{name}: {error}")),
        }
        self
    }

    fn refuse(&mut self, error: impl Into<BoxError>) {
        self.bad_input.get_or_insert_with(|| error.into());
    }
}

impl Invoke<Invocation> {
    /// What Lambda is to do with the call.
    pub fn invocation_type(self, invocation_type: InvocationType) -> Self {
        self.header(wire::INVOCATION_TYPE, invocation_type.as_str())
    }

    /// The name of the execution that a durable function is started as, or joins.
    pub fn durable_execution_name(self, name: impl AsRef<str>) -> Self {
        self.header(wire::DURABLE_EXECUTION_NAME, name.as_ref())
    }

    /// Sets the limit of the response in bytes, inclusive, instead of the limit of the client.
    pub fn limit(mut self, bytes: u64) -> Self {
        self.options.reader = self.options.reader.limit(bytes);
        self
    }

    /// Sends the call and waits for its whole answer.
    ///
    /// # Errors
    ///
    /// An [`Error`], with what is known of whether the function has run. A function that ran and
    /// failed is not one: see [`Invocation::function_error`].
    ///
    /// # Cancel safety
    ///
    /// Dropping the future closes the connection, where a request was sent on it over HTTP/1.1,
    /// or resets the stream. The function may have run, and does not notice.
    pub async fn send(mut self) -> Result<Invocation, Error> {
        // The answer would be refused, when the function has run.
        let limit = self.options.reader.get_limit();
        let capacity = self.options.reader.get_budget().map(MemoryBudget::capacity);
        if let Some(capacity) = capacity.filter(|&capacity| limit > capacity) {
            self.refuse(format!(
                "limit of {limit} bytes is above the memory budget of {capacity} bytes"
            ));
        }
        run(self).await
    }
}

impl Invoke<ResponseStream> {
    /// Sends the call and waits for the head of its answer.
    ///
    /// # Errors
    ///
    /// An [`Error`], with what is known of whether the function has run. What goes wrong later is
    /// an error of the stream.
    ///
    /// # Cancel safety
    ///
    /// As of [`Invoke<Invocation>`](Invoke#method.send).
    pub async fn send(self) -> Result<ResponseStream, Error> {
        run(self).await
    }
}

async fn run<A: Answer>(mut invoke: Invoke<A>) -> Result<A, Error> {
    let target = target_of(&mut invoke);
    let mut recorder = Recorder::new(
        invoke.shared.hook.clone(),
        invoke.function,
        invoke.qualifier,
        invoke.payload.len(),
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
        shared: invoke.shared,
    };
    call.run(recorder).await
}

/// Where the call goes, unless it cannot be written as a request at all.
fn target_of<A: Answer>(invoke: &mut Invoke<A>) -> Result<Target, Error> {
    if let Some(error) = invoke.bad_input.take() {
        return Err(Error::bad_input(error));
    }
    let base_path = invoke.shared.endpoint.base_path();
    target(base_path, A::OPERATION, &invoke.function, invoke.qualifier.as_deref())
        .map_err(Error::bad_input)
}

impl<A> fmt::Debug for Invoke<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Invoke")
            .field("function", &self.function)
            .field("qualifier", &self.qualifier)
            .field("payload", &format_args!("{} bytes", self.payload.len()))
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}
