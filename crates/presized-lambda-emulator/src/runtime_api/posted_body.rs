//! The response or the error report that a runtime posts.

use std::sync::Arc;

use http::HeaderMap;
use http::header::CONTENT_TYPE;
use hyper::body::Incoming;
use presized::{CollectError, Collected};
use presized_lambda_runtime::wire::{
    FUNCTION_ERROR_TYPE, INVOCATION_ID, RESPONSE_MAX, RESPONSE_MODE,
};

use super::response_mode::ResponseMode;
use super::{Refusal, stream};
use crate::deployed::{Deployed, InvocationEnd, ResponseGuard, RuntimeSource};
use crate::failure::Failure;
use crate::request_body::discard;

/// A request that posts a response or an error report.
pub(super) struct PostedBody<'a> {
    function: &'a Arc<Deployed>,
    source: RuntimeSource,
    headers: &'a HeaderMap,
    body: Incoming,
}

impl<'a> PostedBody<'a> {
    pub(super) fn new(
        function: &'a Arc<Deployed>,
        source: RuntimeSource,
        headers: &'a HeaderMap,
        body: Incoming,
    ) -> Self {
        Self { function, source, headers, body }
    }

    pub(super) async fn response(&mut self, id: &str) -> Result<(), Refusal> {
        let guard = self.start_response(id).await?;
        let mode = match ResponseMode::read(self.headers.get(RESPONSE_MODE)) {
            Ok(mode) => mode,
            Err(refusal) => {
                guard.end(InvocationEnd::Failed(Failure::invalid_response_mode())).await?;
                discard(&mut self.body).await;
                return Err(refusal);
            }
        };
        if mode == ResponseMode::Streaming && guard.takes_stream() {
            return stream::forward(guard, &mut self.body).await;
        }
        let (guard, collected) = self.collect(guard).await?;
        let failure = match (mode, &collected.trailers) {
            (ResponseMode::Streaming, Some(trailers)) => Failure::in_trailers(trailers),
            _ => None,
        };
        guard
            .end(match failure {
                Some(failure) => InvocationEnd::Failed(failure),
                None => InvocationEnd::Response {
                    content_type: self.headers.get(CONTENT_TYPE).cloned(),
                    payload: collected.content,
                },
            })
            .await
    }

    pub(super) async fn error(&mut self, id: &str) -> Result<(), Refusal> {
        let guard = self.start_response(id).await?;
        let (guard, report) = self.collect(guard).await?;
        guard.end(InvocationEnd::Failed(self.failure(report))).await
    }

    pub(super) async fn init_error(&mut self) -> Result<(), Refusal> {
        let report = match self.read().await {
            Ok(report) => report,
            Err(error) if error.is_too_large() => {
                discard(&mut self.body).await;
                return Err(Refusal::RequestEntityTooLarge { limit: RESPONSE_MAX });
            }
            Err(_) => return Err(Refusal::TruncatedRequest),
        };
        self.function.init_failed(self.source, self.failure(report))
    }

    /// Starts the response to an invocation, or discards its body.
    async fn start_response(&mut self, id: &str) -> Result<ResponseGuard, Refusal> {
        let guard =
            ResponseGuard::start(self.function, self.source, id, self.headers.get(INVOCATION_ID));
        if guard.is_err() {
            discard(&mut self.body).await;
        }
        guard
    }

    /// Collects the body, or fails the invocation.
    async fn collect(
        &mut self,
        guard: ResponseGuard,
    ) -> Result<(ResponseGuard, Collected), Refusal> {
        match self.read().await {
            Ok(collected) => Ok((guard, collected)),
            Err(error) if error.is_too_large() => {
                guard.end(InvocationEnd::Failed(Failure::too_large(RESPONSE_MAX))).await?;
                discard(&mut self.body).await;
                Err(Refusal::RequestEntityTooLarge { limit: RESPONSE_MAX })
            }
            Err(_) => {
                guard.end(InvocationEnd::Failed(Failure::truncated())).await?;
                Err(Refusal::TruncatedRequest)
            }
        }
    }

    async fn read(&mut self) -> Result<Collected, CollectError<hyper::Error>> {
        self.function.response_reader(RESPONSE_MAX).collect(&mut self.body).collected().await
    }

    fn failure(&self, report: Collected) -> Failure {
        Failure::reported(self.headers.get(FUNCTION_ERROR_TYPE), report.content)
    }
}
