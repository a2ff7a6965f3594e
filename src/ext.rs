//! The core on `http::Response`.

use http::{Method, Response};
use http_body::Body;

use crate::{Collect, Presized};

/// Reads the body of a response by what its head says.
///
/// It is implemented by responses, and by nothing outside of this crate.
pub trait ResponseExt: sealed::Sealed + Sized {
    /// The body.
    type Body: Body;

    /// The response with its body [`Presized`].
    type Presized;

    /// Reads the body of a response to a `method` request, and at most `limit` bytes of
    /// it, inclusive.
    ///
    /// The length and whether trailers are announced come from the head, as by
    /// [`Collect::of`]. Everything else is set on the [`Collect`] that is returned.
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
    /// let text = response.collect_presized(&Method::GET, 1024).string().await?;
    /// assert_eq!(text, "hello");
    /// # Ok(())
    /// # }
    /// ```
    fn collect_presized(self, method: &Method, limit: u64) -> Collect<Self::Body>;

    /// The same response with a body that yields its whole content as one frame, for a
    /// consumer that takes a response and collects its body itself.
    ///
    /// Where more is to be set than the limit, [`Collect::of`] and [`Collect::presized`] do
    /// the same step by step.
    ///
    /// # Examples
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use http::{Method, Response};
    /// use http_body_util::{BodyExt, Full};
    /// use presized::{BufferPool, Collect, ResponseExt};
    ///
    /// # let pool = BufferPool::new(64 << 20);
    /// # let response = Response::new(Full::<bytes::Bytes>::from("hello"));
    /// let response = response.into_presized(&Method::GET, 1024);
    /// # assert_eq!(response.into_body().collect().await?.to_bytes(), "hello");
    ///
    /// # let response = Response::new(Full::<bytes::Bytes>::from("hello"));
    /// let (head, body) = response.into_parts();
    /// let body = Collect::of(&Method::GET, &head, body, 1024).pool(&pool).presized();
    /// let response = Response::from_parts(head, body);
    /// # assert_eq!(response.into_body().collect().await?.to_bytes(), "hello");
    /// # Ok(())
    /// # }
    /// ```
    fn into_presized(self, method: &Method, limit: u64) -> Self::Presized;
}

impl<B: Body> ResponseExt for Response<B> {
    type Body = B;
    type Presized = Response<Presized<B>>;

    fn collect_presized(self, method: &Method, limit: u64) -> Collect<B> {
        let (head, body) = self.into_parts();
        Collect::of(method, &head, body, limit)
    }

    fn into_presized(self, method: &Method, limit: u64) -> Response<Presized<B>> {
        let (head, body) = self.into_parts();
        let body = Collect::of(method, &head, body, limit).presized();
        Response::from_parts(head, body)
    }
}

mod sealed {
    // So that a method can be added without breaking anybody.
    pub trait Sealed {}

    impl<B> Sealed for http::Response<B> {}
}
