//! Panics where nobody looks for them: in what is thrown, and in what is dropped.

use std::convert::Infallible;
use std::future::{Future, poll_fn};
use std::panic::panic_any;
use std::pin::Pin;
use std::task::{Context as TaskContext, Poll};

use bytes::Bytes;
use futures_util::stream;
use presized_lambda_runtime::{Answer, Context, ErrorReport, Handler, raw, streaming};
use serde_json::Value;

use super::{Api, event};

/// Panics when it is dropped, unless that would abort.
struct Grenade;

impl Drop for Grenade {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            panic!("in drop");
        }
    }
}

/// A future that holds something beyond its end.
struct Holding<F> {
    future: F,
    _held: Option<Grenade>,
}

impl<F: Future + Unpin> Future for Holding<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut TaskContext<'_>) -> Poll<F::Output> {
        Pin::new(&mut self.future).poll(cx)
    }
}

/// Runs a function until no event is left.
type Serve = Box<dyn FnOnce(Api) -> Pin<Box<dyn Future<Output = Api>>>>;

/// Serves three bad events and a good one, one after the other or in two loops, and returns what
/// was told of the bad ones.
async fn told(serve: impl Fn() -> Serve) -> Vec<String> {
    let mut told = Vec::new();
    for at_once in [None, Some(2)] {
        let events = ["bad", "bad", "bad", "good"].map(|kind| event(kind, kind));
        let api = Api::start(at_once, events, |_| super::accepted());
        let api = serve()(api).await;
        let (good, bad): (Vec<_>, Vec<_>) =
            api.posted().into_iter().partition(|(path, _)| path.starts_with("good/"));
        assert_eq!(good, super::pairs(&[("good/response", "good")]), "{at_once:?}");
        assert_eq!(bad.len(), 3, "{at_once:?}");
        told.extend(bad.into_iter().map(|(path, body)| {
            assert_eq!(path, "bad/error");
            let body: Value = serde_json::from_str(&body).unwrap();
            body["errorMessage"].as_str().unwrap().to_owned()
        }));
    }
    told
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
async fn panic_whose_payload_panics_is_one_of_its_invocation() {
    let throws = || {
        serving(raw(async |event: Bytes, _: Context| {
            if event == "bad" {
                panic_any(Grenade);
            }
            Ok::<_, Infallible>(event)
        }))
    };
    assert_eq!(told(throws).await, ["the panic has no message"; 6]);
}

/// Answers with the event, and panics then, or before that as well.
struct Holds {
    panics: bool,
}

impl Handler for Holds {
    fn call(
        &self,
        event: Bytes,
        _: Context,
    ) -> impl Future<Output = Result<Answer, ErrorReport>> + Send {
        let is_bad = event == "bad";
        let panics = is_bad && self.panics;
        let future = poll_fn(move |_| {
            assert!(!panics, "in poll");
            Poll::Ready(Ok(event.clone().into()))
        });
        Holding { future, _held: is_bad.then(|| Grenade) }
    }
}

#[tokio::test]
async fn panic_of_what_a_future_holds_is_one_of_its_invocation() {
    // After another panic, that one is told.
    for (panics, expected) in [(false, "in drop"), (true, "in poll")] {
        assert_eq!(told(|| serving(Holds { panics })).await, [expected; 6]);
    }
}

/// What is told by the stream goes into the answer, which has begun.
#[tokio::test]
async fn panic_of_a_stream_that_is_dropped_leaves_the_loop() {
    for at_once in [None, Some(2)] {
        let events = ["bad", "bad", "bad", "good"].map(|kind| event(kind, kind));
        let api = Api::start(at_once, events, |_| super::accepted());
        let handler = streaming(async |event: Bytes, _: Context| {
            let held = (event == "bad").then(|| Grenade);
            let mut pieces = [Ok::<_, ErrorReport>(event)].into_iter();
            Ok::<_, ErrorReport>(stream::poll_fn(move |_| {
                let _ = &held;
                Poll::Ready(pieces.next())
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
        assert_eq!(posted, super::pairs(&expected), "{at_once:?}");
    }
}

/// An owner of the bytes of an answer that panics when they are sent.
#[tokio::test]
async fn panic_of_an_answer_that_is_dropped_leaves_the_loop() {
    struct Owner(Bytes, #[expect(dead_code)] Option<Grenade>);

    impl AsRef<[u8]> for Owner {
        fn as_ref(&self) -> &[u8] {
            &self.0
        }
    }

    for at_once in [None, Some(2)] {
        let events = ["bad", "bad", "bad", "good"].map(|kind| event(kind, kind));
        let api = Api::start(at_once, events, |_| super::accepted());
        let handler = raw(async |event: Bytes, _: Context| {
            let held = (event == "bad").then(|| Grenade);
            Ok::<_, Infallible>(Answer::from(Bytes::from_owner(Owner(event, held))))
        });
        api.run(api.runtime(handler)).await.unwrap();
        let good = ("good/response".to_owned(), "good".to_owned());
        assert_eq!(api.posted().iter().filter(|posted| **posted == good).count(), 1, "{at_once:?}");
    }
}
