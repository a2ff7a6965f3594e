//! Tests of the service: readiness, clones, errors, and dropped futures.

use std::future::{Ready, ready};
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{Empty, Full};
use presized_support::drive::poll_once;
use presized_tower::PresizedLayer;
use tower::limit::ConcurrencyLimitLayer;
use tower::{Layer, Service, ServiceBuilder, ServiceExt, service_fn};

/// A service that requires `poll_ready` before every call, as the contract of `Service` says. A clone
/// is not ready.
#[derive(Debug, Default)]
struct Strict {
    is_ready: bool,
    calls: u32,
}

impl Clone for Strict {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl Service<Request<()>> for Strict {
    type Response = Response<Full<Bytes>>;
    type Error = &'static str;
    type Future = Ready<Result<Self::Response, Self::Error>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        if self.calls == 2 {
            return Poll::Ready(Err("worn out"));
        }
        self.is_ready = true;
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<()>) -> Self::Future {
        assert!(std::mem::take(&mut self.is_ready), "called without poll_ready");
        self.calls += 1;
        ready(match request.uri().path() {
            "/refused" => Err("refused"),
            _ => Ok(Response::new(Full::default())),
        })
    }
}

#[tokio::test]
async fn ready_service_is_called_and_not_a_clone() {
    let mut service = PresizedLayer::new(5).layer(Strict::default());
    let request = |path| Request::get(path).body(()).unwrap();
    assert!(service.ready().await.unwrap().call(request("/")).await.is_ok());
    // Errors of a call and of readiness are passed on.
    let refused = service.ready().await.unwrap().call(request("/refused")).await;
    assert_eq!(refused.unwrap_err(), "refused");
    assert_eq!(service.ready().await.unwrap_err(), "worn out");
    assert_eq!((service.get_ref().calls, service.get_mut().calls), (2, 2));
    let mut clone = service.clone();
    assert!(clone.ready().await.unwrap().call(request("/")).await.is_ok());
    assert_eq!(service.into_inner().calls, 2);
}

#[tokio::test]
async fn backpressure_of_inner_service_reaches_the_caller() {
    let service = ServiceBuilder::new()
        .layer(PresizedLayer::new(5))
        .layer(ConcurrencyLimitLayer::new(1))
        .service(service_fn(async |_: Request<()>| {
            Ok::<_, std::io::Error>(Response::new(Empty::<Bytes>::new()))
        }));
    let (mut first, mut second) = (service.clone(), service);
    let call = first.ready().await.unwrap().call(Request::new(()));
    assert!(poll_once(std::pin::pin!(second.ready())).is_pending());
    drop(call);
    assert!(poll_once(std::pin::pin!(second.ready())).is_ready());
}
