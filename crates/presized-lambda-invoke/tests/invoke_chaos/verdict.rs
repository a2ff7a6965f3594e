//! The result of a call, and the check that the result is valid.

use std::sync::atomic::Ordering::Relaxed;

use futures_util::StreamExt;
use presized_lambda_invoke::{
    Client, Error, ErrorKind, FunctionErrorKind, Invocation, InvocationType,
};
use tokio::time::timeout;

use crate::call::{Call, LENGTH_MAX, Scenario};
use crate::server::Counts;

/// The result of a call.
#[derive(Debug)]
pub(crate) struct Verdict {
    pub(crate) end: End,
    /// `None` for a dropped call.
    pub(crate) attempts: Option<u32>,
}

/// The end of a call.
#[derive(Debug)]
pub(crate) enum End {
    Right,
    /// The response has a duplicate that HTTP cannot detect.
    Altered,
    Failed {
        kind: &'static str,
        may_have_run: bool,
    },
    Dropped,
    /// The result is invalid for this reason.
    Wrong(String),
}

/// The way that a proxy can alter a response without detection.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Way {
    /// It cannot.
    True,
    /// It inserts bytes into a response with a content length or, over HTTP/2, into any response
    /// without checksums.
    Altering { http2: bool },
}

impl Way {
    fn alters(self, scenario: Scenario) -> bool {
        match self {
            Self::True => false,
            Self::Altering { http2 } => {
                !scenario.is_streamed() && (http2 || scenario == Scenario::Sized)
            }
        }
    }
}

/// The properties of a response that the client returned.
#[derive(Debug)]
struct Received {
    status: u16,
    function_failed: bool,
    request_id: Option<String>,
    attempts: u32,
}

/// A call that failed after `arrived`.
struct Failure {
    error: Error,
    arrived: Vec<u8>,
}

