//! The forwarding of a streamed response from a runtime to its caller.

use http_body_util::BodyExt;
use hyper::body::Incoming;
use presized_lambda_runtime::wire::STREAM_MAX;
use tokio::select;

use super::Refusal;
use crate::deployed::{InvocationEnd, ResponseGuard};
use crate::failure::Failure;

/// Forwards a streamed response chunk by chunk. Memory holds a few chunks at a time.
pub(super) async fn forward(mut guard: ResponseGuard, body: &mut Incoming) -> Result<(), Refusal> {
    let chunks = guard.start_stream()?;
    // The function goes on when its caller disconnects.
    let mut connected = true;
    let mut received = 0;
    let mut failure = None;
    loop {
        let frame = select! {
            // The end of the invocation comes first, because it also closes the chunks.
            biased;
            () = guard.invocation_ended() => return Err(Refusal::InvokeTimeout),
            frame = body.frame() => frame,
            () = chunks.closed(), if connected => {
                connected = false;
                continue;
            }
        };
        match frame {
            None => break,
            Some(Err(_)) => {
                guard.end(InvocationEnd::Failed(Failure::truncated())).await?;
                return Err(Refusal::TruncatedRequest);
            }
            Some(Ok(frame)) => match frame.into_data() {
                Ok(data) => {
                    received += data.len() as u64;
                    if received > STREAM_MAX {
                        guard.end(InvocationEnd::Failed(Failure::too_large(STREAM_MAX))).await?;
                        return Err(Refusal::RequestEntityTooLarge { limit: STREAM_MAX });
                    }
                    if connected && !data.is_empty() {
                        select! {
                            // If it fails, the next iteration sees the closed channel.
                            _ = chunks.send(data) => {}
                            // A caller that does not read must not block the runtime.
                            () = guard.invocation_ended() => return Err(Refusal::InvokeTimeout),
                        }
                    }
                }
                Err(frame) => {
                    failure = frame.trailers_ref().and_then(Failure::in_trailers);
                }
            },
        }
    }
    guard
        .end(match failure {
            None => InvocationEnd::Streamed,
            Some(failure) => InvocationEnd::Failed(failure),
        })
        .await
}
