//! Tests of bodies that are one frame, and of the settings in the extensions of a request.

use std::pin::pin;

use http::{Method, Response};
use http_body::Body;
use http_body_util::{BodyExt, Empty};
use presized::{BufferPool, CollectError, LengthHistory, MemoryBudget, Mismatch, Reader};
use presized_support::chain::{chain, messages};
use presized_support::drive::poll_once;
use presized_support::mock::{Mock, MockError, Step};
use presized_tower::{Delivery, PresizedBody, PresizedLayer, ResponseLimit};
use tower::{ServiceBuilder, ServiceExt};

use crate::{get, once, trailers};

/// Returns the body of the response to `request` through `layer`.
async fn body_of(
    layer: PresizedLayer,
    request: http::request::Builder,
    response: Response<Mock>,
) -> PresizedBody<Mock> {
    let service = ServiceBuilder::new().layer(layer).service(once(response));
    service.oneshot(request.body(Empty::new()).unwrap()).await.unwrap().into_body()
}

#[tokio::test]
async fn content_is_one_frame_and_trailers_follow_it() {
    let steps =
        [Step::Data("hel".into()), Step::Wait, Step::Data("lo".into()), Step::Trailers(trailers())];
    let mut body = body_of(PresizedLayer::new(5), get(), Response::new(Mock::new(steps))).await;
    assert_eq!(body.frame().await.unwrap().unwrap().into_data().unwrap(), "hello");
    assert_eq!(body.frame().await.unwrap().unwrap().into_trailers().unwrap(), trailers());
    assert!(body.frame().await.is_none());
}

#[tokio::test]
async fn response_head_is_unchanged() {
    let response = Response::builder()
        .status(404)
        .header("content-length", "5")
        .extension("kept")
        .body(Mock::of(["hello"]))
        .unwrap();
    let service = ServiceBuilder::new().layer(PresizedLayer::new(5)).service(once(response));
    let response = service.oneshot(get().body(Empty::new()).unwrap()).await.unwrap();
    assert_eq!(response.status(), 404);
    assert_eq!(response.headers()["content-length"], "5");
    assert_eq!(response.extensions().get(), Some(&"kept"));
}

#[tokio::test]
async fn limit_is_inclusive_and_request_extension_overrides_it() {
    let table = [
        // Limit of the layer, limit of the request, whether five bytes are accepted.
        (5, None, true),
        (4, None, false),
        (4, Some(5), true),
        (5, Some(4), false),
        (0, Some(u64::MAX), true),
    ];
    for delivery in [Delivery::Presized, Delivery::Streamed] {
        for (layer, request, is_accepted) in table {
            let extension = request.map(ResponseLimit);
            let request =
                extension.into_iter().fold(get(), |request, limit| request.extension(limit));
            let layer = PresizedLayer::new(layer).delivery(delivery);
            let body = body_of(layer, request, Response::new(Mock::of(["hel", "lo"]))).await;
            let read = body.collect().await;
            assert_eq!(read.is_ok(), is_accepted, "{extension:?} {read:?}");
            assert!(read.err().is_none_or(|error| error.is_too_large()));
        }
    }
}

#[tokio::test]
async fn request_extension_overrides_delivery() {
    for (of_layer, of_request, frames) in [
        (Delivery::Presized, None, 1),
        (Delivery::Streamed, None, 2),
        (Delivery::Presized, Some(Delivery::Streamed), 2),
        (Delivery::Streamed, Some(Delivery::Presized), 1),
    ] {
        let request = of_request.into_iter().fold(get(), |request, asked| request.extension(asked));
        let layer = PresizedLayer::new(5).delivery(of_layer);
        let mut body = body_of(layer, request, Response::new(Mock::of(["hel", "lo"]))).await;
        let mut found = 0;
        while let Some(frame) = body.frame().await {
            found += u32::from(frame.unwrap().is_data());
        }
        assert_eq!(found, frames, "{of_layer:?} {of_request:?}");
    }
}