/// Makes the call.
pub(crate) async fn make(client: &Client, call: Call, way: Way) -> Verdict {
    let making = async {
        if call.scenario.is_streamed() {
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
        Ok((received, payload)) => (received.attempts, succeeded(&call, way, &received, &payload)),
        Err(failure) => (failure.error.attempts(), failed(&call, way, failure)),
    };
    Verdict { end: end.unwrap_or_else(End::Wrong), attempts: Some(attempts) }
}

async fn buffered(client: &Client, call: &Call) -> Result<(Received, Vec<u8>), Failure> {
    let mut invoke = client
        .invoke("chaos")
        .payload(call.payload())
        .timeout(call.timeout)
        .attempt_timeout(call.attempt_timeout)
        .invocation_type(match call.scenario {
            Scenario::Queued => InvocationType::Event,
            Scenario::DryRun => InvocationType::DryRun,
            _ => InvocationType::RequestResponse,
        });
    if let Some(limit) = call.limit {
        invoke = invoke.limit(limit);
    }
    let invocation = invoke.send().await.map_err(|error| Failure { error, arrived: Vec::new() })?;
    let Invocation { status, function_error, request_id, attempts, payload, .. } = invocation;
    let status = status.as_u16();
    let function_failed = function_error.is_some_and(|e| e.kind == FunctionErrorKind::Unhandled);
    Ok((Received { status, function_failed, request_id, attempts }, payload.to_vec()))
}

async fn streamed(client: &Client, call: &Call) -> Result<(Received, Vec<u8>), Failure> {
    let invoke = client
        .invoke_streaming("chaos")
        .payload(call.payload())
        .timeout(call.timeout)
        .attempt_timeout(call.attempt_timeout);
    let early = |error| Failure { error, arrived: Vec::new() };
    let mut stream = invoke.send().await.map_err(early)?;
    let received = Received {
        status: stream.status().as_u16(),
        function_failed: false,
        request_id: stream.request_id().map(str::to_owned),
        attempts: stream.attempts(),
    };
    if call.number.is_multiple_of(2) {
        let collected = stream.collect(LENGTH_MAX as u64).await.map_err(early)?;
        return Ok((received, collected.payload.to_vec()));
    }
    let mut arrived = Vec::new();
    while let Some(chunk) = stream.next().await {
        match chunk {
            Ok(chunk) => arrived.extend_from_slice(&chunk),
            Err(error) => return Err(Failure { error, arrived }),
        }
    }
    Ok((received, arrived))
}

fn succeeded(call: &Call, way: Way, received: &Received, payload: &[u8]) -> Result<End, String> {
    let content = match call.scenario {
        Scenario::Queued | Scenario::DryRun => &[],
        Scenario::GatewayTimeout
        | Scenario::NotFound
        | Scenario::StreamedError
        | Scenario::StreamedException => return Err("a response where there is none".to_owned()),
        _ => call.content(),
    };
    // HTTP heads have no checksum.
    if matches!(way, Way::True) {
        let status = match call.scenario {
            Scenario::Queued => 202,
            Scenario::DryRun => 204,
            _ => 200,
        };
        let function_failed = call.scenario == Scenario::FunctionError;
        let id = call.number.to_string();
        if (received.status, received.function_failed, received.request_id.as_ref())
            != (status, function_failed, Some(&id))
        {
            return Err(format!("response is {received:?}"));
        }
    }
    if call.limit.is_some_and(|limit| payload.len() as u64 > limit) {
        return Err(format!("{} bytes despite the limit", payload.len()));
    }
    if payload == content {
        Ok(End::Right)
    } else if way.alters(call.scenario) && has_insertion(payload, content) {
        Ok(End::Altered)
    } else {
        Err(format!("{} bytes instead of the correct {}", payload.len(), content.len()))
    }
}

fn failed(call: &Call, way: Way, failure: Failure) -> Result<End, String> {
    let Failure { error, mut arrived } = failure;
    let altering = matches!(way, Way::Altering { .. });
    let may_have_run = error.may_have_run();
    let kind = match error.kind() {
        ErrorKind::Connect(_) => "no connection",
        ErrorKind::Broken(_) => BROKEN,
        ErrorKind::Timeout { .. } | ErrorKind::BudgetFull { .. } => TIMEOUT,
        ErrorKind::Service(error) => match error.status.as_u16() {
            429 | 500 | 503 => REFUSED,
            // A status line with duplicated `1 42`, `1 50` or `1 20`.
            421 | 501 if altering => REFUSED,
            201 if altering && call.scenario == Scenario::StreamedException => EXCEPTION,
            404 if call.scenario == Scenario::NotFound => "not found",
            504 if call.scenario == Scenario::GatewayTimeout => GATEWAY,
            200 if call.scenario == Scenario::StreamedException => EXCEPTION,
            _ => return Err(format!("{error:?}")),
        },
        ErrorKind::Function(_) if call.scenario == Scenario::StreamedError => FUNCTION,
        ErrorKind::TooLarge(_) if call.limit.is_some() => TOO_LARGE,
        // Content-Length has a duplicated digit.
        ErrorKind::TooLarge(_) | ErrorKind::Memory(_) if way.alters(call.scenario) => TOO_LARGE,
        _ => return Err(format!("{error:?}")),
    };
    let in_doubt = match kind {
        TIMEOUT | BROKEN => true,
        // With an altered code, the response counts as the response of a gateway.
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
    let unchecked = altering && !call.scenario.is_streamed();
    if bounded && (unchecked || call.content().starts_with(&arrived)) {
        Ok(End::Failed { kind, may_have_run })
    } else {
        Err(format!("{} bytes before: {kind}", arrived.len()))
    }
}

impl Verdict {
    /// Compares the result with the counts of the server, after all connections are closed.
    pub(crate) fn verify(&self, call: &Call, counts: &Counts) -> Result<(), String> {
        let (requests, runs) = (counts.requests.load(Relaxed), counts.runs.load(Relaxed));
        let known = match &self.end {
            End::Wrong(reason) => return Err(reason.clone()),
            End::Right | End::Altered => runs == call.scenario.runs(),
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

/// Returns whether the function has certainly run.
fn must_have_run(kind: &str) -> bool {
    [GATEWAY, EXCEPTION, FUNCTION, TOO_LARGE].contains(&kind)
}

/// Returns whether `payload` is `content` with at most as many inserted bytes as a duplicate causes.
/// The end of the content may be cut off.
fn has_insertion(payload: &[u8], content: &[u8]) -> bool {
    let same = payload.iter().zip(content).take_while(|(a, b)| a == b).count();
    (1..=INSERTED).any(|inserted| {
        let moved = payload.get(same + inserted..).unwrap_or_default();
        content[same..].starts_with(moved) && payload.len() <= content.len() + inserted
    })
}

const BROKEN: &str = "broken response";
const TIMEOUT: &str = "timeout";
const REFUSED: &str = "refused temporarily";
const GATEWAY: &str = "gateway timeout";
const EXCEPTION: &str = "exception in a stream";
const FUNCTION: &str = "function error in a stream";
const TOO_LARGE: &str = "too large";

/// The maximum of inserted bytes: a duplicate, and the rest of a head that it ends.
const INSERTED: usize = 128;
