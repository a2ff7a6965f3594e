//! One invocation after the other: asks for it, calls the function, sends the answer.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use bytes::Bytes;
use tokio::time;
use tracing::{Instrument, Span, field};

use super::function_response::{Answer, Kind};
use super::panics::caught;
use super::runtime_client::Arriving;
use super::shutdown::until;
use super::{
    Answered, Context, Error, ErrorKind, ErrorReport, Handler, Invocation, Responder, RuntimeClient,
};

/// What serves invocations. Several loops can share one.
#[derive(Debug)]
pub(super) struct Worker<H> {
    pub(super) client: RuntimeClient,
    pub(super) handler: H,
    pub(super) on_invocation: Option<OnInvocation>,
    /// How often the next invocation is asked for before it is given up.
    pub(super) tries: u32,
}

/// Who is told of an invocation before the function is called.
pub(super) struct OnInvocation(Box<dyn Fn(&Context) + Send + Sync>);

impl OnInvocation {
    pub(super) fn new(hook: impl Fn(&Context) + Send + Sync + 'static) -> Self {
        Self(Box::new(hook))
    }
}

impl<H: Handler> Worker<H> {
    /// Serves until `stop` is done and nothing is in hand, or no invocation can be had.
    pub(super) async fn serve(
        &self,
        mut stop: Pin<&mut (impl Future<Output = ()> + ?Sized)>,
    ) -> Result<(), Error> {
        while let Some(arriving) = until(stop.as_mut(), self.next()).await {
            // Given away as it is by now, its event is read whatever is to stop.
            match self.client.read(arriving?).await {
                Ok(invocation) => self.invoke(invocation).await?,
                Err(error) => self.refuse(error).await?,
            }
        }
        Ok(())
    }

    async fn next(&self) -> Result<Arriving, Error> {
        let mut wait = FIRST_WAIT;
        for _ in 1..self.tries {
            match self.client.arriving().await {
                Err(error) if !error.is_fatal() => {
                    tracing::warn!(%error, "no invocation, asking again");
                    time::sleep(wait).await;
                    wait *= 2;
                }
                outcome => return outcome,
            }
        }
        self.client.arriving().await
    }

    async fn invoke(&self, invocation: Invocation) -> Result<(), Error> {
        let (context, event, responder) = invocation.into_parts();
        let span = span(&context);
        span.record("event_bytes", event.len());
        async {
            let answer = self.call(event, context).await;
            // What is sent is the function's until it is dropped.
            match caught(send(responder, answer)).await {
                Ok(sent) => settle(sent),
                Err(panic) => {
                    tracing::error!(error_type = panic.error_type, "an answer was lost");
                    Ok(())
                }
            }
        }
        .instrument(span)
        .await
    }

    async fn call(&self, event: Bytes, context: Context) -> Result<Answer, ErrorReport> {
        caught(async {
            if let Some(OnInvocation(hook)) = &self.on_invocation {
                hook(&context);
            }
            self.handler.call(event, context).await
        })
        .await
        .and_then(|answered| answered)
    }

    /// Answers an invocation whose event cannot be read.
    async fn refuse(&self, error: Error) -> Result<(), Error> {
        if !matches!(error.kind(), ErrorKind::Event(_)) {
            return Err(error);
        }
        let error_type = if error.is_too_large() { TOO_LARGE } else { UNREADABLE };
        let report = ErrorReport::from_dyn(error_type, &error);
        // What was read of the event goes with the error.
        let Some((context, responder)) = error.into_unanswered() else { return Ok(()) };
        async { settle(send(responder, Err(report)).await) }.instrument(span(&context)).await
    }
}

impl fmt::Debug for OnInvocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OnInvocation")
    }
}

fn span(context: &Context) -> Span {
    tracing::info_span!(
        "lambda.invocation",
        request_id = context.request_id,
        function_arn = context.function_arn,
        trace_id = context.trace_id,
        event_bytes = field::Empty,
        answer_bytes = field::Empty,
        error_type = field::Empty,
    )
}

async fn send(
    responder: Responder,
    answer: Result<Answer, ErrorReport>,
) -> Result<Answered, Error> {
    let span = Span::current();
    match answer.map(|Answer(kind)| kind) {
        Ok(Kind::Bytes(bytes)) => {
            span.record("answer_bytes", bytes.len());
            responder.respond(bytes).await
        }
        Ok(Kind::Stream(chunks)) => responder.respond_streaming(chunks.recorded_by(&span)).await,
        Ok(Kind::Http(prelude, chunks)) => {
            responder.respond_http_streaming(prelude, chunks.recorded_by(&span)).await
        }
        Err(report) => {
            // Not the message, which can quote the event.
            span.record("error_type", &report.error_type);
            tracing::error!(error_type = report.error_type, "the function failed");
            responder.fail(&report).await
        }
    }
}

/// Only what the Runtime API cannot recover from is a reason to stop. An answer that is lost is
/// not: if it is the API that is gone, the next question tells.
fn settle(sent: Result<Answered, Error>) -> Result<(), Error> {
    match sent {
        Ok(Answered::Accepted) => Ok(()),
        Ok(refused) => {
            tracing::warn!(%refused, "an answer was refused");
            Ok(())
        }
        Err(error) if error.is_fatal() => Err(error),
        Err(error) => {
            tracing::warn!(%error, "an answer was lost");
            Ok(())
        }
    }
}

/// Doubles from try to try.
const FIRST_WAIT: Duration = Duration::from_millis(100);

const TOO_LARGE: &str = "Runtime.EventTooLarge";

const UNREADABLE: &str = "Runtime.EventUnreadable";
