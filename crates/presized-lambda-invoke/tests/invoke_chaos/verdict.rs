//! What becomes of a call, and whether it may have become that.

use std::sync::atomic::Ordering::Relaxed;

use futures_util::StreamExt;
use presized_lambda_invoke::{
    Client, Error, ErrorKind, FunctionErrorKind, Invocation, InvocationType,
};
use tokio::time::timeout;

use crate::call::{Answer, Call, LENGTH_MAX};
use crate::server::Counts;

/// What became of a call.
#[derive(Debug)]
pub(crate) struct Verdict {
    pub(crate) end: End,
    /// Unknown of a call that was dropped.
    pub(crate) attempts: Option<u32>,
}

/// How it ended.
#[derive(Debug)]
pub(crate) enum End {
    Right,
    /// With what the proxy has made of the right answer, where HTTP has no means to tell.
    Altered,
    Failed {
        kind: &'static str,
        may_have_run: bool,
    },
    Dropped,
    /// With what must not be, and why.
    Wrong(String),
}

/// How an answer can be altered on its way without anybody noticing.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Way {
    /// Not at all.
    True,
    /// Bytes are inserted into what is sent in one buffer, or, with the other framing of HTTP/2,
    /// into any content that has no checksums.
    Altering { http2: bool },
}

impl Way {
    fn alters(self, answer: Answer) -> bool {
        match self {
            Self::True => false,
            Self::Altering { http2 } => !answer.is_streamed() && (http2 || answer == Answer::Sized),
        }
    }
}

/// What the client says of an answer.
#[derive(Debug)]
struct Said {
    status: u16,
    function_failed: bool,
    request_id: Option<String>,
    attempts: u32,
}

/// A call that failed after these bytes.
struct Failure {
    error: Error,
    arrived: Vec<u8>,
}

/// Makes the call.
pub(crate) async fn make(client: &Client, call: Call, way: Way) -> Verdict {
    let making = async {
        if call.answer.is_streamed() {
            streamed(client, &call).await
        } else {
            buffered(client, &call).await
        }
    };
    let result = match call.dropped_after {
        None => making.await,
        Some(time) => match timeout(time, making).await {
            Ok(result) => result,
            Err(_) => return Verdict { end: End::Dropped, attempts: None },
        },
    };
    let (attempts, end) = match result {
        Ok((said, payload)) => (said.attempts, answered(&call, way, &said, &payload)),
        Err(failure) => (failure.error.attempts(), failed(&call, way, failure)),
    };
    Verdict { end: end.unwrap_or_else(End::Wrong), attempts: Some(attempts) }
}

async fn buffered(client: &Client, call: &Call) -> Result<(Said, Vec<u8>), Failure> {
    let mut invoke = client
        .invoke("chaos")
        .payload(call.payload())
        .timeout(call.timeout)
        .attempt_timeout(call.attempt_timeout)
        .invocation_type(match call.answer {
            Answer::Queued => InvocationType::Event,
            Answer::DryRun => InvocationType::DryRun,
            _ => InvocationType::RequestResponse,
        });
    if let Some(limit) = call.limit {
        invoke = invoke.limit(limit);
    }
    let invocation = invoke.send().await.map_err(|error| Failure { error, arrived: Vec::new() })?;
    let Invocation { status, function_error, request_id, attempts, payload, .. } = invocation;
    let status = status.as_u16();
    let function_failed = function_error.is_some_and(|e| e.kind == FunctionErrorKind::Unhandled);
    Ok((Said { status, function_failed, request_id, attempts }, payload.to_vec()))
}

async fn streamed(client: &Client, call: &Call) -> Result<(Said, Vec<u8>), Failure> {
    let invoke = client
        .invoke_streaming("chaos")
        .payload(call.payload())
        .timeout(call.timeout)
        .attempt_timeout(call.attempt_timeout);
    let early = |error| Failure { error, arrived: Vec::new() };
    let mut stream = invoke.send().await.map_err(early)?;
    let said = Said {
        status: stream.status().as_u16(),
        function_failed: false,
        request_id: stream.request_id().map(str::to_owned),
        attempts: stream.attempts(),
    };
    if call.number % 2 == 0 {
        let collected = stream.collect(LENGTH_MAX as u64).await.map_err(early)?;
        return Ok((said, collected.payload.to_vec()));
    }
    let mut arrived = Vec::new();
    while let Some(chunk) = stream.next().await {
        match chunk {
            Ok(chunk) => arrived.extend_from_slice(&chunk),
            Err(error) => return Err(Failure { error, arrived }),
        }
    }
    Ok((said, arrived))
}

