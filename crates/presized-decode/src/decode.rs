//! The decoded body.

use std::error::Error;
use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use pin_project_lite::pin_project;

use crate::coded::{Coded, Decoded, into_bytes};
use crate::memory::Memory;
use crate::{Codings, DecodeError, Decoder};

pin_project! {
    /// A body that decodes another body.
    ///
    /// It yields frames of at most 64 KiB, and then the trailers of the coded body. Several frames
    /// of trailers are merged.
    ///
    /// # What is decoded
    ///
    /// - All members of gzip and all frames of zstd, one after the other. Skippable frames of zstd
    ///   are skipped.
    /// - Zeros after the last member of gzip are ignored, as gzip(1) does. Any other byte after the
    ///   end of the content is [`DecodeError::Trailing`].
    /// - A body without a single coded byte is empty, because a response to HEAD has a coding and
    ///   no content. Use a transport that reports a connection that ends too early, as hyper does.
    /// - A frame of zstd that has less content than it says is [`DecodeError::Checksum`].
    /// - Content that needs a dictionary is [`DecodeError::Dictionary`].
    ///
    /// # The work of one poll
    ///
    /// One poll reads at most 64 KiB of coded bytes, counted at each decoder, and yields at most
    /// one frame. Then it wakes the task. A poll that decodes brotli can decode up to one window
    /// before the first byte comes out, because its decoder does.
    ///
    /// # Errors
    ///
    /// Yields a [`DecodeError`] as its last item, after everything that was decoded before it.
    /// brotli is an exception: if its content is [`Corrupt`](DecodeError::Corrupt), up to one
    /// window of content before the error is lost.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost between two polls. Dropping the body drops `B` and frees the memory of the
    /// decoders. They are also freed as soon as the content has ended.
    #[must_use = "bodies do nothing unless polled"]
    pub struct Decode<B> {
        #[pin]
        body: B,
        state: State,
    }
}

enum State {
    /// There is nothing to decode. The frames pass through.
    Identity,
    Coded(Box<Coded>),
    /// The head was refused.
    #[cfg_attr(
        not(feature = "tower"),
        expect(dead_code, reason = "only the layer delays the error")
    )]
    Failed(DecodeError),
    Ended,
}

impl<B: Body> Decode<B> {
    /// Decodes a body with these codings and the default settings. Without a coding, the frames
    /// pass through.
    ///
    /// # Examples
    ///
    /// ```
    /// # #[cfg(feature = "gzip")]
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use http_body_util::{BodyExt, Full};
    /// use presized_decode::{Coding, Decode};
    ///
    /// let coded = [
    ///     0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255, // the header
    ///     0xcb, 0x48, 0xcd, 0xc9, 0xc9, 7, 0, // "hello"
    ///     0x86, 0xa6, 0x10, 0x36, 5, 0, 0, 0, // the checksum and the length
    /// ];
    /// let body = Full::new(bytes::Bytes::copy_from_slice(&coded));
    /// let content = Decode::new(Coding::Gzip, body).collect().await?.to_bytes();
    /// assert_eq!(content, "hello");
    /// # Ok(())
    /// # }
    /// # #[cfg(not(feature = "gzip"))]
    /// # fn main() {}
    /// ```
    pub fn new(codings: impl Into<Codings>, body: B) -> Self {
        Decoder::new().body(codings, body)
    }

    pub(crate) fn identity(body: B) -> Self {
        Self { body, state: State::Identity }
    }

    #[cfg(feature = "tower")]
    pub(crate) fn failed(body: B, error: DecodeError) -> Self {
        Self { body, state: State::Failed(error) }
    }

    pub(crate) fn coded(
        decoder: Decoder,
        codings: &Codings,
        body: B,
        declared: Option<u64>,
    ) -> Self {
        // The transport has applied the framing rules already.
        let declared = body.size_hint().exact().or(declared);
        let Some(coded) = Coded::new(codings, &Memory::new(decoder.get_memory()), declared) else {
            return Self::identity(body);
        };
        Self { body, state: State::Coded(Box::new(coded)) }
    }

    /// Returns a reference to the coded body.
    pub fn get_ref(&self) -> &B {
        &self.body
    }

    /// Returns the coded body. What was read of it and is not decoded is lost.
    pub fn into_inner(self) -> B {
        self.body
    }
}

impl<B> Body for Decode<B>
where
    B: Body,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
{
    type Data = Bytes;
    type Error = DecodeError;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, DecodeError>>> {
        let mut this = self.project();
        let coded = match this.state {
            State::Identity => {
                let frame = ready!(this.body.poll_frame(cx));
                return Poll::Ready(frame.map(|frame| match frame {
                    Ok(frame) => Ok(frame.map_data(into_bytes)),
                    Err(error) => Err(DecodeError::Body { source: error.into() }),
                }));
            }
            State::Coded(coded) => coded,
            State::Failed(_) | State::Ended => {
                return Poll::Ready(match std::mem::replace(this.state, State::Ended) {
                    State::Failed(error) => Some(Err(error)),
                    _ => None,
                });
            }
        };
        let (mut work, mut frames) = (WORK, FRAMES);
        let error = loop {
            match coded.decode(&mut work) {
                Ok(Decoded::Frame(data)) => return Poll::Ready(Some(Ok(Frame::data(data)))),
                Ok(Decoded::NeedsInput) if frames > 0 => {}
                Ok(Decoded::NeedsInput | Decoded::Yields) => {
                    cx.waker().wake_by_ref();
                    return Poll::Pending;
                }
                Err(error) => break error,
            }
            frames -= 1;
            match ready!(this.body.as_mut().poll_frame(cx)) {
                Some(Ok(frame)) => {
                    if let Err(error) = coded.accept(frame) {
                        break error;
                    }
                }
                Some(Err(error)) => break DecodeError::Body { source: error.into() },
                None => match coded.finish() {
                    Ok(trailers) => {
                        *this.state = State::Ended;
                        return Poll::Ready(trailers.map(|trailers| Ok(Frame::trailers(trailers))));
                    }
                    Err(error) => break error,
                },
            }
        };
        *this.state = State::Ended;
        Poll::Ready(Some(Err(error)))
    }

    fn is_end_stream(&self) -> bool {
        match &self.state {
            State::Identity => self.body.is_end_stream(),
            State::Coded(coded) => coded.is_new() && self.body.is_end_stream(),
            State::Failed(_) => false,
            State::Ended => true,
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.state {
            State::Identity => self.body.size_hint(),
            State::Coded(_) | State::Failed(_) => SizeHint::default(),
            State::Ended => SizeHint::with_exact(0),
        }
    }
}

impl<B: Body + Default> Default for Decode<B> {
    /// Wraps the default body of `B`. Outer layers need it to make responses of their own.
    fn default() -> Self {
        Self::identity(B::default())
    }
}

impl<B: fmt::Debug> fmt::Debug for Decode<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("Decode");
        debug.field("body", &self.body);
        match &self.state {
            State::Coded(coded) => debug.field("received", &coded.received()),
            State::Failed(error) => debug.field("error", error),
            State::Identity | State::Ended => &mut debug,
        }
        .finish_non_exhaustive()
    }
}

/// Coded bytes that one poll reads at most, counted at each decoder. Empty members of gzip cost
/// most: 0.11 µs for each byte, or 7 ms for one poll.
const WORK: usize = 64 << 10;

/// Frames of the coded body that one poll reads at most.
const FRAMES: u32 = 64;
