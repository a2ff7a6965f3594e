//! The settings.

use http::header::{CONTENT_ENCODING, CONTENT_LENGTH, TRANSFER_ENCODING};
use http::{HeaderMap, Request, Response};
use http_body::Body;

use crate::{Codings, Decode, DecodeError};

/// Holds the settings with which bodies are decoded.
///
/// # Memory
///
/// All decoders of one body together hold at most [`memory`](Self::memory) bytes. What a decoder
/// needs is computed from the head of the coded content, before anything is allocated:
///
/// | coding | memory of the decoder |
/// | --- | --- |
/// | `gzip`, `deflate` | 48 KiB |
/// | `zstd` | the window, and up to 481 KiB for one coded block, two decoded blocks and tables |
/// | `br` | the window, and tables, which are counted as they are allocated |
///
/// If a body needs more, it fails with [`DecodeError::TooMuchMemory`]. A later frame of zstd is checked in
/// the same way. Beside that memory, a body holds one frame of at most 64 KiB, and 16 KiB between
/// two decoders.
///
/// # Examples
///
/// ```
/// # #[cfg(feature = "zstd")]
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use http_body_util::{BodyExt, Full};
/// use presized_decode::{Coding, DecodeError, Decoder};
///
/// // The head of a frame with a window of 64 MiB.
/// let coded = bytes::Bytes::from_static(&[0x28, 0xb5, 0x2f, 0xfd, 0, 16 << 3]);
/// let body = Decoder::new().body(Coding::Zstd, Full::new(coded));
/// let error = body.collect().await.unwrap_err();
/// assert!(matches!(error, DecodeError::TooMuchMemory { window: 0x400_0000, bound: 0x94_0000, .. }));
/// # Ok(())
/// # }
/// # #[cfg(not(feature = "zstd"))]
/// # fn main() {}
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "settings do nothing until a body is decoded"]
pub struct Decoder {
    memory: u64,
}

impl Decoder {
    /// The default of [`memory`](Self::memory), in bytes: 9.25 MiB.
    ///
    /// It allows the zstd windows that RFC 9659 allows, which are at most 8 MiB. It allows brotli
    /// windows of 8 MiB with 1.25 MiB of tables; a program coded at quality 9 needs 1.09 MiB.
    /// Encoders of brotli use 4 MiB if they are not told otherwise. The program `brotli` uses 8 MiB
    /// for files of 4 to 8 MiB, and 16 MiB for larger ones and for pipes. Allow 18 MiB to decode
    /// those too.
    pub const DEFAULT_MEMORY: u64 = 37 << 18;

    /// Creates the default settings.
    pub fn new() -> Self {
        Self { memory: Self::DEFAULT_MEMORY }
    }

    /// Sets how many bytes all decoders of one body may hold together.
    pub fn memory(mut self, bytes: u64) -> Self {
        self.memory = bytes;
        self
    }

    /// Returns how many bytes all decoders of one body may hold together.
    pub fn get_memory(&self) -> u64 {
        self.memory
    }

    /// Decodes a body with these codings.
    pub fn body<B: Body>(&self, codings: impl Into<Codings>, body: B) -> Decode<B> {
        Decode::coded(*self, &codings.into(), body, None)
    }

    /// Decodes the body of a response, and removes Content-Encoding and Content-Length from its
    /// head.
    ///
    /// Both stay if there is nothing to decode: without a coding, and for a body that is at its end
    /// from the start, as after HEAD.
    ///
    /// All other fields stay. ETag, Content-Range and digests then still describe the coded form. A
    /// response with the status 206 has a part of the coded form, which mostly cannot be decoded.
    ///
    /// # Errors
    ///
    /// As [`Codings::from_headers`]. The response is then lost. [`DecodeLayer`](crate::DecodeLayer)
    /// of the feature `tower` keeps the head.
    pub fn response<B: Body>(
        &self,
        response: Response<B>,
    ) -> Result<Response<Decode<B>>, DecodeError> {
        let (mut head, body) = response.into_parts();
        let codings = codings_to_decode(&head.headers, &body)?;
        let body = self.message(&mut head.headers, codings, body);
        Ok(Response::from_parts(head, body))
    }

    /// Decodes the body of a request, and removes Content-Encoding and Content-Length from its
    /// head, as [`response`](Self::response) does.
    ///
    /// # Errors
    ///
    /// As [`Codings::from_headers`]. [`DecodeError::status`] is then 415.
    ///
    /// # Examples
    ///
    /// ```
    /// use http::{Request, Response};
    /// use http_body_util::Full;
    /// use hyper::body::Incoming;
    /// use presized::RequestExt as _;
    /// use presized_decode::Decoder;
    ///
    /// # #[allow(dead_code)]
    /// async fn echo(request: Request<Incoming>) -> http::Result<Response<Full<bytes::Bytes>>> {
    ///     let request = match Decoder::new().memory(1 << 20).request(request) {
    ///         Ok(request) => request,
    ///         Err(error) => {
    ///             return Response::builder().status(error.status()).body(Full::default());
    ///         }
    ///     };
    ///     match request.collect_presized(1 << 20).await { // at most 1 MiB
    ///         Ok(content) => Response::builder().body(content.into()),
    ///         Err(error) => Response::builder().status(error.status()).body(Full::default()),
    ///     }
    /// }
    /// ```
    pub fn request<B: Body>(&self, request: Request<B>) -> Result<Request<Decode<B>>, DecodeError> {
        let (mut head, body) = request.into_parts();
        let codings = codings_to_decode(&head.headers, &body)?;
        let body = self.message(&mut head.headers, codings, body);
        Ok(Request::from_parts(head, body))
    }

    /// As [`response`](Self::response), but an error of the head becomes one of the body.
    #[cfg(feature = "tower")]
    pub(crate) fn response_or_failed<B: Body>(&self, response: Response<B>) -> Response<Decode<B>> {
        let (mut head, body) = response.into_parts();
        let body = match codings_to_decode(&head.headers, &body) {
            Ok(codings) => self.message(&mut head.headers, codings, body),
            Err(error) => Decode::failed(body, error),
        };
        Response::from_parts(head, body)
    }

    fn message<B: Body>(&self, headers: &mut HeaderMap, codings: Codings, body: B) -> Decode<B> {
        if codings.is_empty() {
            return Decode::identity(body);
        }
        let declared = declared_length(headers);
        headers.remove(CONTENT_ENCODING);
        // It is the length of the coded form.
        headers.remove(CONTENT_LENGTH);
        Decode::coded(*self, &codings, body, declared)
    }
}

impl Default for Decoder {
    fn default() -> Self {
        Self::new()
    }
}

/// Returns the codings of a message. A body that is at its end has none to decode.
fn codings_to_decode(headers: &HeaderMap, body: &impl Body) -> Result<Codings, DecodeError> {
    if body.is_end_stream() { Ok(Codings::default()) } else { Codings::from_headers(headers) }
}

/// Returns the length of the coded form, if one field tells it (RFC 9112 §6.3).
fn declared_length(headers: &HeaderMap) -> Option<u64> {
    if headers.contains_key(TRANSFER_ENCODING) {
        return None;
    }
    let mut fields = headers.get_all(CONTENT_LENGTH).iter();
    let (Some(length), None) = (fields.next(), fields.next()) else { return None };
    let length = length.to_str().ok()?;
    // `parse` would accept a sign.
    length.bytes().all(|byte| byte.is_ascii_digit()).then(|| length.parse().ok())?
}