#[tokio::test]
async fn declared_length_over_limit_is_refused_before_polling() {
    for delivery in [Delivery::Presized, Delivery::Streamed] {
        let response = Response::builder()
            .header("content-length", "6")
            .body(Mock::new([Step::Fail("polled")]))
            .unwrap();
        let layer = PresizedLayer::new(5).delivery(delivery);
        let error = body_of(layer, get(), response).await.collect().await.unwrap_err();
        assert!(
            matches!(error, CollectError::DeclaredTooLarge { declared: 6, limit: 5, .. }),
            "{error}"
        );
    }
}

#[tokio::test]
async fn response_to_head_is_empty_whatever_it_declares() {
    for delivery in [Delivery::Presized, Delivery::Streamed] {
        // hyper makes the last one of a response to HEAD over HTTP/2.
        for body in [Mock::new([]), Mock::new([]).exact(0).end_stream(), Mock::new([]).exact(3501)]
        {
            let response = Response::builder().header("content-length", "3501").body(body).unwrap();
            let layer = PresizedLayer::new(5).delivery(delivery);
            let body = body_of(layer, get().method(Method::HEAD), response).await;
            assert_eq!(body.collect().await.unwrap().to_bytes(), "");
        }
    }
}

#[tokio::test]
async fn wrong_content_length_is_handled_by_mismatch_rule() {
    let response = |body| Response::builder().header("content-length", "5").body(body).unwrap();
    let short = body_of(PresizedLayer::new(9), get(), response(Mock::of(["hell"]))).await;
    let error = short.collect().await.unwrap_err();
    assert!(matches!(error, CollectError::Incomplete { declared: 5, received: 4, .. }), "{error}");

    let layer = PresizedLayer::new(Reader::new(9).mismatch(Mismatch::Allow));
    let short = body_of(layer, get(), response(Mock::of(["hell"]))).await;
    assert_eq!(short.collect().await.unwrap().to_bytes(), "hell");

    let layer = PresizedLayer::new(Reader::new(9).mismatch(Mismatch::Reject));
    let long = body_of(layer, get(), response(Mock::of(["hello", "!"]))).await;
    let error = long.collect().await.unwrap_err();
    assert!(matches!(error, CollectError::Longer { declared: 5, received: 6, .. }), "{error}");
}

#[tokio::test]
async fn error_of_inner_body_is_a_source_of_the_error() {
    for delivery in [Delivery::Presized, Delivery::Streamed] {
        let steps = [Step::Data("hel".into()), Step::Fail("cable cut")];
        let response =
            Response::builder().header("content-length", "5").body(Mock::new(steps)).unwrap();
        let layer = PresizedLayer::new(5).delivery(delivery);
        let error = body_of(layer, get(), response).await.collect().await.unwrap_err();
        assert_eq!(
            messages(&error),
            ["body failed: 3 of 5 declared bytes received", "body error", "cable cut"]
        );
        assert!(chain(&error).any(|error| error.is::<MockError>()));
        let CollectError::Body { source, partial, .. } = error else { panic!("{error}") };
        assert_eq!(source.into_inner().downcast_ref(), Some(&MockError("cable cut")));
        // A streamed body has delivered its frames and keeps none.
        assert_eq!(partial.len(), if delivery == Delivery::Presized { 3 } else { 0 });
    }
}

/// A layer below can compare a checksum after the last byte. A message is also incomplete if the
/// transport has not seen its end.
#[tokio::test]
async fn error_after_last_declared_byte_fails_the_body() {
    for delivery in [Delivery::Presized, Delivery::Streamed] {
        for hint in [None, Some(5)] {
            let body = Mock::new([Step::Data("hello".into()), Step::Fail("wrong checksum")]);
            let body = hint.into_iter().fold(body, Mock::exact);
            let response = Response::builder().header("content-length", "5").body(body).unwrap();
            let layer = PresizedLayer::new(5).delivery(delivery);
            let error = body_of(layer, get(), response).await.collect().await.unwrap_err();
            assert!(
                matches!(error, CollectError::Body { declared: Some(5), received: 5, .. }),
                "{delivery:?}: {error}"
            );
            let messages: Vec<_> = chain(&error).map(ToString::to_string).collect();
            assert_eq!(messages.last().unwrap(), "wrong checksum");
        }
    }
}

