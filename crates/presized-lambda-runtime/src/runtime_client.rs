//! A client of the Runtime API.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use http::header::{HeaderMap, HeaderValue};
use http::{Method, StatusCode, response};
use presized::{BufferPool, Collect, Reader};
use tokio::time::{self, Instant};

use super::api::Api;
use super::connection::Exchange;
use super::wire::{INVOCATION_ID, REQUEST_ID, Route};
use super::{
    Context, Error, ErrorReport, FunctionConfig, Invocation, Responder, RuntimeClientBuilder,
};

/// Receives invocations from the Runtime API, and sends their responses.
///
/// Clones share connections and memory.
///
/// The client has no timeouts. Lambda can freeze the process for hours between two invocations, and
/// the deadline of an invocation bounds the time of its response.
///
/// # Examples
///
/// ```
/// # use presized_lambda_emulator::{Emulator, Function};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// #     // An emulator starts this program as its function.
/// #     if std::env::var_os("AWS_LAMBDA_RUNTIME_API").is_none() {
/// #         let emulator = Emulator::builder().function("f", Function::new()).start().await?;
/// #         emulator.spawn("f", std::process::Command::new(std::env::current_exe()?))?;
/// #         let client = emulator.client_builder().build()?;
/// #         let response = client.invoke("f").payload("hello").send().await?;
/// #         assert_eq!(response.payload, "hello");
/// #         return Ok(());
/// #     }
/// use presized_lambda_runtime::{Outcome, RuntimeClient};
///
/// let client = RuntimeClient::from_env()?;
/// loop {
///     let (context, event, responder) = client.next().await?.into_parts();
///     match responder.respond(event).await? {
///         Outcome::Accepted => {}
///         other => eprintln!("{}: {other}", context.request_id),
///     }
/// }
/// # }
/// ```
#[derive(Clone)]
pub struct RuntimeClient {
    pub(super) api: Arc<Api>,
    /// Reads events. It has the pool.
    reader: Reader,
    pool: BufferPool,
    function: Arc<FunctionConfig>,
}

/// An invocation whose event is not read yet.
pub(super) struct IncomingInvocation {
    head: response::Parts,
    exchange: Exchange,
    responder: Responder,
}

impl RuntimeClient {
    /// Returns a builder of a client.
    pub fn builder() -> RuntimeClientBuilder {
        RuntimeClientBuilder::new()
    }

    /// Creates the client of a process that Lambda started.
    ///
    /// Reads the endpoint from `AWS_LAMBDA_RUNTIME_API`, and the [`FunctionConfig`].
    ///
    /// # Errors
    ///
    /// Returns [`Config`](super::ErrorKind::Config) if the variable is not set or is not an
    /// endpoint.
    pub fn from_env() -> Result<Self, Error> {
        RuntimeClientBuilder::from_variables(|name| std::env::var(name).ok())?.build()
    }

    /// Waits for the next invocation, without a timeout.
    ///
    /// Asks again, after a pause, if the response has no invocation. Some emulators end a long poll
    /// like that. No other response is followed by a second request.
    ///
    /// # Errors
    ///
    /// Returns [`Event`](super::ErrorKind::Event) if there is an invocation whose event cannot be
    /// read. Report it with the responder of [`Error::into_responder`]. Any other error means that
    /// there is no invocation. [`Error::is_fatal`] tells whether to end the process.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future closes the connection. No invocation is lost as long as Lambda has not
    /// sent one. An invocation that Lambda has sent is lost and fails, because the Runtime API sends
    /// each event once.
    pub async fn next(&self) -> Result<Invocation, Error> {
        let incoming = self.incoming().await?;
        self.read(incoming).await
    }

    /// Reports that the function could not be initialized. End the process afterwards, with an
    /// error.
    ///
    /// # Errors
    ///
    /// Returns an error if the report was not accepted. The process is to end in this case too.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future closes the connection. The Runtime API may have received the report.
    pub async fn init_error(&self, report: &ErrorReport) -> Result<(), Error> {
        self.api.post_report(Route::InitError, report).await
    }

    /// Tells Lambda to take a snapshot of the process, and returns after the process was restored
    /// from it.
    ///
    /// Afterwards this client uses new connections. The caller must replace its own connections and
    /// unique values.
    ///
    /// # Errors
    ///
    /// Returns an error if the process is not restored. End the process then.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future closes the connection. Lambda may take the snapshot anyway.
    pub async fn restore_next(&self) -> Result<(), Error> {
        let (head, exchange) = self.api.get(Route::RestoreNext).await?;
        if !head.status.is_success() {
            return Err(self.api.error(&head, exchange).await.into());
        }
        // This connection and the idle ones lead to the server before the snapshot.
        drop(exchange);
        self.api.close_idle();
        Ok(())
    }

    /// Reports that the function failed after it was restored. End the process afterwards, with an
    /// error.
    ///
    /// # Errors
    ///
    /// See [`init_error`](Self::init_error).
    ///
    /// # Cancel safety
    ///
    /// See [`init_error`](Self::init_error).
    pub async fn restore_error(&self, report: &ErrorReport) -> Result<(), Error> {
        self.api.post_report(Route::RestoreError, report).await
    }

