//! `Limited`, the body that bounds another body without collecting it.

use std::cell::Cell;
use std::pin::pin;
use std::rc::Rc;

use bytes::Bytes;
use http::{Method, Request, Response};
use http_body::{Body, SizeHint};
use http_body_util::{BodyExt, Full};
use presized::{Collect, CollectError, Limited, Reader, RequestExt, ResponseExt};
use presized_support::drive::poll_once;
use presized_support::mock::{Mock, MockError, Step, Unpolled};

use crate::bodies::{ReportsDrop, hello_with_trailers, reset_after, trailers};

type LimitedError = CollectError<MockError>;

async fn next_data<B: Body<Data = Bytes>>(body: &mut Limited<B>) -> Option<Bytes>
where
    B::Error: std::fmt::Debug,
{
    Some(body.frame().await?.unwrap().into_data().unwrap())
}

async fn next_error<B: Body<Data = Bytes, Error = MockError>>(
    body: &mut Limited<B>,
) -> LimitedError {
    body.frame().await.unwrap().unwrap_err()
}

#[tokio::test]
async fn limit_of_a_stream_is_inclusive() {
    let table: &[(u64, &[&str], usize)] = &[
        // limit, frames, frames that pass
        (5, &["hello"], 1),
        (5, &["hel", "lo", ""], 3),
        (5, &["hel", "lo", "!"], 2),
        (5, &["hello!"], 0),
        (0, &[""], 1),
        (0, &["!"], 0),
        (u64::MAX, &["hel", "lo"], 2),
    ];
    for &(limit, frames, passes) in table {
        let mut body = Limited::new(Mock::of(frames), limit);
        for frame in &frames[..passes] {
            assert_eq!(next_data(&mut body).await.unwrap(), *frame, "{limit} {frames:?}");
        }
        if passes < frames.len() {
            let error = next_error(&mut body).await;
            let received = frames[..=passes].concat().len() as u64;
            assert!(
                matches!(error, CollectError::TooLarge { limit: l, received: r, .. } if (l, r) == (limit, received)),
                "{error}"
            );
            assert!(error.partial().is_empty());
        }
        assert!(body.frame().await.is_none(), "{limit} {frames:?}");
    }
}

#[tokio::test]
async fn declared_length_over_limit_of_a_stream_is_refused_before_polling() {
    let mut at_least = SizeHint::new();
    at_least.set_lower(6);
    let unknown = SizeHint::new();
    let streams = [
        Limited::new(Unpolled(SizeHint::with_exact(6)), 5),
        Limited::new(Unpolled(at_least), 5),
        Collect::new(Unpolled(unknown), 5).content_length(6).into_limited(),
        Response::builder()
            .header("content-length", "6")
            .body(Unpolled(unknown))
            .unwrap()
            .collect_presized(&Method::GET, 5)
            .into_limited(),
        Request::builder()
            .header("content-length", "6")
            .body(Unpolled(unknown))
            .unwrap()
            .collect_presized(5)
            .into_limited(),
    ];
    for mut body in streams {
        assert!(!body.is_end_stream());
        let error = next_error(&mut body).await;
        assert!(
            matches!(error, CollectError::DeclaredTooLarge { declared: 6, limit: 5, .. }),
            "{error}"
        );
        assert!(body.is_end_stream());
        assert!(body.frame().await.is_none());
    }
}

#[tokio::test]
async fn declared_length_over_limit_is_ignored_if_the_stream_is_at_its_end() {
    let body = Mock::default().end_stream();
    let mut body = Collect::new(body, 5).content_length(6).into_limited();
    assert!(body.is_end_stream());
    assert!(body.frame().await.is_none());

    // A response to HEAD declares the length of the response to GET.
    let response = Response::builder().header("content-length", "6").body(Mock::default()).unwrap();
    let mut body = response.collect_presized(&Method::HEAD, 5).into_limited();
    assert!(body.frame().await.is_none());
}

#[tokio::test]
async fn error_drops_the_streamed_body_and_ends_the_stream() {
    let table: [(Mock, u64, &str); 3] = [
        (reset_after("hello"), 5, "body failed: 5 bytes received"),
        (Mock::of(["hello", "!"]), 5, "body is over the limit of 5 bytes: 6 bytes received"),
        // An error after the last declared byte is not ignored.
        (reset_after("hello").exact(5), 5, "body failed: 5 of 5 declared bytes received"),
    ];
    for (body, limit, message) in table {
        let hint = body.size_hint();
        let dropped = Rc::new(Cell::new(false));
        let collect = Collect::new(ReportsDrop(dropped.clone(), body), limit);
        let mut body = match hint.exact() {
            Some(length) => collect.content_length(length).into_limited(),
            None => collect.into_limited(),
        };
        assert_eq!(next_data(&mut body).await.unwrap(), "hello");
        assert!(!dropped.get());
        let error = next_error(&mut body).await;
        assert_eq!(error.to_string(), message);
        assert!(dropped.get(), "{message}");
        assert!(body.is_end_stream());
        assert_eq!(body.size_hint().exact(), Some(0));
        assert!(body.frame().await.is_none());
        assert!(body.frame().await.is_none());
    }
}

#[tokio::test]
async fn trailers_pass_a_stream_at_its_limit() {
    let mut body = Limited::new(hello_with_trailers(), 5);
    assert_eq!(next_data(&mut body).await.unwrap(), "hel");
    assert_eq!(next_data(&mut body).await.unwrap(), "lo");
    assert_eq!(body.frame().await.unwrap().unwrap().into_trailers().unwrap(), trailers());
    assert!(body.frame().await.is_none());
    assert!(body.is_end_stream());
}

#[tokio::test]
async fn stream_has_the_size_hint_and_the_end_of_its_body() {
    let mut body = Limited::new(Full::new(Bytes::from("hello")), 5);
    assert_eq!((body.size_hint().exact(), body.is_end_stream()), (Some(5), false));
    assert_eq!(next_data(&mut body).await.unwrap(), "hello");
    assert_eq!((body.size_hint().exact(), body.is_end_stream()), (Some(0), true));

    let body = Limited::new(Mock::default().hint(2, Some(9)), 5);
    assert_eq!((body.size_hint().lower(), body.size_hint().upper()), (2, Some(9)));
}

#[tokio::test]
async fn wrong_length_of_a_stream_is_left_to_the_transport() {
    for declared in [3, 5] {
        let mut body = Collect::new(Mock::of(["hell"]), 5).content_length(declared).into_limited();
        assert_eq!(next_data(&mut body).await.unwrap(), "hell");
        assert!(body.frame().await.is_none());
    }
}

#[test]
fn stream_yields_each_frame_when_it_arrives() {
    let frame = Bytes::from(vec![b'x'; 100_000]);
    let mut body = Limited::new(Mock::new([Step::Data(frame.clone()), Step::Hang]), 200_000);
    let std::task::Poll::Ready(Some(Ok(yielded))) = poll_once(pin!(body.frame())) else {
        panic!("the first frame is ready");
    };
    // The frame is passed on without a copy.
    assert_eq!(yielded.into_data().unwrap().as_ptr(), frame.as_ptr());
    assert!(poll_once(pin!(body.frame())).is_pending());
}

#[test]
fn stream_is_send_and_unpin_and_its_debug_output_shows_no_content() {
    fn stream<T: Send + Sync + Unpin>(_: &T) {}
    let body = Limited::new(Full::new(Bytes::from("secret")), Reader::new(7));
    stream(&body);
    assert_eq!(format!("{body:?}"), "Limited { limit: 7, received: 0, .. }");
}
