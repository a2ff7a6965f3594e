//! Collects a streamed response into one buffer.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use futures_core::Stream;
use http_body::{Body, Frame};
use presized::{Collect, CollectError, Reader};
use tokio::time::sleep_until;

use super::chunks::Chunks;
use crate::budget_wait::Watch;
use crate::recorder::Recorder;
use crate::{BoxError, Error, Invocation, TimeoutLimit};

/// Collects the rest of the stream.
pub(super) async fn collect<B>(mut chunks: Chunks<B>, reader: Reader) -> Result<Invocation, Error>
where
    B: Body<Data = Bytes, Error: Into<BoxError>> + Unpin,
{
    // The stream does not check its deadline while `collect` waits for the budget.
    let deadline = sleep_until(chunks.deadline());
    let wait = chunks.recorder.as_ref().and_then(Recorder::budget_wait).cloned();
    let watch = Watch::default();
    let collect = Collect::new(watch.body(Payload(&mut chunks)), reader).until(deadline).bytes();
    let collected = match &wait {
        Some(wait) => wait.watched(&watch, collect).await,
        None => collect.await,
    };
    let error = match (collected, chunks.completion.take()) {
        (Ok(payload), Some(completion)) => {
            return Ok(Invocation {
                status: chunks.head.status,
                payload,
                function_error: None,
                executed_version: chunks.head.executed_version.take(),
                log_tail: completion.log_tail,
                request_id: chunks.head.request_id.take(),
                durable_execution_arn: None,
                attempts: chunks.head.attempts,
            });
        }
        // The error of the stream is complete, except for the bytes that had arrived.
        (Err(CollectError::Body { source, partial, .. }), _) => {
            return Err(source.with_partial(partial));
        }
        (Ok(_), None) => Error::ended(FAILED_BEFORE, chunks.arrived()),
        (Err(CollectError::Stopped { awaited, partial, .. }), _) => {
            let error = match (awaited, wait) {
                (Some(requested), Some(wait)) => wait.error(chunks.elapsed(), Some(requested)),
                _ => chunks.timed_out(TimeoutLimit::Deadline),
            };
            error.with_partial(partial)
        }
        (Err(error), _) => Error::read(error.map_body(io::Error::other)),
    };
    Err(chunks.fail(error))
}

/// The chunks as a body.
struct Payload<'a, B>(&'a mut Chunks<B>);

impl<B> Body for Payload<'_, B>
where
    B: Body<Data = Bytes, Error: Into<BoxError>> + Unpin,
{
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        Pin::new(&mut *self.0).poll_next(cx).map_ok(Frame::data)
    }
}

const FAILED_BEFORE: &str = "stream had already ended with an error";