    /// Returns the pool that provides the memory of events.
    pub fn pool(&self) -> &BufferPool {
        &self.pool
    }

    /// `reader` has `pool`.
    pub(super) fn new(
        api: Api,
        reader: Reader,
        pool: BufferPool,
        function: FunctionConfig,
    ) -> Self {
        Self { api: Arc::new(api), reader, pool, function: Arc::new(function) }
    }

    /// Waits for the head of the next invocation. [`read`](Self::read) reads its event.
    pub(super) async fn incoming(&self) -> Result<IncomingInvocation, Error> {
        let mut pause = Pause(PAUSE_MIN);
        loop {
            let begin = Instant::now();
            let (head, exchange) = self.api.get(Route::NextInvocation).await?;
            match head.status {
                StatusCode::OK => match self.responder(&head.headers) {
                    Some(responder) => {
                        return Ok(IncomingInvocation { head, exchange, responder });
                    }
                    None => tracing::warn!(
                        "the Runtime API sent an invocation without a valid request id"
                    ),
                },
                StatusCode::NO_CONTENT => {}
                _ => return Err(self.api.error(&head, exchange).await.into()),
            }
            self.api.discard(head, exchange).await;
            time::sleep(pause.after_poll(begin.elapsed())).await;
        }
    }

    /// Reads the event of an invocation.
    pub(super) async fn read(&self, incoming: IncomingInvocation) -> Result<Invocation, Error> {
        let IncomingInvocation { head, mut exchange, responder } = incoming;
        let function = Arc::clone(&self.function);
        let context = Context::new(responder.request_id().to_owned(), &head.headers, function);
        let reader = self.reader.clone();
        let event = Collect::of_response(&Method::GET, &head, &mut exchange, reader);
        // The headers are slices of the read buffer of the connection, which needs it again.
        drop(head);
        match event.bytes().await {
            Ok(event) => {
                self.api.release(exchange).await;
                Ok(Invocation::new(context, event, responder))
            }
            Err(error) => Err(Error::event(error, context, responder)),
        }
    }

    /// Returns the responder of the invocation with these headers, if its request id is valid.
    fn responder(&self, headers: &HeaderMap) -> Option<Responder> {
        let request_id = headers.get(REQUEST_ID)?.to_str().ok()?;
        // A copy, because a slice would keep the read buffer of the connection.
        let invocation_id = headers.get(INVOCATION_ID).map(|id| id.as_bytes());
        let invocation_id = invocation_id.and_then(|id| HeaderValue::from_bytes(id).ok());
        is_path_segment(request_id)
            .then(|| Responder::new(Arc::clone(&self.api), request_id.to_owned(), invocation_id))
    }
}

impl fmt::Debug for RuntimeClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RuntimeClient")
            .field("api", &self.api)
            .field("reader", &self.reader)
            .finish_non_exhaustive()
    }
}

/// The time from one request to the next while there is no invocation.
struct Pause(Duration);

impl Pause {
    /// Returns the pause after a poll that took `lasted`.
    ///
    /// A server that held the poll open needs no pause. An invocation would wait during one.
    fn after_poll(&mut self, lasted: Duration) -> Duration {
        let pause = self.0.saturating_sub(lasted);
        self.0 = if pause.is_zero() { PAUSE_MIN } else { (self.0 * 2).min(PAUSE_MAX) };
        pause
    }
}

/// Returns `true` if a text is one segment of a path without escapes (RFC 3986, section 3.3).
fn is_path_segment(text: &str) -> bool {
    let is_allowed =
        |byte: u8| byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:@".contains(&byte);
    // RFC 3986, section 5.2.4: dot segments stand for other segments.
    (1..=ID_MAX).contains(&text.len())
        && !matches!(text, "." | "..")
        && text.bytes().all(is_allowed)
}

/// The maximum length of a request id. Lambda's have 36 bytes, and `Uri` takes 64 KiB in all.
const ID_MAX: usize = 1024;

/// The pause after the first response without an invocation. It doubles after each that comes
/// earlier than the pause.
const PAUSE_MIN: Duration = Duration::from_millis(50);

/// The maximum pause after a response without an invocation.
const PAUSE_MAX: Duration = Duration::from_secs(1);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pause_doubles_only_after_polls_that_are_shorter() {
        // Each poll and the pause after it, in milliseconds.
        let table = [
            (0, 50),
            (0, 100),
            (50, 150),
            (0, 400),
            (0, 800),
            (0, 1000),
            (400, 600),
            (1000, 0),
            (20, 30),
            (100, 0),
            (60_000, 0),
            (0, 50),
        ];
        let mut pause = Pause(PAUSE_MIN);
        for (lasted, expected) in table {
            let expected = Duration::from_millis(expected);
            assert_eq!(pause.after_poll(Duration::from_millis(lasted)), expected, "{lasted} ms");
        }
    }
}
