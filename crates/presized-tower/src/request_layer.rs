//! The layer for request bodies.

use presized::Reader;
use tower_layer::Layer;

use crate::{Delivery, PresizedRequestService};

/// Reads or bounds the body of each request to a service.
///
/// The service inside of the layer gets a request whose body is a
/// [`PresizedBody`](crate::PresizedBody). Nothing is read before that service polls the body. The
/// head of the request tells the length.
///
/// # In a server
///
/// The layer goes around the routes. It makes no responses: a handler gets the error of the body,
/// and [`CollectError::status`](presized::CollectError::status) is the status to respond with. A
/// body that is refused by its declared length is not polled, so hyper sends no `100 Continue`.
///
/// With axum, use the extractors of [presized-axum](https://docs.rs/presized-axum) in the handlers.
/// They respond with 413 to a body that is over the limit of this layer too. The extractors of axum
/// itself respond with 400. Set pool, budget and least rate on the reader of the layer, and not on
/// that of the extractors. An extractor would wait for a second share of the same budget, and would
/// see no byte until all have arrived.
///
/// ```
/// use axum::{Router, body::Body, http::StatusCode, routing::put};
/// use presized::collect_presized;
/// use presized_tower::PresizedRequestLayer;
///
/// async fn upload(body: Body) -> Result<String, StatusCode> {
///     let read = collect_presized(body, None, 6 << 20).await;
///     let content = read.map_err(|error| error.status())?;
///     Ok(format!("{} bytes", content.len()))
/// }
///
/// let routes: Router =
///     Router::new().route("/", put(upload)).layer(PresizedRequestLayer::new(6 << 20));
/// ```
///
/// # In a client
///
/// The layer bounds what a client sends, in the same way.
///
/// # With other layers
///
/// Put a layer that decodes requests outside of this one, so that the limit counts decoded bytes.
/// This is the opposite of the order for responses, because a request passes the outermost layer
/// first.
///
/// # Errors
///
/// The service fails only as the inner service does. A body that fails, or that is over the limit,
/// fails with a [`CollectError<BodyError>`](presized::CollectError).
///
/// An error after the last declared byte fails the body too, because a layer outside can verify the
/// whole content. [`checked_at_end`](Reader::checked_at_end) is therefore always set on the reader.
///
/// # Cancel safety
///
/// Dropping a body frees what was reserved. The layer has no timeout. A
/// [`MinRate`](presized::MinRate) on the reader fails a body that is collected and arrives too
/// slowly.
///
/// # Examples
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use bytes::Bytes;
/// use http::{Request, Response, StatusCode};
/// use http_body_util::{BodyExt, Full};
/// use presized::{BufferPool, Reader};
/// use presized_tower::{PresizedBody, PresizedRequestLayer};
/// use tower::{ServiceBuilder, ServiceExt, service_fn};
///
/// let pool = BufferPool::new(64 << 20);
/// let server = ServiceBuilder::new()
///     .layer(PresizedRequestLayer::new(Reader::new(5).pool(&pool)))
///     .service(service_fn(async |request: Request<PresizedBody<Full<Bytes>>>| {
///         match request.into_body().collect().await {
///             Ok(content) => Response::builder().body(Full::new(content.to_bytes())),
///             Err(error) => Response::builder().status(error.status()).body(Full::default()),
///         }
///     }));
///
/// let response = server.clone().oneshot(Request::new(Full::from("hello"))).await?;
/// assert_eq!(response.into_body().collect().await?.to_bytes(), "hello");
///
/// let response = server.oneshot(Request::new(Full::from("hello!"))).await?;
/// assert_eq!(response.status(), StatusCode::PAYLOAD_TOO_LARGE);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
#[must_use = "a layer does nothing until it wraps a service"]
pub struct PresizedRequestLayer {
    reader: Reader,
    delivery: Delivery,
}

impl PresizedRequestLayer {
    /// Creates a layer. `reader` is the limit of a request body in bytes, inclusive, or a
    /// [`Reader`].
    pub fn new(reader: impl Into<Reader>) -> Self {
        let reader = reader.into().checked_at_end(true);
        Self { reader, delivery: Delivery::default() }
    }

    /// Sets how content is delivered. The default is [`Delivery::Presized`].
    pub fn delivery(mut self, delivery: Delivery) -> Self {
        self.delivery = delivery;
        self
    }
}

impl<S> Layer<S> for PresizedRequestLayer {
    type Service = PresizedRequestService<S>;

    fn layer(&self, inner: S) -> PresizedRequestService<S> {
        PresizedRequestService::new(inner, self.reader.clone(), self.delivery)
    }
}
