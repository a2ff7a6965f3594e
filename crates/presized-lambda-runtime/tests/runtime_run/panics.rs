//! Panics of panic payloads, and panics in `drop`.

use std::convert::Infallible;
use std::future::{Future, poll_fn};
use std::panic::panic_any;
use std::pin::Pin;
use std::task::{Context as TaskContext, Poll};

use bytes::Bytes;
use futures_util::stream;
use presized_lambda_runtime::{Context, ErrorReport, FunctionResponse, Handler, raw, streaming};
use serde_json::Value;

use super::{Api, event};

/// Panics when it is dropped, unless that would abort.
struct PanicOnDrop;

impl Drop for PanicOnDrop {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            panic!("in drop");
        }
    }
}

/// A future that holds a value after it is ready.
struct Holding<F> {
    future: F,
    _held: Option<PanicOnDrop>,
}

impl<F: Future + Unpin> Future for Holding<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut TaskContext<'_>) -> Poll<F::Output> {
        Pin::new(&mut self.future).poll(cx)
    }
}

/// Runs a function until no event is left.
type Serve = Box<dyn FnOnce(Api) -> Pin<Box<dyn Future<Output = Api>>>>;

/// Serves three bad events and a good one, in one worker and in two. Returns the messages that were
/// reported for the bad ones.
async fn messages(serve: impl Fn() -> Serve) -> Vec<String> {
    let mut messages = Vec::new();
    for concurrency in [None, Some(2)] {
        let events = ["bad", "bad", "bad", "good"].map(|kind| event(kind, kind));
        let api = Api::start(concurrency, events, |_| super::accepted());
        let api = serve()(api).await;
        let (good, bad): (Vec<_>, Vec<_>) =
            api.posted().into_iter().partition(|(path, _)| path.starts_with("good/"));
        assert_eq!(good, super::pairs(&[("good/response", "good")]), "{concurrency:?}");
        assert_eq!(bad.len(), 3, "{concurrency:?}");
        messages.extend(bad.into_iter().map(|(path, body)| {
            assert_eq!(path, "bad/error");
            let body: Value = serde_json::from_str(&body).unwrap();
            body["errorMessage"].as_str().unwrap().to_owned()
        }));
    }
    messages
}

fn serving<H: Handler>(handler: H) -> Serve {
    Box::new(|api| {
        Box::pin(async {
            api.run(api.runtime(handler)).await.unwrap();
            api
        })
    })
}

#[tokio::test]
async fn panic_whose_payload_panics_fails_its_invocation() {
    let throws = || {
        serving(raw(async |event: Bytes, _: Context| {
            if event == "bad" {
                panic_any(PanicOnDrop);
            }
            Ok::<_, Infallible>(event)
        }))
    };
    assert_eq!(messages(throws).await, ["panic without a message"; 6]);
}

/// A handler whose future panics in `drop`, and before in `poll` if `panics`.
struct PanickingHandler {
    panics: bool,
}

impl Handler for PanickingHandler {
    fn call(
        &self,
        event: Bytes,
        _: Context,
    ) -> impl Future<Output = Result<FunctionResponse, ErrorReport>> + Send {
        let is_bad = event == "bad";
        let panics = is_bad && self.panics;
        let future = poll_fn(move |_| {
            assert!(!panics, "in poll");
            Poll::Ready(Ok(event.clone().into()))
        });
        Holding { future, _held: is_bad.then(|| PanicOnDrop) }
    }
}

#[tokio::test]
async fn panic_of_a_value_in_a_future_fails_its_invocation() {
    // The first panic of the two is reported.
    for (panics, expected) in [(false, "in drop"), (true, "in poll")] {
        assert_eq!(messages(|| serving(PanickingHandler { panics })).await, [expected; 6]);
    }
}

/// The response has begun by then, so that no error is posted.
#[tokio::test]
async fn panic_of_a_stream_in_drop_does_not_end_the_worker() {
    for concurrency in [None, Some(2)] {
        let events = ["bad", "bad", "bad", "good"].map(|kind| event(kind, kind));
        let api = Api::start(concurrency, events, |_| super::accepted());
        let handler = streaming(async |event: Bytes, _: Context| {
            let held = (event == "bad").then(|| PanicOnDrop);
            let mut chunks = [Ok::<_, ErrorReport>(event)].into_iter();
            Ok::<_, ErrorReport>(stream::poll_fn(move |_| {
                let _ = &held;
                Poll::Ready(chunks.next())
            }))
        });
        api.run(api.runtime(handler)).await.unwrap();
        let mut posted = api.posted();
        posted.sort();
        let expected = [
            ("bad/response", "bad"),
            ("bad/response", "bad"),
            ("bad/response", "bad"),
            ("good/response", "good"),
        ];
        assert_eq!(posted, super::pairs(&expected), "{concurrency:?}");
    }
}

/// The owner of the bytes of a response panics after they were sent.
#[tokio::test]
async fn panic_of_a_response_in_drop_does_not_end_the_worker() {
    struct Owner(Bytes, #[expect(dead_code)] Option<PanicOnDrop>);

    impl AsRef<[u8]> for Owner {
        fn as_ref(&self) -> &[u8] {
            &self.0
        }
    }

    for concurrency in [None, Some(2)] {
        let events = ["bad", "bad", "bad", "good"].map(|kind| event(kind, kind));
        let api = Api::start(concurrency, events, |_| super::accepted());
        let handler = raw(async |event: Bytes, _: Context| {
            let held = (event == "bad").then(|| PanicOnDrop);
            Ok::<_, Infallible>(FunctionResponse::from(Bytes::from_owner(Owner(event, held))))
        });
        api.run(api.runtime(handler)).await.unwrap();
        let good = ("good/response".to_owned(), "good".to_owned());
        assert_eq!(
            api.posted().iter().filter(|posted| **posted == good).count(),
            1,
            "{concurrency:?}"
        );
    }
}
