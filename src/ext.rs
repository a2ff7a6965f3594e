//! The core on `http::Response`.

use http::header::TRAILER;
use http::{Method, Response};
use http_body::Body;

use crate::{Collect, ContentLength, Presized};

/// Reads the body of a response by what its head says.
pub trait ResponseExt: Sized {
    /// The body.
    type Body: Body;

    /// The response with another body.
    type With<B>;

    /// Reads the body of a response to a `method` request, and at most `limit` bytes of
    /// it, inclusive.
    ///
    /// The length comes from the head by [`ContentLength::of`], and so does whether
    /// trailers are announced. Everything else is set on the [`Collect`] that is returned.
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

    /// The same response with a body that yields its whole content as one frame: for
    /// whoever takes a response, and collects its body himself.
    fn into_presized(self, method: &Method, limit: u64) -> Self::With<Presized<Self::Body>>;
}

impl<B: Body> ResponseExt for Response<B> {
    type Body = B;
    type With<T> = Response<T>;

    fn collect_presized(self, method: &Method, limit: u64) -> Collect<B> {
        let (head, body) = self.into_parts();
        collect(method, &head, body, limit)
    }

    fn into_presized(self, method: &Method, limit: u64) -> Response<Presized<B>> {
        let (head, body) = self.into_parts();
        let body = collect(method, &head, body, limit).presized();
        Response::from_parts(head, body)
    }
}

fn collect<B: Body>(
    method: &Method,
    head: &http::response::Parts,
    body: B,
    limit: u64,
) -> Collect<B> {
    Collect::new(body, limit)
        .content_length(ContentLength::of(method, head))
        .trailers_announced(head.headers.contains_key(TRAILER))
}
