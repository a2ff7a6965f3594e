//! The layer for response bodies.

use presized::Reader;
use tower_layer::Layer;

use crate::settings::Settings;
use crate::{Delivery, PresizedService};

/// Reads or bounds the body of each response of a service.
///
/// The body of a response becomes a [`ResponseBody`](crate::ResponseBody). The layer knows the method
/// of each request, so a response to HEAD is empty whatever length it declares. The
/// [crate documentation](crate) says where in a stack the layer goes.
///
/// # Errors
///
/// The service fails only as the inner service does. A body that fails, or that is over the limit,
/// fails with a [`CollectError<BodyError>`](presized::CollectError). An error after the last declared
/// byte fails the body too, because a layer below can verify the whole content: the reader of the
/// layer always has [`checked_at_end`](Reader::checked_at_end) set.
///
/// # Cancel safety
///
/// Dropping a response drops its body and frees what was reserved. The layer has no timeout. A
/// timeout layer around it covers the time until the head of the response only.
///
/// # Examples
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use std::convert::Infallible;
///
/// use bytes::Bytes;
/// use http::{Request, Response};
/// use http_body_util::{BodyExt, Empty, Full};
/// use presized::{BufferPool, Reader};
/// use presized_tower::{PresizedLayer, ResponseLimit};
/// use tower::{ServiceBuilder, ServiceExt, service_fn};
///
/// let pool = BufferPool::new(64 << 20);
/// let client = ServiceBuilder::new()
///     .layer(PresizedLayer::new(Reader::new(6 << 20).pool(&pool)))
///     // A real client goes here.
///     .service(service_fn(async |_: Request<Empty<Bytes>>| {
///         Ok::<_, Infallible>(Response::new(Full::<Bytes>::from("hello")))
///     }));
///
/// let request = Request::get("/").body(Empty::new())?;
/// let response = client.clone().oneshot(request).await?;
/// assert_eq!(response.into_body().collect().await?.to_bytes(), "hello");
///
/// let request = Request::get("/").extension(ResponseLimit(4)).body(Empty::new())?;
/// let response = client.oneshot(request).await?;
/// let error = response.into_body().collect().await.unwrap_err();
/// assert!(error.is_too_large());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
#[must_use = "a layer does nothing until it wraps a service"]
pub struct PresizedLayer {
    settings: Settings,
}

impl PresizedLayer {
    /// Creates a layer. `reader` is the limit of a response body in bytes, inclusive, or a
    /// [`Reader`].
    ///
    /// If a service has several kinds of responses, put a
    /// [`LengthHistory`](presized::LengthHistory) for each kind into the extensions of the requests.
    /// The history of the reader would mix their lengths.
    pub fn new(reader: impl Into<Reader>) -> Self {
        let reader = reader.into().checked_at_end(true);
        Self { settings: Settings { reader, delivery: Delivery::default() } }
    }

    /// Sets how content is delivered if the request does not say it. The default is
    /// [`Delivery::Presized`].
    pub fn delivery(mut self, delivery: Delivery) -> Self {
        self.settings.delivery = delivery;
        self
    }
}

impl<S> Layer<S> for PresizedLayer {
    type Service = PresizedService<S>;

    fn layer(&self, inner: S) -> PresizedService<S> {
        PresizedService::new(inner, self.settings.clone())
    }
}
