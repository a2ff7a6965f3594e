#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]
#![deny(missing_docs, missing_debug_implementations, unreachable_pub)]
//! The core on the response of [reqwest].
//!
//! `use presized_reqwest::ResponseExt as _;` puts two methods on [`Response`]:
//! [`collect_presized`](ResponseExt::collect_presized) gives a [`Collect`], which has all options
//! and forms, and [`into_presized`](ResponseExt::into_presized) a response again.
//!
//! # What the limit counts
//!
//! Bytes that reqwest delivers. With its features `gzip`, `brotli`, `zstd` or `deflate` it decodes
//! what the server has coded, and the limit counts what comes out: a bomb stops there. A decoded
//! response says nothing of its length, since reqwest removes Content-Encoding and
//! Content-Length from its head, so it is read as one of unknown length: a
//! [`LengthHistory`](presized::LengthHistory) helps. Without these features, or after
//! `ClientBuilder::no_gzip` and its like, the coded form is what is delivered and counted, and it is
//! as long as Content-Length says.
//!
//! Beside the content there is the memory of the decoder, which no limit here bounds and whose size
//! the sender chooses: 32 KiB for gzip, up to 128 MiB for zstd (RFC 9659 tells senders to stay within
//! 8 MiB), and for brotli what it calls its window. That is filled before the first byte comes out,
//! and while it grows takes half as much again: 24 MiB at the most that RFC 7932 allows, and 1.5 GiB
//! with the larger windows that the decoder of reqwest takes as well, from an answer of three
//! kilobytes. Leave `brotli` off, or call `ClientBuilder::no_brotli`, where servers are not trusted.
//!
//! # Timeouts
//!
//! Those of reqwest hold while a body is read: `timeout` ends it as a whole, `read_timeout` a silence
//! in it. Both come out as [`CollectError::Body`](presized::CollectError::Body) with a
//! [`reqwest::Error`] for which `is_timeout` is true, and with what had arrived.
//!
//! # Not for browsers
//!
//! On `wasm32-unknown-unknown` the response of reqwest is that of the browser, and has no body that
//! could be read here.

use http::Method;
use reqwest::{Body, Response, ResponseBuilderExt};

use presized::{Collect, Reader};

/// Reads the body of a response of reqwest, by what its head says.
///
/// It is implemented by [`Response`], and by nothing outside of this crate.
pub trait ResponseExt: sealed::Sealed + Sized {
    /// Reads the body, and at most `limit` bytes of it, inclusive.
    ///
    /// It goes on as every [`Collect`] does: [`bytes`](Collect::bytes),
    /// [`text`](Collect::string) and [`json`](Collect::json) are the usual forms. `text` takes
    /// UTF-8 and nothing else; for text in the charset that Content-Type names there is
    /// [`into_presized`](Self::into_presized) and then [`Response::text`].
    ///
    /// No method is asked for, unlike by [`ResponseExt`](presized::ResponseExt) of `http`: the body of
    /// a response to HEAD says itself that it is empty. Over HTTP/2 it does not where the server
    /// ends the response in a frame of its own, and looks like one that is as long as its
    /// Content-Length. Where servers do so, there is the other one:
    /// `http::Response::from(response).collect_presized(&Method::HEAD, limit)`.
    ///
    /// # Errors
    ///
    /// The forms fail with a [`CollectError<reqwest::Error>`](presized::CollectError). The
    /// [`reqwest::Error`] in it is one of the body
    /// ([`is_body`](reqwest::Error::is_body)), and has no URL unless it is given one.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future of a form drops the body, which closes the connection where HTTP/1.1 is
    /// spoken and resets the stream where it is HTTP/2, and frees what was reserved.
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
    /// // For a log that is to have the URL, where nothing in it is secret.
    /// let picture = read.map_err(|error| error.map_body(|error| error.with_url(url)))?;
    /// # Ok(())
    /// # }
    /// ```
    fn collect_presized(self, reader: impl Into<Reader>) -> Collect<Body>;

    /// The same response with a body that yields its whole content as one frame, and at most
    /// `limit` bytes of it, inclusive.
    ///
    /// For whoever takes a [`Response`] and reads it in a way of their own, such as
    /// [`Response::text`] with the charset of the response, and for generated clients. What they
    /// collect is one buffer already. Status, head, URL and extensions are what they were.
    ///
    /// # Errors
    ///
    /// Whatever reads the response fails with a [`reqwest::Error`] that has the
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
    fn collect_presized(self, reader: impl Into<Reader>) -> Collect<Body> {
        let (head, body) = http::Response::<Body>::from(self).into_parts();
        // Of the methods only HEAD and CONNECT make a difference. Of the one the response does not
        // tell, and its body says that it is at its end; reqwest has no way to send the other.
        Collect::of_response(&Method::GET, &head, body, reader)
    }

    fn into_presized(self, reader: impl Into<Reader>) -> Response {
        // Only through this builder can a response be given its URL.
        let with_url = http::Response::builder().url(self.url().clone()).body(());
        let (mut head, body) = http::Response::<Body>::from(self).into_parts();
        if let Ok(with_url) = with_url {
            head.extensions.extend(with_url.into_parts().0.extensions);
        }
        let body = Collect::of_response(&Method::GET, &head, body, reader).into_presized();
        http::Response::from_parts(head, Body::wrap(body)).into()
    }
}

mod sealed {
    // So that a method can be added without breaking anybody.
    pub trait Sealed {}

    impl Sealed for reqwest::Response {}
}
