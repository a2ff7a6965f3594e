#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]
#![deny(missing_docs, missing_debug_implementations, unreachable_pub)]
//! A [`tower`](https://docs.rs/tower) layer that reads response bodies, or bounds them, for every
//! client or server made of `Service<Request<_>, Response = Response<_>>`.
//!
//! [`PresizedLayer`] makes each response body a [`ResponseBody`]. By default that is
//! [`Presized`](presized::Presized): the content comes as one frame, read within a limit and with one
//! allocation, and whatever collects it (axum, tonic, a generated client) copies nothing. With
//! [`Delivery::Streamed`] the frames come as they are, and the limit is all that is added.
//!
//! It knows the method of each request, so that a response to HEAD is empty whatever it declares.
//!
//! # For one request
//!
//! What is in the [extensions](http::Extensions) of a request overrides the layer: a
//! [`ResponseLimit`], a [`Delivery`], a [`LengthHistory`] for responses of its kind. A body that
//! has no end, or that is wanted piece by piece, has to opt out so: an event stream, a long poll, a
//! gRPC call with a streaming response.
//!
//! ```
//! use http::Request;
//! use presized_tower::{Delivery, ResponseLimit};
//!
//! let request = Request::get("https://example.com/events")
//!     .extension(Delivery::Streamed)
//!     .extension(ResponseLimit::NONE)
//!     .body(())?;
//! # Ok::<_, http::Error>(())
//! ```
//!
//! A layer that makes the request anew loses its extensions, as tower-http's `FollowRedirect` does
//! with each redirect. It goes inside of this one, which has seen the request by then.
//!
//! The head of the response opts out of nothing, whatever its Content-Type says: it is the word of
//! the peer, whom the limit is there for.
//!
//! # With a layer that decodes
//!
//! In a [`ServiceBuilder`](https://docs.rs/tower/0.5/tower/struct.ServiceBuilder.html) the first
//! layer is the outermost. Beside `DecompressionLayer` of tower-http:
//!
//! | order | the limit counts | its body | the length |
//! | --- | --- | --- | --- |
//! | `.layer(presized).layer(decompression)` | decoded bytes: a bomb stops at it | one buffer | unknown, since the decoder removes it from the head |
//! | `.layer(decompression).layer(presized)` | coded bytes: a bomb does not stop | as many frames as the decoder makes | declared |
//!
//! The first is what most want. The memory of the decoder itself is in no limit: see
//! [`presized_reqwest`](https://docs.rs/presized/latest/presized/reqwest/index.html), which has the
//! figures of the same decoders.
//!
//! # In a server
//!
//! The layer does the same to the responses of a server, and the head of a response is sent before
//! its body is read: a body that fails breaks the message off, and its status stays what it was.
//!
//! # In gRPC
//!
//! With tonic it goes around the `Channel`. Trailers, and the `grpc-status` in them, come after the
//! content, and a [`Status`](https://docs.rs/tonic/latest/tonic/struct.Status.html) in which the body
//! fails is found by tonic. The limit counts the five bytes before each message. A response that is
//! streamed has to opt out, or else comes when it has ended.
//!
//! # Examples
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use std::convert::Infallible;
//!
//! use bytes::Bytes;
//! use http::{Request, Response};
//! use http_body_util::{BodyExt, Empty, Full};
//! use presized::{BufferPool, Reader};
//! use presized_tower::{PresizedLayer, ResponseLimit};
//! use tower::{ServiceBuilder, ServiceExt, service_fn};
//!
//! let pool = BufferPool::new(64 << 20);
//! let client = ServiceBuilder::new()
//!     .layer(PresizedLayer::new(Reader::new(6 << 20).pool(&pool)))
//!     // In its place the client of hyper-util, say.
//!     .service(service_fn(async |_: Request<Empty<Bytes>>| {
//!         Ok::<_, Infallible>(Response::new(Full::<Bytes>::from("hello")))
//!     }));
//!
//! let request = Request::get("/").body(Empty::new())?;
//! let response = client.clone().oneshot(request).await?;
//! assert_eq!(response.into_body().collect().await?.to_bytes(), "hello");
//!
//! let request = Request::get("/").extension(ResponseLimit(4)).body(Empty::new())?;
//! let response = client.oneshot(request).await?;
//! let error = response.into_body().collect().await.unwrap_err();
//! assert!(error.is_too_large());
//! # Ok(())
//! # }
//! ```

mod body;
mod future;
mod service;

use http::Extensions;
use tower_layer::Layer;

pub use self::body::ResponseBody;
pub use self::future::ResponseFuture;
pub use self::service::PresizedService;
use presized::{LengthHistory, Reader};

/// Gives every response of a service a [`ResponseBody`].
///
/// The settings are those of [`Collect`](presized::Collect), and are the defaults for requests that have none in their
/// extensions. See the [module](self) for where in a stack it goes.
///
/// # Errors
///
/// The service fails as the one inside does, and in no other way. A body that cannot be read, or is
/// over the limit, is an error of the body: a [`CollectError<BodyError>`](presized::CollectError).
/// A body that fails after its last declared byte has failed, whether content is
/// [presized](Delivery::Presized) or [streamed](Delivery::Streamed): below the layer there can be
/// a check of the whole.
///
/// # Cancel safety
///
/// Dropping a response drops its body and frees what was reserved. There is no timeout in it, and
/// one around the service ends with the head of the response.
#[derive(Clone, Debug)]
pub struct PresizedLayer {
    settings: Settings,
}

/// How the content of a response comes. In the extensions of a request it overrides the layer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Delivery {
    /// As one frame, when it is there as a whole.
    #[default]
    Presized,
    /// In the frames in which it arrives, with nothing kept of it. Content over the limit fails
    /// without the frame that goes over it. What is not collected takes nothing from pool and
    /// budget, and a wrong length is left to the transport.
    Streamed,
}

/// Most bytes of content that the response to a request may have, inclusive. In the extensions of
/// the request it overrides the limit of the layer, whether it is lower or higher. Nothing but
/// this type is looked for there: a number by itself does nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResponseLimit(pub u64);

impl ResponseLimit {
    /// No limit, for content that has no end and is [`Delivery::Streamed`]. A response that is not
    /// is read into memory for as long as there is some.
    pub const NONE: Self = Self(u64::MAX);
}

#[derive(Clone, Debug)]
struct Settings {
    reader: Reader,
    delivery: Delivery,
}

impl PresizedLayer {
    /// Reads the body of each response as `reader` says: the limit in bytes, inclusive, or a
    /// [`Reader`].
    ///
    /// Requests to a service with several kinds of responses should each bring their own
    /// [`LengthHistory`] in their extensions, instead of sharing the history of the reader.
    pub fn new(reader: impl Into<Reader>) -> Self {
        // The stack below can verify the body and report a failure after the last byte.
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

impl Settings {
    /// Returns the settings for a request with these extensions.
    fn of(&self, extensions: &Extensions) -> Self {
        let Self { mut reader, mut delivery } = self.clone();
        if let Some(&ResponseLimit(limit)) = extensions.get() {
            reader = reader.limit(limit);
        }
        if let Some(requested) = extensions.get() {
            delivery = *requested;
        }
        if let Some(history) = extensions.get::<LengthHistory>() {
            reader = reader.history(history);
        }
        Self { reader, delivery }
    }
}
