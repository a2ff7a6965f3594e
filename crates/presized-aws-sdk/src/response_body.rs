//! The body that the SDK gets in place of the body of the transport.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use aws_smithy_types::body::SdkBody;
use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use presized::{CollectError, Presized};

use crate::Error;
use crate::final_error::FinalError;

/// A presized body that ends empty at a [`FinalError`].
pub(crate) struct ResponseBody {
    body: Presized<SdkBody>,
    final_error: FinalError,
}

impl ResponseBody {
    pub(crate) fn new(body: Presized<SdkBody>, final_error: &FinalError) -> Self {
        Self { body, final_error: final_error.clone() }
    }
}

impl Body for ResponseBody {
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
                if is_retryable(&error) {
                    Some(Err(error))
                } else {
                    self.final_error.set(error);
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

/// Returns whether another attempt can succeed, because the transfer failed and not the content.
///
/// A body that ends early counts as a failed transfer, as in the length check of the SDK, which
/// covers GET only.
fn is_retryable(error: &Error) -> bool {
    matches!(
        error,
        CollectError::Body { .. } | CollectError::Incomplete { .. } | CollectError::TooSlow { .. }
    )
}