fn answered(call: &Call, way: Way, said: &Said, payload: &[u8]) -> Result<End, String> {
    let content = match call.answer {
        Answer::Queued | Answer::DryRun => &[],
        Answer::GatewayTimeout
        | Answer::NotFound
        | Answer::StreamedError
        | Answer::StreamedException => return Err("answered, and there is no answer".to_owned()),
        _ => call.content(),
    };
    // A head has no checksum in any version of HTTP.
    if matches!(way, Way::True) {
        let status = match call.answer {
            Answer::Queued => 202,
            Answer::DryRun => 204,
            _ => 200,
        };
        let function_failed = call.answer == Answer::FunctionError;
        let id = call.number.to_string();
        if (said.status, said.function_failed, said.request_id.as_ref())
            != (status, function_failed, Some(&id))
        {
            return Err(format!("answered with {said:?}"));
        }
    }
    if call.limit.is_some_and(|limit| payload.len() as u64 > limit) {
        return Err(format!("{} bytes in spite of the limit", payload.len()));
    }
    if payload == content {
        Ok(End::Right)
    } else if way.alters(call.answer) && has_insertion(payload, content) {
        Ok(End::Altered)
    } else {
        Err(format!("{} bytes, and not the right {}", payload.len(), content.len()))
    }
}

fn failed(call: &Call, way: Way, failure: Failure) -> Result<End, String> {
    let Failure { error, mut arrived } = failure;
    let altering = matches!(way, Way::Altering { .. });
    let may_have_run = error.may_have_run();
    let kind = match error.kind() {
        ErrorKind::Connect(_) => "no connection",
        ErrorKind::Broken(_) => BROKEN,
        ErrorKind::Timeout { .. } => TIMEOUT,
        ErrorKind::Service(error) => match error.status.as_u16() {
            429 | 500 | 503 => REFUSED,
            // `1 42`, `1 50` and `1 20` of a status line, twice.
            421 | 501 if altering => REFUSED,
            201 if altering && call.answer == Answer::StreamedException => EXCEPTION,
            404 if call.answer == Answer::NotFound => "not found",
            504 if call.answer == Answer::GatewayTimeout => GATEWAY,
            200 if call.answer == Answer::StreamedException => EXCEPTION,
            _ => return Err(format!("{error:?}")),
        },
        ErrorKind::Function(_) if call.answer == Answer::StreamedError => FUNCTION,
        ErrorKind::TooLarge(_) if call.limit.is_some() => TOO_LARGE,
        // A digit more in Content-Length.
        ErrorKind::TooLarge(_) | ErrorKind::Memory(_) if way.alters(call.answer) => TOO_LARGE,
        _ => return Err(format!("{error:?}")),
    };
    let in_doubt = match kind {
        TIMEOUT | BROKEN => true,
        // With another code it can be from somebody else than Lambda.
        REFUSED => altering,
        _ => false,
    };
    if !in_doubt && may_have_run != must_have_run(kind) {
        return Err(format!("{error:?}"));
    }
    if arrived.is_empty() {
        arrived = error.into_partial().to_vec();
    }
    let bounded = call.limit.is_none_or(|limit| arrived.len() as u64 <= limit);
    let unchecked = altering && !call.answer.is_streamed();
    if bounded && (unchecked || call.content().starts_with(&arrived)) {
        Ok(End::Failed { kind, may_have_run })
    } else {
        Err(format!("{} bytes before: {kind}", arrived.len()))
    }
}

impl Verdict {
    /// Compares it with what the server counted, when nothing is on its way any more.
    pub(crate) fn verify(&self, call: &Call, counts: &Counts) -> Result<(), String> {
        let (requests, runs) = (counts.requests.load(Relaxed), counts.runs.load(Relaxed));
        let known = match &self.end {
            End::Wrong(reason) => return Err(reason.clone()),
            End::Right | End::Altered => runs == call.answer.runs(),
            End::Failed { may_have_run: false, .. } => runs == 0,
            End::Failed { kind, .. } => !must_have_run(kind) || runs == 1,
            End::Dropped => true,
        };
        if known && runs <= 1 && self.attempts.is_none_or(|attempts| requests <= attempts) {
            Ok(())
        } else {
            Err(format!("{self:?}, and the server had {requests} requests and ran {runs}"))
        }
    }
}

/// Whether the function has run beyond a doubt.
fn must_have_run(kind: &str) -> bool {
    [GATEWAY, EXCEPTION, FUNCTION, TOO_LARGE].contains(&kind)
}

/// Whether `payload` is `content` with as many bytes inserted as a duplicate can bring about, of
/// which those that do not fit are cut off.
fn has_insertion(payload: &[u8], content: &[u8]) -> bool {
    let same = payload.iter().zip(content).take_while(|(a, b)| a == b).count();
    (1..=INSERTED).any(|inserted| {
        let moved = payload.get(same + inserted..).unwrap_or_default();
        content[same..].starts_with(moved) && payload.len() <= content.len() + inserted
    })
}

const BROKEN: &str = "broken answer";
const TIMEOUT: &str = "timeout";
const REFUSED: &str = "refused for now";
const GATEWAY: &str = "gateway timeout";
const EXCEPTION: &str = "exception in a stream";
const FUNCTION: &str = "function error in a stream";
const TOO_LARGE: &str = "too large";

/// A duplicate, and what is left of a head that it has ended.
const INSERTED: usize = 128;
