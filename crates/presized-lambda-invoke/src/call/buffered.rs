//! The response of a call that is read into one buffer, within the budget and the deadline.

use std::io;

use http::{Method, response};
use hyper::body::Incoming;
use presized::{Collect, CollectError};
use tokio::time::sleep_until;

use super::{Bound, Call, CallResponse};
use crate::arrived::Arrived;
use crate::budget_wait::Watch;
use crate::recorder::Recorder;
use crate::wire::Operation;
use crate::{BoxError, Error, Invocation, TimeoutLimit, TimeoutPhase};

impl CallResponse for Invocation {
    const OPERATION: Operation = Operation::Invoke;

    async fn wait_for_room(call: &Call, recorder: &Recorder) -> Result<(), Error> {
        match recorder.budget_wait() {
            Some(wait) if call.has_response() && !wait.has_room(call.deadline).await => {
                Err(wait.error(recorder.elapsed(), None))
            }
            _ => Ok(()),
        }
    }

    async fn read(
        call: &Call,
        head: response::Parts,
        body: Incoming,
        bound: Bound,
        recorder: &Recorder,
    ) -> Result<Self, Error> {
        let reader = call.options.reader.clone();
        let watch = Watch::default();
        let collect = Collect::of_response(&Method::POST, &head, watch.body(body), reader);
        let collect = collect.until(sleep_until(bound.at)).bytes();
        let wait = recorder.budget_wait();
        let collected = match wait {
            Some(wait) => wait.watched(&watch, collect).await,
            None => collect.await,
        };
        match collected {
            Ok(payload) => Ok(Self::new(&head, payload, recorder.attempts())),
            Err(error) => Err(read_error(error, bound.limit, recorder)),
        }
    }

    fn recorded_by(self, mut recorder: Recorder) -> Self {
        recorder.received(self.payload.len());
        match self.function_error {
            Some(_) => recorder.function_failed(),
            None => recorder.succeeded(),
        }
        self
    }
}

/// Makes the error of a response that could not be collected before its end.
fn read_error<E: Into<BoxError>>(
    error: CollectError<E>,
    limit: TimeoutLimit,
    recorder: &Recorder,
) -> Error {
    let CollectError::Stopped { declared, received, awaited, partial, .. } = error else {
        return Error::read(error.map_body(io::Error::other));
    };
    let after = recorder.elapsed();
    let error = match (awaited, recorder.budget_wait()) {
        (Some(requested), Some(wait)) => wait.error(after, Some(requested)),
        _ => Error::timeout(after, limit, TimeoutPhase::Body, true)
            .with_arrived(Arrived { received, declared }),
    };
    error.with_partial(partial)
}
