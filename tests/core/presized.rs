//! `Presized`, the body that yields the whole content as one frame.

use std::cell::Cell;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{Method, Response};
use http_body::{Body, Frame, SizeHint};
use http_body_util::{BodyExt, Full};
use presized::{Collect, Presized, ResponseExt};
use presized_support::drive::poll_once;
use presized_support::mock::{Mock, MockError};

use crate::bodies::{ReportsDrop, hello_with_trailers, reset_after, trailers};

#[tokio::test]
async fn presized_drops_the_body_before_it_yields() {
    for (body, limit) in [(Mock::of(["hello"]), 5), (Mock::of(["hello"]), 4), (reset_after("x"), 5)]
    {
        let dropped = Rc::new(Cell::new(false));
        let mut body = Presized::new(ReportsDrop(dropped.clone(), body), limit);
        let frame = body.frame().await.unwrap();
        assert!(dropped.get(), "{frame:?}");
    }
}

#[tokio::test]
async fn presized_yields_one_frame_then_the_trailers() {
    let mut body = Presized::new(hello_with_trailers(), 5);
    assert!(!body.is_end_stream());
    let frame = body.frame().await.unwrap().unwrap();
    assert_eq!(frame.into_data().unwrap(), "hello");
    assert!(!body.is_end_stream());
    assert_eq!(body.frame().await.unwrap().unwrap().into_trailers().unwrap(), trailers());
    assert!(body.is_end_stream());
    assert!(body.frame().await.is_none());
    assert!(body.frame().await.is_none());
}

#[tokio::test]
async fn presized_of_an_empty_body_yields_no_frame() {
    let mut body = Presized::new(Mock::default(), 5);
    assert!(body.frame().await.is_none());
    assert!(body.is_end_stream());
    assert!(Presized::new(Full::<Bytes>::default(), 5).is_end_stream());
}

#[tokio::test]
async fn presized_size_hint_is_the_unread_content() {
    let mut body = Presized::new(Mock::of(["hello"]).exact(5), 5);
    assert_eq!(body.size_hint().exact(), Some(5));
    body.frame().await.unwrap().unwrap();
    assert_eq!(body.size_hint().exact(), Some(0));
}

#[tokio::test]
async fn presized_ends_after_an_error() {
    let mut body = Presized::new(Mock::of(["hello", "!"]), 5);
    assert!(body.frame().await.unwrap().unwrap_err().is_too_large());
    assert!(body.frame().await.is_none());
    assert!(body.is_end_stream());
}

#[tokio::test]
async fn presized_response_keeps_its_head() {
    let response = Response::builder()
        .status(201)
        .header("content-length", "5")
        .body(Mock::of(["hello"]))
        .unwrap()
        .into_presized(&Method::GET, 5);
    assert_eq!(response.status(), 201);
    assert_eq!(response.into_body().collect().await.unwrap().to_bytes(), "hello");
}

/// A body whose size hint counts down while it is read, as in hyper.
struct CountsDown(u64);

impl Body for CountsDown {
    type Data = Bytes;
    type Error = MockError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, MockError>>> {
        if self.0 == 0 {
            // `is_end_stream` is true, and the end is not polled yet.
            return Poll::Pending;
        }
        self.0 -= 1;
        Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(b"x")))))
    }

    fn is_end_stream(&self) -> bool {
        self.0 == 0
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.0)
    }
}

#[test]
fn presized_is_not_at_its_end_before_it_yields() {
    let mut body = Presized::new(CountsDown(2), 10);
    assert!(poll_once(pin!(body.frame())).is_pending());
    assert!(!body.is_end_stream());
    assert_eq!(body.size_hint().exact(), Some(2));
}

#[test]
fn presized_ends_after_a_panic() {
    let collect = Collect::new(Mock::of(["abc", "def"]), 10).on_progress(|progress| {
        assert!(progress.received > 3, "a bug in the callback");
        ControlFlow::Continue(())
    });
    let mut body = collect.into_presized();
    let poll = AssertUnwindSafe(|| poll_once(pin!(body.frame())).is_ready());
    assert!(catch_unwind(poll).is_err());
    assert!(body.is_end_stream());
}
