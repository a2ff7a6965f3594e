//! The extension trait of messages.

use http::{Request, Response};
use http_body::Body;

use crate::{Decode, DecodeError, Decoder};

/// Decodes the body of a message, with the default settings.
///
/// This trait is sealed: `http::Response` and `http::Request` implement it. [`Decoder`] has the
/// same with other settings.
pub trait DecodeExt: sealed::Sealed + Sized {
    /// The message with its body decoded.
    type Decoded;

    /// Decodes the body by the Content-Encoding of the message, and removes Content-Encoding and
    /// Content-Length, as [`Decoder::response`] and [`Decoder::request`] do.
    ///
    /// # Errors
    ///
    /// [`DecodeError::UnsupportedCoding`] or [`DecodeError::TooManyCodings`]. What is wrong with
    /// the body is an error of the body.
    ///
    /// # Examples
    ///
    /// A response of hyper, read into memory. The limit counts decoded bytes:
    ///
    /// ```
    /// use bytes::Bytes;
    /// use http::{Method, Response};
    /// use hyper::body::Incoming;
    /// use presized::{CollectError, ResponseExt as _};
    /// use presized_decode::{DecodeError, DecodeExt as _};
    ///
    /// # #[allow(dead_code)]
    /// async fn read(response: Response<Incoming>) -> Result<Bytes, Box<dyn std::error::Error>> {
    ///     Ok(response.decode()?.collect_presized(&Method::GET, 1 << 20).await?) // at most 1 MiB
    /// }
    /// ```
    fn decode(self) -> Result<Self::Decoded, DecodeError>;
}

impl<B: Body> DecodeExt for Response<B> {
    type Decoded = Response<Decode<B>>;

    fn decode(self) -> Result<Self::Decoded, DecodeError> {
        Decoder::new().response(self)
    }
}

impl<B: Body> DecodeExt for Request<B> {
    type Decoded = Request<Decode<B>>;

    fn decode(self) -> Result<Self::Decoded, DecodeError> {
        Decoder::new().request(self)
    }
}

mod sealed {
    // A sealed trait can gain methods without a breaking release.
    pub trait Sealed {}

    impl<B> Sealed for http::Response<B> {}
    impl<B> Sealed for http::Request<B> {}
}
