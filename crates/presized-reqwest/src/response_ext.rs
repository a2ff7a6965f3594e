//! The extension trait of `reqwest::Response`.

use http::Method;
use http::response::Parts;
use presized::{Collect, Reader};
use reqwest::{Body, Response, ResponseBuilderExt};

use crate::ResponseBody;

/// Reads the body of a reqwest response by its head.
///
/// This trait is sealed: only [`Response`] implements it.
///
/// # Memory of the decoders
///
/// The decoder of reqwest reserves memory beside the content, and no limit of this crate bounds it.
/// The sender chooses its size:
///
/// - gzip: 32 KiB.
/// - zstd: up to 128 MiB. RFC 9659 tells senders to stay within 8 MiB.
/// - brotli: its window. The decoder fills the window before the first byte comes out, and takes
///   half as much again while the window grows. That is 24 MiB for the largest window of RFC 7932.
///   The decoder also accepts larger windows, and then takes up to 1.5 GiB.
///
/// # Timeouts
///
/// The timeouts of the reqwest client also apply while a body is read. `timeout` bounds the whole
/// request, and `read_timeout` bounds the time between two reads. Both end the body with
/// [`CollectError::Body`](presized::CollectError::Body). Its source is a [`reqwest::Error`] for
/// which [`is_timeout`](reqwest::Error::is_timeout) is true.
///
/// Both also run while a body waits for a [`MemoryBudget`](presized::MemoryBudget), and the body
/// then fails when the wait is over. [`Collect::until`] ends the wait itself. A
/// [`MinRate`](presized::MinRate) of the reader is an idle timeout or a minimum rate for which the
/// wait does not count.
pub trait ResponseExt: sealed::Sealed + Sized {
    /// Reads the body. `reader` is the limit in bytes, inclusive, or a [`Reader`].
    ///
    /// The result is a [`Collect`]. Its usual forms are [`bytes`](Collect::bytes),
    /// [`text`](Collect::text) and [`json`](Collect::json). `text` accepts UTF-8 only. For the
    /// charset of the Content-Type field, use [`into_presized`](Self::into_presized) and
    /// [`Response::text`].
    ///
    /// # Responses to HEAD
    ///
    /// The result is empty. This method does not ask for the request method, because the body of a
    /// response to HEAD says itself that it has ended.
    ///
    /// Over HTTP/2, some servers end such a response with an empty DATA frame. The result is empty
    /// too, with one exception: a Content-Length over the limit is refused before that frame is
    /// seen, as for GET. To accept any Content-Length, give the method to the trait of the core:
    ///
    /// ```no_run
    /// # async fn run(response: reqwest::Response) -> Result<(), Box<dyn std::error::Error>> {
    /// use presized::ResponseExt as _;
    ///
    /// let response = http::Response::<reqwest::Body>::from(response);
    /// let content = response.collect_presized(&http::Method::HEAD, 0).await?;
    /// assert!(content.is_empty());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// The forms fail with a [`CollectError<reqwest::Error>`](presized::CollectError). For the
    /// [`reqwest::Error`] in it, [`is_body`](reqwest::Error::is_body) is true. It has no URL until
    /// [`with_url`](reqwest::Error::with_url) adds one.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future of a form drops the body and frees what was reserved. Dropping the body
    /// closes an HTTP/1.1 connection and resets an HTTP/2 stream.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// # async fn run(client: reqwest::Client) -> Result<(), Box<dyn std::error::Error>> {
    /// use presized::{BufferPool, Reader};
    /// use presized_reqwest::ResponseExt as _;
    ///
    /// const LIMIT: u64 = 1 << 20; // bytes, inclusive
    ///
    /// let response = client.get("https://api.example.com/prices").send().await?;
    /// let prices: Vec<f64> = response.collect_presized(LIMIT).json().await?;
    ///
    /// let pool = BufferPool::new(64 << 20);
    /// let response = client.get("https://api.example.com/picture").send().await?;
    /// let url = response.url().clone();
    /// let read = response.collect_presized(Reader::new(LIMIT).pool(&pool)).bytes().await;
    /// // Adds the URL for the log. Do this only if nothing in the URL is secret.
    /// let picture = read.map_err(|error| error.map_body(|error| error.with_url(url)))?;
    /// # Ok(())
    /// # }
    /// ```
    fn collect_presized(self, reader: impl Into<Reader>) -> Collect<ResponseBody>;

    /// Replaces the body by one that yields the whole content as one frame. `reader` is the limit
    /// in bytes, inclusive, or a [`Reader`].
    ///
    /// Use it for a consumer that takes a [`Response`] and collects its body itself, such as
    /// [`Response::text`] or a generated client. Status, header fields, URL and extensions stay as
    /// they were.
    ///
    /// # Errors
    ///
    /// The methods of reqwest that read the response fail with a [`reqwest::Error`]. It has the
    /// [`CollectError<reqwest::Error>`](presized::CollectError) among its
    /// [sources](std::error::Error::source).
    ///
    /// # Cancel safety
    ///
    /// Dropping the response, or the future that reads it, drops the body and frees what was
    /// reserved.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
    /// use presized_reqwest::ResponseExt as _;
    ///
    /// let response = reqwest::get("https://example.com/").await?.error_for_status()?;
    /// let page = response.into_presized(1 << 20).text().await?;
    /// # Ok(())
    /// # }
    /// ```
    fn into_presized(self, reader: impl Into<Reader>) -> Response;
}

impl ResponseExt for Response {
    fn collect_presized(self, reader: impl Into<Reader>) -> Collect<ResponseBody> {
        let (head, body) = http::Response::<Body>::from(self).into_parts();
        collect(&head, body, reader)
    }

    fn into_presized(self, reader: impl Into<Reader>) -> Response {
        // Only this builder of reqwest can give a response its URL.
        let with_url = http::Response::builder().url(self.url().clone()).body(());
        let (mut head, body) = http::Response::<Body>::from(self).into_parts();
        if let Ok(with_url) = with_url {
            head.extensions.extend(with_url.into_parts().0.extensions);
        }
        let body = collect(&head, body, reader).into_presized();
        http::Response::from_parts(head, Body::wrap(body)).into()
    }
}

fn collect(head: &Parts, body: Body, reader: impl Into<Reader>) -> Collect<ResponseBody> {
    // Only HEAD and CONNECT make a difference here. The body of a response to HEAD says itself that
    // it is at its end, and reqwest cannot send CONNECT.
    Collect::of_response(&Method::GET, head, ResponseBody::new(head, body), reader)
}

mod sealed {
    // A sealed trait can gain methods without a breaking release.
    pub trait Sealed {}

    impl Sealed for reqwest::Response {}
}
