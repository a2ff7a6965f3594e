//! The tower layer.

use tower_layer::Layer;

use crate::{DecodeService, Decoder};

/// Decodes the responses of a service.
///
/// It sets Accept-Encoding to the codings whose features are on, unless the request has that field
/// or a Range field. A part of a coded form cannot be decoded.
///
/// # Errors
///
/// The service fails only as the inner service does. The head of a response with an unsupported
/// coding stays as it is, and its body fails with
/// [`DecodeError::UnsupportedCoding`](crate::DecodeError::UnsupportedCoding).
///
/// # Examples
///
/// Put the layer of presized-tower outside, so that its limit counts decoded bytes. Here the body
/// is read with presized:
///
/// ```no_run
/// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
/// use bytes::Bytes;
/// use http::{Method, Request};
/// use http_body_util::Empty;
/// use hyper_util::{client::legacy::Client, rt::TokioExecutor};
/// use presized::ResponseExt as _;
/// use presized_decode::DecodeLayer;
/// use tower::{ServiceBuilder, ServiceExt};
///
/// let transport = Client::builder(TokioExecutor::new()).build_http();
/// let client = ServiceBuilder::new().layer(DecodeLayer::new()).service(transport);
///
/// let request = Request::get("http://localhost:8080/").body(Empty::<Bytes>::new())?;
/// let response = client.oneshot(request).await?;
/// let content = response.collect_presized(&Method::GET, 1 << 20).await?; // at most 1 MiB
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default)]
#[must_use = "a layer does nothing until it wraps a service"]
pub struct DecodeLayer {
    decoder: Decoder,
}

impl DecodeLayer {
    /// Creates a layer with the default settings.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets how bodies are decoded.
    pub fn decoder(mut self, decoder: Decoder) -> Self {
        self.decoder = decoder;
        self
    }
}

impl<S> Layer<S> for DecodeLayer {
    type Service = DecodeService<S>;

    fn layer(&self, inner: S) -> DecodeService<S> {
        DecodeService::new(inner, self.decoder)
    }
}
