//! An answer on its way from a runtime to its caller, as it comes.

use http_body_util::BodyExt;
use hyper::body::Incoming;
use tokio::select;

use super::answering::Answering;
use super::failure::Failure;
use super::invocation::End;
use super::state::Refusal;

/// Hands on a streamed answer, and holds no more of it than a few chunks.
pub(super) async fn forward(mut answering: Answering, body: &mut Incoming) -> Result<(), Refusal> {
    let chunks = answering.start_stream()?;
    // A function is not stopped for a caller that goes away.
    let mut heard = true;
    let mut received = 0;
    let mut failure = None;
    loop {
        let frame = select! {
            // Before the chunks, which whoever has heard of the end closes.
            biased;
            () = answering.over() => return Err(Refusal::InvokeTimeout),
            frame = body.frame() => frame,
            () = chunks.closed(), if heard => {
                heard = false;
                continue;
            }
        };
        match frame {
            None => break,
            Some(Err(_)) => {
                answering.end(End::Failed(Failure::truncated())).await?;
                return Err(Refusal::TruncatedRequest);
            }
            Some(Ok(frame)) => match frame.into_data() {
                Ok(data) => {
                    received += data.len() as u64;
                    if received > STREAM_MAX {
                        answering.end(End::Failed(Failure::too_large(STREAM_MAX))).await?;
                        return Err(Refusal::RequestEntityTooLarge { limit: STREAM_MAX });
                    }
                    if heard && !data.is_empty() {
                        select! {
                            // Of one that fails, the next turn takes notice.
                            _ = chunks.send(data) => {}
                            // A caller that does not move must not keep this from the runtime.
                            () = answering.over() => return Err(Refusal::InvokeTimeout),
                        }
                    }
                }
                Err(frame) => {
                    failure = frame.trailers_ref().and_then(Failure::in_trailers);
                }
            },
        }
    }
    answering
        .end(match failure {
            None => End::Streamed,
            Some(failure) => End::Failed(failure),
        })
        .await
}

/// <https://docs.aws.amazon.com/lambda/latest/dg/configuration-response-streaming.html>
const STREAM_MAX: u64 = 200 << 20;
