//! The body of a response, which says that it has ended if the request was HEAD.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::Version;
use http::response::Parts;
use http_body::{Body, Frame, SizeHint};

/// The body of a reqwest response.
///
/// It yields the frames of the [`reqwest::Body`] as they arrive.
/// [`ResponseExt::collect_presized`](crate::ResponseExt::collect_presized) makes it.
#[must_use = "bodies do nothing unless polled"]
pub struct ResponseBody {
    body: reqwest::Body,
    stage: Stage,
}

/// How much of an end in an empty frame has been seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// No frame has arrived, and the body may be the one of a response to HEAD.
    First,
    /// One empty frame has arrived just now and was not yielded.
    Empty,
    /// The body has ended after one empty frame.
    Ended,
    /// The frames are yielded as they arrive.
    Other,
}

impl ResponseBody {
    /// `head` is the head of the response that has this body.
    pub(crate) fn new(head: &Parts, body: reqwest::Body) -> Self {
        // Over HTTP/1.1, hyper knows that a response to HEAD has no content. Over HTTP/2, its body
        // has the declared length until the stream ends.
        let declares = body.size_hint().exact().is_some_and(|length| length > 0);
        let may_be_head = head.version == Version::HTTP_2 && declares;
        Self { body, stage: if may_be_head { Stage::First } else { Stage::Other } }
    }
}

impl Body for ResponseBody {
    type Data = Bytes;
    type Error = reqwest::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, reqwest::Error>>> {
        loop {
            if self.stage == Stage::Ended {
                return Poll::Ready(None);
            }
            let Poll::Ready(next) = Pin::new(&mut self.body).poll_frame(cx) else {
                if self.stage == Stage::Empty {
                    // The empty frame did not end the stream, or its end would be there.
                    self.stage = Stage::Other;
                }
                return Poll::Pending;
            };
            let is_empty = match &next {
                Some(Ok(frame)) => frame.data_ref().is_some_and(Bytes::is_empty),
                _ => false,
            };
            self.stage = match self.stage {
                Stage::First if is_empty => {
                    self.stage = Stage::Empty;
                    continue;
                }
                Stage::Empty if next.is_none() => {
                    // A body of this length that ends here would be an error of h2. So the request
                    // was HEAD. The decoders of reqwest hide `is_end_stream`, which would say it.
                    self.stage = Stage::Ended;
                    return Poll::Ready(Some(Ok(Frame::data(Bytes::new()))));
                }
                _ => Stage::Other,
            };
            return Poll::Ready(next);
        }
    }

    fn is_end_stream(&self) -> bool {
        self.stage == Stage::Ended || self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl fmt::Debug for ResponseBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResponseBody").finish_non_exhaustive()
    }
}
