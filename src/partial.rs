//! The bytes that a failed read leaves.

use std::fmt;

use bytes::Bytes;

use crate::content::Content;

/// The bytes of a body that had arrived when reading it failed.
///
/// Until it is dropped, it holds its memory. This includes a buffer of a pool and a share of a
/// budget. `Debug` shows the number of bytes, and never the bytes.
#[derive(Default)]
pub struct Partial(
    // Boxed, because every `Result` of a caller has room for the error.
    Option<Box<Content>>,
);

impl Partial {
    pub(crate) const EMPTY: Self = Self(None);

    pub(crate) fn new(content: Content) -> Self {
        Self((content.len() > 0).then(|| Box::new(content)))
    }

    pub(crate) fn from_vec(content: Vec<u8>) -> Self {
        Self::new(Content::from_vec(content))
    }

    #[cfg(feature = "json")]
    pub(crate) fn from_bytes(content: Bytes) -> Self {
        let mut held = Content::default();
        held.hold(content);
        Self::new(held)
    }

    /// Returns the number of bytes.
    pub fn len(&self) -> usize {
        self.0.as_ref().map_or(0, |content| content.len())
    }

    /// Returns whether there are no bytes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the bytes in order, without a copy. No chunk is empty.
    ///
    /// # Examples
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// use http_body_util::Full;
    /// use presized::{ContentLength, Collect};
    ///
    /// let body = http_body_util::StreamBody::new(futures_util::stream::iter([Ok::<_, std::io::Error>(
    ///     http_body::Frame::data(bytes::Bytes::from("hello")),
    /// )]));
    /// let error = Collect::new(body, 1024).content_length(9).await.unwrap_err();
    /// let chunks: Vec<&[u8]> = error.partial().chunks().collect();
    /// assert_eq!(chunks.concat(), b"hello");
    /// # }
    /// ```
    pub fn chunks(&self) -> impl Iterator<Item = &[u8]> {
        self.0.iter().flat_map(|content| content.chunks())
    }

    /// Returns the bytes in one buffer of their length.
    ///
    /// If there is no memory to trim a larger buffer, the bytes keep that buffer. They count in the
    /// budget of the read until their last clone is dropped.
    pub fn into_bytes(self) -> Bytes {
        let Some(mut content) = self.0 else { return Bytes::new() };
        if content.has_slack(true) {
            content.trim_with_share();
        }
        content.into_bytes()
    }
}

impl fmt::Debug for Partial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Partial({} bytes)", self.len())
    }
}
