//! The forms that the result of a [`Collect`] can have. Each runs the loop in `collector.rs`.

use std::future::poll_fn;
use std::ops::ControlFlow;
use std::pin::pin;

use bytes::Bytes;
use http_body::Body;

#[cfg(feature = "json")]
use crate::JsonError;
use crate::collector::{Collector, Finished};
use crate::lent::Lent;
use crate::options::{Options, Target};
use crate::{
    Collect, CollectBytes, CollectError, CollectStats, Collected, Limited, Partial, Prefix,
    Presized, Progress,
};

impl<B: Body, F: FnMut(Progress) -> ControlFlow<()>, U: Future> Collect<B, F, U> {
    /// Reads the content as [`Bytes`].
    ///
    /// A body that is one frame of at least 32 KiB is handed over without a copy. Until its last
    /// clone is dropped, it keeps the whole buffer alive of which the frame is a slice:
    ///
    /// | transport | the buffer |
    /// | --- | --- |
    /// | hyper, HTTP/1.1 | less than twice `max_buf_size`; at its default, 512 KiB was measured for a frame of 32 KiB |
    /// | hyper, HTTP/2 | less than twice the frame |
    /// | any other body | as large as the body made it |
    ///
    /// [`vec`](Self::vec) always copies. `Bytes::from` of its result keeps no memory of the
    /// transport.
    ///
    /// The content is copied to a buffer of its length if the unused capacity is more than the
    /// value in this table. It stays where it is if there is no memory for that buffer.
    ///
    /// | result | unused capacity |
    /// | --- | --- |
    /// | in a buffer of a pool | three times the length of the content |
    /// | no pool and no budget, content of 128 KiB or more | the same |
    /// | any other | a quarter of the length of the content |
    ///
    /// # Errors
    ///
    /// See [`Collect`].
    pub async fn bytes(self) -> Result<Bytes, CollectError<B::Error>> {
        Ok(self.read(Target::Bytes).await?.content.into_bytes())
    }

    /// Reads the content as a `Vec`.
    ///
    /// Its unused capacity is bounded as in [`bytes`](Self::bytes) without a pool.
    ///
    /// # Errors
    ///
    /// See [`Collect`].
    pub async fn vec(self) -> Result<Vec<u8>, CollectError<B::Error>> {
        Ok(self.read(Target::Vec).await?.content.into_vec())
    }

    /// Reads the content as a `String`. It is validated once and not copied again.
    ///
    /// A byte order mark (U+FEFF) at the start stays in the text, because it is content. To ignore
    /// it, call `text.strip_prefix('\u{feff}')`.
    ///
    /// # Errors
    ///
    /// See [`Collect`]. [`CollectError::InvalidUtf8`] has the whole content.
    pub async fn text(self) -> Result<String, CollectError<B::Error>> {
        String::from_utf8(self.vec().await?).map_err(|error| CollectError::InvalidUtf8 {
            valid_up_to: error.utf8_error().valid_up_to() as u64,
            partial: Partial::from_vec(error.into_bytes()),
        })
    }

    /// Reads the content as a value that serde parses from JSON.
    ///
    /// `T` borrows nothing from the content, and the buffer returns to its pool before the value is
    /// returned. The Content-Type is ignored. The limit bounds the content, and not the memory of
    /// `T`. If a string has the wrong type, the error of serde inside ([`JsonError::get_ref`])
    /// quotes it, and can take six times its memory.
    ///
    /// A byte order mark (U+FEFF) at the start is an error. RFC 8259 §8.1 forbids it in JSON that
    /// is sent, and serde_json does not ignore it. The partial content of the error has the mark
    /// and the JSON after it.
    ///
    /// # Errors
    ///
    /// See [`Collect`]. [`CollectError::InvalidJson`] has the whole content. Its own message quotes
    /// none of it.
    ///
    /// # Examples
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use http_body_util::Full;
    /// use presized::{Collect, CollectError};
    ///
    /// let body = || Full::<bytes::Bytes>::from("[1,2,3]");
    /// assert_eq!(Collect::new(body(), 1024).json::<Vec<u8>>().await?, [1, 2, 3]);
    ///
    /// let error = Collect::new(body(), 1024).json::<String>().await.unwrap_err();
    /// assert!(matches!(error, CollectError::InvalidJson { .. }));
    /// assert_eq!(error.into_partial(), "[1,2,3]");
    /// # Ok(())
    /// # }
    /// ```
    #[cfg(feature = "json")]
    #[cfg_attr(docsrs, doc(cfg(feature = "json")))]
    pub async fn json<T: serde::de::DeserializeOwned>(self) -> Result<T, CollectError<B::Error>> {
        let content = self.bytes().await?;
        serde_json::from_slice(&content).map_err(|source| CollectError::InvalidJson {
            source: JsonError::new(source),
            partial: Partial::from_bytes(content),
        })
    }

