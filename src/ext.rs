//! Extension traits of `http::Response` and `http::Request`.

use http::{Method, Request, Response};
use http_body::Body;

use crate::{Collect, Presized, Reader};

/// Reads the body of a response, and takes its length from the head.
///
/// This trait is sealed: only `http::Response` implements it.
pub trait ResponseExt: sealed::Sealed + Sized {
    /// The body.
    type Body: Body;

    /// The response with its body [`Presized`].
    type Presized;

    /// Reads the body of a response to a `method` request. `reader` is the limit in bytes,
    /// inclusive, or a [`Reader`].
    ///
    /// The head tells the length and whether trailers follow, as in [`Collect::of_response`].
    ///
    /// # With hyper
    ///
    /// hyper does not decompress: with a Content-Encoding, the limit counts compressed bytes. hyper
    /// itself checks the Content-Length. A shorter body fails with
    /// [`CollectError::Body`](crate::CollectError::Body). The error has the bytes that had arrived.
    ///
    /// Use [`HTTP1_MAX_BUF_SIZE`](crate::HTTP1_MAX_BUF_SIZE) as the size of the read buffer of a
    /// connection. This saves page faults.
    ///
    /// # Examples
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use http::{Method, Response};
    /// use http_body_util::Full;
    /// use presized::ResponseExt;
    ///
    /// let response = Response::new(Full::<bytes::Bytes>::from("hello"));
    /// let text = response.collect_presized(&Method::GET, 1024).text().await?;
    /// assert_eq!(text, "hello");
    /// # Ok(())
    /// # }
    /// ```
    fn collect_presized(self, method: &Method, reader: impl Into<Reader>) -> Collect<Self::Body>;

    /// Replaces the body by one that yields the whole content as one frame, for a consumer that
    /// takes a response and collects its body itself.
    ///
    /// # Examples
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use http::{Method, Response};
    /// use http_body_util::{BodyExt, Full};
    /// use presized::{BufferPool, Reader, ResponseExt};
    ///
    /// let reader = Reader::new(1024).pool(&BufferPool::new(64 << 20));
    /// let response = Response::new(Full::<bytes::Bytes>::from("hello"));
    /// let response = response.into_presized(&Method::GET, reader);
    /// assert_eq!(response.into_body().collect().await?.to_bytes(), "hello");
    /// # Ok(())
    /// # }
    /// ```
    fn into_presized(self, method: &Method, reader: impl Into<Reader>) -> Self::Presized;
}

impl<B: Body> ResponseExt for Response<B> {
    type Body = B;
    type Presized = Response<Presized<B>>;

    fn collect_presized(self, method: &Method, reader: impl Into<Reader>) -> Collect<B> {
        let (head, body) = self.into_parts();
        Collect::of_response(method, &head, body, reader)
    }

    fn into_presized(self, method: &Method, reader: impl Into<Reader>) -> Self::Presized {
        let (head, body) = self.into_parts();
        let body = Collect::of_response(method, &head, body, reader).into_presized();
        Response::from_parts(head, body)
    }
}

/// Reads the body of a request, and takes its length from the head.
///
/// This trait is sealed: only `http::Request` implements it.
pub trait RequestExt: sealed::Sealed + Sized {
    /// The body.
    type Body: Body;

    /// The request with its body [`Presized`].
    type Presized;

    /// Reads the body of a request. `reader` is the limit in bytes, inclusive, or a [`Reader`].
    ///
    /// The head tells the length and whether trailers follow, as in [`Collect::of_request`]. A
    /// declared length over the limit is refused before the body is polled.
    /// [`CollectError::status`](crate::CollectError::status) is the status of the response.
    ///
    /// # With hyper
    ///
    /// hyper sends `100 Continue` at the first poll. A client that waits for `100 Continue`
    /// therefore never sends the content of a refused request.
    ///
    /// A read that fails drops the body, and hyper then closes the connection after the response. A
    /// client that is still sending can lose the response. To read on, keep the body:
    /// `Collect::of_request(&head, &mut body, reader)`. The extractors of the crate presized-axum
    /// do this.
    ///
    /// # Examples
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use http::{Request, StatusCode};
    /// use http_body_util::Full;
    /// use presized::RequestExt;
    ///
    /// let request = Request::new(Full::<bytes::Bytes>::from("hello"));
    /// assert_eq!(request.collect_presized(1024).await?, "hello");
    ///
    /// let request = Request::new(Full::<bytes::Bytes>::from("hello"));
    /// let error = request.collect_presized(4).await.unwrap_err();
    /// assert_eq!(error.status(), StatusCode::PAYLOAD_TOO_LARGE);
    /// # Ok(())
    /// # }
    /// ```
    fn collect_presized(self, reader: impl Into<Reader>) -> Collect<Self::Body>;

    /// Replaces the body by one that yields the whole content as one frame, for a handler that
    /// takes a request and collects its body itself.
    fn into_presized(self, reader: impl Into<Reader>) -> Self::Presized;
}

impl<B: Body> RequestExt for Request<B> {
    type Body = B;
    type Presized = Request<Presized<B>>;

    fn collect_presized(self, reader: impl Into<Reader>) -> Collect<B> {
        let (head, body) = self.into_parts();
        Collect::of_request(&head, body, reader)
    }

    fn into_presized(self, reader: impl Into<Reader>) -> Self::Presized {
        let (head, body) = self.into_parts();
        let body = Collect::of_request(&head, body, reader).into_presized();
        Request::from_parts(head, body)
    }
}

mod sealed {
    // A sealed trait can gain methods without a breaking release.
    pub trait Sealed {}

    impl<B> Sealed for http::Response<B> {}
    impl<B> Sealed for http::Request<B> {}
}
