//! The body that the SDK finds in place of the one that has arrived.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};

use aws_smithy_types::body::SdkBody;
use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};

use super::Error;
use presized::{CollectError, Presized};

/// Why a response is not read to its end, for whoever parses it.
///
/// The SDK tries again whatever a body fails with. An error that is to be final therefore goes
/// around the body.
#[derive(Clone, Debug, Default)]
pub(super) struct Refusal(Arc<Mutex<Option<Error>>>);

impl Refusal {
    pub(super) fn take(&self) -> Option<Error> {
        self.replace(None)
    }

    fn replace(&self, error: Option<Error>) -> Option<Error> {
        // Nothing panics while it is held.
        let mut refused = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::replace(&mut refused, error)
    }
}

/// A presized body that ends, empty, where it is refused.
pub(super) struct Refusable {
    body: Presized<SdkBody>,
    refusal: Refusal,
}

impl Refusable {
    pub(super) fn new(body: Presized<SdkBody>, refusal: &Refusal) -> Self {
        Self { body, refusal: refusal.clone() }
    }
}

impl Body for Refusable {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(cx));
        Poll::Ready(match frame {
            Some(Err(error)) => {
                let error = error.boxed();
                if may_succeed_later(&error) {
                    Some(Err(error))
                } else {
                    self.refusal.replace(Some(error));
                    None
                }
            }
            Some(Ok(frame)) => Some(Ok(frame)),
            None => None,
        })
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// Whether the transfer failed, and not the content: a body that is cut short is such a failure,
/// and the SDK's own check of lengths, which is for GET alone, treats it as one.
fn may_succeed_later(error: &Error) -> bool {
    matches!(error, CollectError::Body { .. } | CollectError::Incomplete { .. })
}
