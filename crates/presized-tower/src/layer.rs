//! The layer for response bodies.

use presized::Reader;
use tower_layer::Layer;

use crate::settings::Settings;
use crate::{Delivery, PresizedService};

/// Reads or bounds the body of each response of a service.
///
/// The body of a response becomes a [`PresizedBody`](crate::PresizedBody). The layer knows the
/// method of each request, so a response to HEAD is empty whatever length it declares. The [crate
/// documentation](crate) says where to put it in a stack with a layer that decodes.
///
/// # In a client
///
/// The layer goes around the client of hyper-util:
///
/// ```no_run
/// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
/// use bytes::Bytes;
/// use http::Request;
/// use http_body_util::{BodyExt, Empty};
/// use hyper_util::{client::legacy::Client, rt::TokioExecutor};
/// use presized_tower::PresizedLayer;
/// use tower::{ServiceBuilder, ServiceExt};
///
/// let transport = Client::builder(TokioExecutor::new()).build_http();
/// let client = ServiceBuilder::new().layer(PresizedLayer::new(6 << 20)).service(transport);
///
/// let request = Request::get("http://localhost:8080/").body(Empty::<Bytes>::new())?;
/// let response = client.clone().oneshot(request).await?;
/// let content = response.into_body().collect().await?.to_bytes(); // copies nothing
/// # Ok(())
/// # }
/// ```
///
/// # In a server
///
/// The layer reads or bounds the responses of a server in the same way:
///
/// ```
/// use axum::{Router, routing::get};
/// use presized_tower::PresizedLayer;
///
/// let routes: Router =
///     Router::new().route("/", get(async || "hello")).layer(PresizedLayer::new(6 << 20));
/// ```
///
/// A server sends the head of a response before it reads the body. If the body then fails, the
/// message breaks off, and its status stays what it was.
///
/// # With gRPC
///
/// The layer goes around the `Channel` of tonic.
///
/// - Trailers, and the `grpc-status` in them, follow the content.
/// - If the body fails with a
///   [`Status`](https://docs.rs/tonic/latest/tonic/struct.Status.html), tonic finds it among the
///   sources of the error.
/// - The limit also counts the five bytes before each message.
/// - A call with a streaming response needs [`Delivery::Streamed`]. Without it, the messages come
///   when the response has ended.
/// - tonic copies each frame to a buffer of its own. With [`Delivery::Streamed`] this is the only
///   copy, and the limit still applies.
///
/// # With other layers
///
/// A layer that makes a new request loses the extensions of the old one. The `FollowRedirect` of
/// tower-http does so at each redirect. Put such a layer inside of this one, so that this one reads
/// the extensions first.
///
/// No field of a response head changes the limit or the delivery, because the limit protects
/// against the server that wrote this head.
///
/// # Errors
///
/// The service fails only as the inner service does. A body that fails, or that is over the limit,
/// fails with a [`CollectError<BodyError>`](presized::CollectError).
///
/// An error after the last declared byte fails the body too, because a layer below can verify the
/// whole content. [`checked_at_end`](Reader::checked_at_end) is therefore always set on the reader.
///
/// # Cancel safety
///
/// Dropping a response drops its body and frees what was reserved. The layer has no timeout. A
/// timeout layer around it covers the time until the head of the response only. Set a
/// [`MinRate`](presized::MinRate) on the reader for a body that is slow.
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
    /// [`LengthHistory`](presized::LengthHistory) for each kind into the extensions of the
    /// requests. The history of the reader would mix their lengths.
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
