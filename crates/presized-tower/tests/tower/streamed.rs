//! Bodies that pass, under a limit.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::{collections::VecDeque, io, pin::Pin, task::Context, task::Poll};

use bytes::Bytes;
use http::{Request, Response};
use http_body::{Body, Frame};
use http_body_util::{BodyExt, Empty};
use presized::CollectError;
use presized_support::drive::poll_once;
use presized_support::mock::{Mock, Step};
use presized_tower::{Delivery, PresizedLayer, ResponseBody, ResponseLimit};
use tower::{ServiceBuilder, ServiceExt, service_fn};

use crate::{get, once, trailers};

/// A body of data that is not `Bytes`, which counts how many of its kind are alive.
struct Chunks {
    chunks: VecDeque<&'static [u8]>,
    alive: Arc<AtomicUsize>,
}

impl Body for Chunks {
    type Data = VecDeque<u8>;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<io::Result<Frame<VecDeque<u8>>>>> {
        let chunk = self.chunks.pop_front();
        Poll::Ready(chunk.map(|chunk| Ok(Frame::data(chunk.iter().copied().collect()))))
    }
}

impl Drop for Chunks {
    fn drop(&mut self) {
        self.alive.fetch_sub(1, Relaxed);
    }
}

fn streamed(limit: u64) -> PresizedLayer {
    PresizedLayer::new(limit).delivery(Delivery::Streamed)
}

async fn body_of(limit: u64, response: Response<Mock>) -> ResponseBody<Mock> {
    let service = ServiceBuilder::new().layer(streamed(limit)).service(once(response));
    service.oneshot(get().body(Empty::new()).unwrap()).await.unwrap().into_body()
}

#[tokio::test]
async fn frames_pass_as_they_come() {
    let steps = [
        Step::Data("hel".into()),
        Step::Data("".into()),
        Step::Wait,
        Step::Data("lo".into()),
        Step::Trailers(trailers()),
    ];
    let mut body = body_of(5, Response::new(Mock::new(steps))).await;
    for data in ["hel", "", "lo"] {
        assert_eq!(body.frame().await.unwrap().unwrap().into_data().unwrap(), data);
    }
    assert_eq!(body.frame().await.unwrap().unwrap().into_trailers().unwrap(), trailers());
    assert!(body.frame().await.is_none());
    assert!(body.frame().await.is_none());
}

/// An event stream: nothing is held back until its end, which does not come.
#[test]
fn frames_pass_before_the_end_is_there() {
    let mut body = tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
        let steps = [Step::Data("data: 1\n\n".into()), Step::Hang];
        let request = get().extension(Delivery::Streamed).extension(ResponseLimit::NONE);
        let layer = PresizedLayer::new(0);
        let service =
            ServiceBuilder::new().layer(layer).service(once(Response::new(Mock::new(steps))));
        service.oneshot(request.body(Empty::new()).unwrap()).await.unwrap().into_body()
    });
    let frame = poll_once(std::pin::pin!(body.frame()));
    let Poll::Ready(Some(Ok(frame))) = frame else { panic!("{frame:?}") };
    assert_eq!(frame.into_data().unwrap(), "data: 1\n\n");
    assert!(poll_once(std::pin::pin!(body.frame())).is_pending());
}

#[tokio::test]
async fn frame_that_goes_over_the_limit_is_an_error_and_the_end() {
    let alive = Arc::new(AtomicUsize::new(1));
    let chunks = VecDeque::from([b"hel".as_slice(), b"lo", b"!", b"?"]);
    let body = Chunks { chunks, alive: Arc::clone(&alive) };
    let body = std::sync::Mutex::new(Some(body));
    let service =
        ServiceBuilder::new().layer(streamed(5)).service(service_fn(|_: Request<Empty<Bytes>>| {
            let body = body.lock().unwrap().take().unwrap();
            async { Ok::<_, io::Error>(Response::new(body)) }
        }));
    let response = service.oneshot(get().body(Empty::new()).unwrap()).await.unwrap();
    let mut body = response.into_body();
    for data in ["hel", "lo"] {
        assert_eq!(body.frame().await.unwrap().unwrap().into_data().unwrap(), data);
    }
    assert_eq!(alive.load(Relaxed), 1);
    let error = body.frame().await.unwrap().unwrap_err();
    assert!(matches!(error, CollectError::TooLarge { limit: 5, received: 6, .. }), "{error}");
    // The peer is let go of at once.
    assert_eq!(alive.load(Relaxed), 0);
    assert!(body.is_end_stream());
    assert_eq!(error.into_partial(), "");
    assert!(body.frame().await.is_none());
}

#[tokio::test]
async fn size_of_the_body_passes_too() {
    let body = body_of(5, Response::new(Mock::of(["hello"]).hint(5, Some(5)))).await;
    assert_eq!(body.size_hint().exact(), Some(5));
    assert!(!body.is_end_stream());
    let error = body_of(4, Response::new(Mock::of(["hello"]).hint(5, None))).await.collect().await;
    let error = error.unwrap_err();
    assert!(
        matches!(error, CollectError::DeclaredTooLarge { declared: 5, limit: 4, .. }),
        "{error}"
    );
}

#[tokio::test]
async fn length_of_a_coded_form_refuses_nothing() {
    let response = Response::builder()
        .header("content-encoding", "gzip")
        .header("content-length", "6")
        .body(Mock::of(["hello"]))
        .unwrap();
    assert_eq!(body_of(5, response).await.collect().await.unwrap().to_bytes(), "hello");
}

#[tokio::test]
async fn default_body_is_empty() {
    let body = ResponseBody::<Mock>::default();
    assert_eq!(body.collect().await.unwrap().to_bytes(), "");
    assert_eq!(ResponseBody::<Empty<Bytes>>::default().size_hint().exact(), Some(0));
}
