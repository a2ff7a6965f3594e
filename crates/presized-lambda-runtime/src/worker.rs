//! The loop that receives an invocation, calls the handler and sends the response.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use bytes::Bytes;
use tokio::time;
use tracing::{Instrument, Span, field};

use super::failure_log::FailureLog;
use super::function_response::{FunctionResponse, Payload};
use super::panics::caught;
use super::runtime_client::IncomingInvocation;
use super::shutdown::until;
use super::{
    Context, Error, ErrorKind, ErrorReport, Handler, Invocation, Outcome, Responder, RuntimeClient,
};

/// A client and a handler. Several tasks can serve with one worker.
#[derive(Debug)]
pub(super) struct Worker<H> {
    pub(super) client: RuntimeClient,
    pub(super) handler: H,
    pub(super) on_invocation: Option<InvocationHook>,
    /// The number of attempts to receive an invocation.
    pub(super) attempts: u32,
    pub(super) failure_log: FailureLog,
}

/// A function that is called before the handler.
pub(super) struct InvocationHook(Box<dyn Fn(&Context) + Send + Sync>);

impl InvocationHook {
    pub(super) fn new(hook: impl Fn(&Context) + Send + Sync + 'static) -> Self {
        Self(Box::new(hook))
    }
}

impl<H: Handler> Worker<H> {
    /// Serves invocations until `stop` is ready, and finishes the current one.
    ///
    /// # Errors
    ///
    /// Returns an error if no invocation can be received or the Runtime API cannot recover.
    pub(super) async fn serve(
        &self,
        mut stop: Pin<&mut (impl Future<Output = ()> + ?Sized)>,
    ) -> Result<(), Error> {
        while let Some(incoming) = until(stop.as_mut(), self.next()).await {
            // Lambda has sent the invocation, so its event is read even after the stop.
            match self.client.read(incoming?).await {
                Ok(invocation) => self.invoke(invocation).await?,
                Err(error) => self.report_unreadable(error).await?,
            }
        }
        Ok(())
    }

    async fn next(&self) -> Result<IncomingInvocation, Error> {
        let mut pause = FIRST_PAUSE;
        for _ in 1..self.attempts {
            match self.client.incoming().await {
                Err(error) if !error.is_fatal() => {
                    tracing::warn!(error = error.as_dyn(), "no invocation received, retrying");
                    time::sleep(pause).await;
                    pause *= 2;
                }
                outcome => return outcome,
            }
        }
        self.client.incoming().await
    }

    async fn invoke(&self, invocation: Invocation) -> Result<(), Error> {
        let (context, event, responder) = invocation.into_parts();
        let span = span(&context);
        span.record("event_bytes", event.len());
        async {
            let response = self.call(event, context).await;
            // The response can run code of the function when it is dropped.
            match caught(self.send(responder, response)).await {
                Ok(sent) => check(sent),
                Err(panic) => {
                    self.failure_log.record(&panic, "response panicked");
                    Ok(())
                }
            }
        }
        .instrument(span)
        .await
    }

    async fn call(&self, event: Bytes, context: Context) -> Result<FunctionResponse, ErrorReport> {
        caught(async {
            if let Some(InvocationHook(hook)) = &self.on_invocation {
                hook(&context);
            }
            self.handler.call(event, context).await
        })
        .await
        .and_then(|returned| returned)
    }

    /// Reports an event that could not be read.
    async fn report_unreadable(&self, error: Error) -> Result<(), Error> {
        if !matches!(error.kind(), ErrorKind::Event(_)) {
            return Err(error);
        }
        let error_type = if error.is_too_large() { TOO_LARGE } else { UNREADABLE };
        let report = ErrorReport::from_dyn(error_type, &error);
        // This frees what was read of the event.
        let Some((context, responder)) = error.into_responder() else { return Ok(()) };
        async { check(self.send(responder, Err(report)).await) }.instrument(span(&context)).await
    }

    async fn send(
        &self,
        responder: Responder,
        response: Result<FunctionResponse, ErrorReport>,
    ) -> Result<Outcome, Error> {
        let span = Span::current();
        match response.map(|FunctionResponse(payload)| payload) {
            Ok(Payload::Bytes(bytes)) => {
                span.record("response_bytes", bytes.len());
                responder.respond(bytes).await
            }
            Ok(Payload::Json(bytes)) => {
                span.record("response_bytes", bytes.len());
                responder.respond_json(bytes).await
            }
            Ok(Payload::Stream(chunks)) => {
                responder.respond_streaming(chunks.recorded_in(&span, self.failure_log)).await
            }
            Ok(Payload::Http(prelude, chunks)) => {
                let chunks = chunks.recorded_in(&span, self.failure_log);
                responder.respond_http_streaming(prelude, chunks).await
            }
            Err(report) => {
                span.record("error_type", &report.error_type);
                self.failure_log.record(&report, "function failed");
                responder.fail(&report).await
            }
        }
    }
}

impl fmt::Debug for InvocationHook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("InvocationHook")
    }
}

fn span(context: &Context) -> Span {
    tracing::info_span!(
        "lambda.invocation",
        request_id = context.request_id,
        function_arn = context.function_arn,
        trace_id = context.trace_id,
        event_bytes = field::Empty,
        response_bytes = field::Empty,
        error_type = field::Empty,
    )
}

/// Logs a response that was not accepted.
///
/// # Errors
///
/// Returns a fatal error. After any other the next request tells whether the Runtime API is still
/// there.
fn check(sent: Result<Outcome, Error>) -> Result<(), Error> {
    match sent {
        Ok(Outcome::Accepted) => Ok(()),
        Ok(refused) => {
            tracing::warn!(%refused, "response was refused");
            Ok(())
        }
        Err(error) if error.is_fatal() => Err(error),
        Err(error) => {
            tracing::warn!(error = error.as_dyn(), "response was not delivered");
            Ok(())
        }
    }
}

/// The pause after the first attempt. It doubles each time.
const FIRST_PAUSE: Duration = Duration::from_millis(100);

const TOO_LARGE: &str = "Runtime.EventTooLarge";

const UNREADABLE: &str = "Runtime.EventUnreadable";