    /// Reads the content and the trailers, and reports how the reading went.
    ///
    /// # Errors
    ///
    /// See [`Collect`].
    pub async fn collected(self) -> Result<Collected, CollectError<B::Error>> {
        self.read(Target::Bytes).await.map(Collected::from)
    }

    /// Appends the content to `buffer`. Nothing is allocated if its spare capacity is enough.
    ///
    /// That spare capacity does not count against a budget.
    ///
    /// # Errors
    ///
    /// See [`Collect`]. After an error, `buffer` has the bytes that had arrived and for which there
    /// was memory. The error has no partial content.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, `buffer` has its earlier content, followed by the bytes that had
    /// arrived. If the future is passed to [`mem::forget`](std::mem::forget), `buffer` is empty.
    pub async fn append_to(
        self,
        buffer: &mut Vec<u8>,
    ) -> Result<CollectStats, CollectError<B::Error>> {
        let (body, options, mut on_progress, until) = self.into_parts(Target::Lent);
        let (mut body, mut until) = (pin!(body), pin!(until));
        let mut lent = Lent::new(options, buffer);
        let read =
            poll_fn(|cx| lent.collector.poll(body.as_mut(), cx, &mut on_progress, until.as_mut()));
        let finished = read.await?;
        lent.collector.put_content(finished.content);
        Ok(finished.stats)
    }

    /// Reads the first bytes of the content, up to the limit, and reports whether there were more.
    ///
    /// Use it for the body of an error response, of which a log needs only the beginning. Reading
    /// stops at the limit without an error. The rest of the body is not read.
    ///
    /// # Errors
    ///
    /// See [`Collect`]. It never fails with [`DeclaredTooLarge`](CollectError::DeclaredTooLarge) or
    /// [`TooLarge`](CollectError::TooLarge).
    pub async fn prefix(self) -> Result<Prefix, CollectError<B::Error>> {
        let (body, mut options, on_progress, until) = self.into_parts(Target::Bytes);
        options.prefix = true;
        let finished = read(body, options, on_progress, until).await?;
        Ok(Prefix { truncated: finished.truncated, content: finished.content.into_bytes() })
    }

    /// Returns a body that yields the whole content as one data frame.
    pub fn into_presized(self) -> Presized<B, F, U> {
        let (body, options, on_progress, until) = self.into_parts(Target::Bytes);
        Presized::with(body, options, on_progress, until)
    }

    /// Returns a body that yields the frames as they arrive and fails at the limit.
    ///
    /// Nothing is collected, so it does not use the pool, the budget, the history, the minimum rate,
    /// [`on_progress`](Self::on_progress) and [`until`](Self::until).
    pub fn into_limited(self) -> Limited<B> {
        Limited::with(self.body, self.reader, self.declared)
    }

    async fn read(self, target: Target) -> Result<Finished, CollectError<B::Error>> {
        let (body, options, on_progress, until) = self.into_parts(target);
        read(body, options, on_progress, until).await
    }
}

impl<B, F, U> IntoFuture for Collect<B, F, U>
where
    B: Body,
    F: FnMut(Progress) -> ControlFlow<()>,
    U: Future,
{
    type Output = Result<Bytes, CollectError<B::Error>>;
    type IntoFuture = CollectBytes<B, F, U>;

    /// Returns a future that reads the content as [`Bytes`], as [`bytes`](Self::bytes) does. This
    /// future boxes the body. The future of `bytes` does not.
    fn into_future(self) -> CollectBytes<B, F, U> {
        let (body, options, on_progress, until) = self.into_parts(Target::Bytes);
        CollectBytes::new(body, options, on_progress, until)
    }
}

async fn read<B: Body>(
    body: B,
    options: Options,
    mut on_progress: impl FnMut(Progress) -> ControlFlow<()>,
    until: impl Future,
) -> Result<Finished, CollectError<B::Error>> {
    let (mut body, mut until) = (pin!(body), pin!(until));
    let mut collector = Collector::new(options);
    poll_fn(|cx| collector.poll(body.as_mut(), cx, &mut on_progress, until.as_mut())).await
}
