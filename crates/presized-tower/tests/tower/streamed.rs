//! Tests of streamed bodies.

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
use presized_tower::{Delivery, PresizedBody, PresizedLayer, ResponseLimit};
use tower::{ServiceBuilder, ServiceExt, service_fn};

use crate::{get, once, trailers};

/// A body whose data is not `Bytes`. It counts how many of these bodies are alive.
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

async fn body_of(limit: u64, response: Response<Mock>) -> PresizedBody<Mock> {
    let service = ServiceBuilder::new().layer(streamed(limit)).service(once(response));
    service.oneshot(get().body(Empty::new()).unwrap()).await.unwrap().into_body()
}

#[tokio::test]
async fn streamed_frames_are_unchanged() {
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

/// An event stream has no end, so no frame may be held back until the end.
#[test]
fn streamed_frames_arrive_before_the_end_of_the_body() {
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
async fn frame_over_limit_fails_and_ends_the_body() {
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
    // The inner body is dropped at once, which ends the connection or the stream.
    assert_eq!(alive.load(Relaxed), 0);
    assert!(body.is_end_stream());
    assert_eq!(error.into_partial(), "");
    assert!(body.frame().await.is_none());
}

#[tokio::test]
async fn size_hint_of_streamed_body_is_unchanged_and_refused_over_limit() {
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
async fn content_length_of_coded_form_over_limit_is_not_refused() {
    let response = Response::builder()
        .header("content-encoding", "gzip")
        .header("content-length", "6")
        .body(Mock::of(["hello"]))
        .unwrap();
    assert_eq!(body_of(5, response).await.collect().await.unwrap().to_bytes(), "hello");
}

#[tokio::test]
async fn default_body_is_empty() {
    let body = PresizedBody::<Mock>::default();
    assert_eq!(body.collect().await.unwrap().to_bytes(), "");
    assert_eq!(PresizedBody::<Empty<Bytes>>::default().size_hint().exact(), Some(0));
}