#[tokio::test]
async fn pool_and_budget_are_shared_by_responses() {
    const LEN: usize = 20_000;
    let (pool, budget) = (BufferPool::new(1 << 20), MemoryBudget::new(1 << 20));
    let layer = PresizedLayer::new(Reader::new(LEN as u64).pool(&pool).budget(&budget));
    let response = || {
        let frames = [[7; LEN / 2]; 2];
        let body = Mock::of(frames).hint(LEN as u64, Some(LEN as u64));
        Response::new(body)
    };
    for _ in 0..2 {
        let content = body_of(layer.clone(), get(), response()).await.collect().await;
        let content = content.unwrap().to_bytes();
        assert_eq!((content.len(), pool.stats().outstanding), (LEN, 1));
        drop(content);
        assert_eq!((pool.stats().outstanding, pool.stats().idle), (0, 1));
    }
    let budget = MemoryBudget::new(LEN as u64 - 1).fail_fast();
    let little = PresizedLayer::new(Reader::new(LEN as u64).pool(&pool).budget(&budget));
    let error = body_of(little, get(), response()).await.collect().await.unwrap_err();
    assert!(matches!(error, CollectError::Budget { .. }), "{error}");
}

#[tokio::test]
async fn dropped_body_releases_buffer_and_budget() {
    let (pool, budget) = (BufferPool::new(1 << 20), MemoryBudget::new(1 << 20));
    let layer = PresizedLayer::new(Reader::new(40_000).pool(&pool).budget(&budget));
    let steps = [Step::Data(vec![7; 20_000].into()), Step::Hang];
    let response = Response::new(Mock::new(steps).exact(40_000));
    let mut body = body_of(layer, get(), response).await;
    assert_eq!((pool.stats().outstanding, budget.in_use()), (0, 0));
    assert!(poll_once(std::pin::pin!(body.frame())).is_pending());
    assert!(budget.in_use() >= 40_000);
    assert_eq!(pool.stats().outstanding, 1);
    // The size hint is unchanged while the body is read.
    assert_eq!((body.size_hint().exact(), body.is_end_stream()), (Some(40_000), false));
    drop(body);
    assert_eq!((pool.stats().outstanding, budget.in_use()), (0, 0));
}

#[tokio::test]
async fn failed_body_is_at_end_of_stream() {
    for delivery in [Delivery::Presized, Delivery::Streamed] {
        for steps in [vec![Step::Fail("cut")], vec![Step::Data("hello!".into())]] {
            let response = Response::new(Mock::new(steps).hint(0, Some(6)));
            let layer = PresizedLayer::new(5).delivery(delivery);
            let mut body = body_of(layer, get(), response).await;
            assert!(!body.is_end_stream());
            assert!(body.frame().await.unwrap().is_err());
            assert_eq!((body.size_hint().exact(), body.is_end_stream()), (Some(0), true));
            assert!(body.frame().await.is_none());
        }
    }
}

#[tokio::test]
async fn history_of_request_overrides_history_of_layer() {
    let (of_layer, of_request) = (LengthHistory::new(), LengthHistory::new());
    let layer = PresizedLayer::new(Reader::new(5).history(&of_layer));
    for request in [get(), get().extension(of_request.clone())] {
        let frames = if request.extensions_ref().is_none_or(|e| e.is_empty()) { 1 } else { 2 };
        let body = Mock::of(std::iter::repeat_n("hi", frames));
        body_of(layer.clone(), request, Response::new(body)).await.collect().await.unwrap();
    }
    assert_eq!((of_layer.expected(), of_request.expected()), (Some(2), Some(4)));
}

#[tokio::test]
async fn eager_bounds_the_first_reservation() {
    const DECLARED: u64 = 1 << 20;
    for (eager, reserved) in [(None, DECLARED), (Some(1000), 1000), (Some(0), 4 * 5)] {
        let budget = MemoryBudget::new(4 * DECLARED);
        let reader = Reader::new(DECLARED).budget(&budget);
        let layer = PresizedLayer::new(eager.into_iter().fold(reader, Reader::eager));
        let steps = [Step::Data("hello".into()), Step::Hang];
        let response = Response::builder().header("content-length", DECLARED);
        let response = response.body(Mock::new(steps)).unwrap();
        let mut body = body_of(layer, get(), response).await;
        assert!(poll_once(pin!(body.frame())).is_pending());
        assert_eq!(budget.in_use(), reserved, "{eager:?}");
    }
}
