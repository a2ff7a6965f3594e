//! The decoded body.

use std::error::Error;
use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::{Buf, Bytes};
use http::HeaderMap;
use http_body::{Body, Frame, SizeHint};
use pin_project_lite::pin_project;

use crate::chain::{Chain, Pulled};
use crate::memory::Memory;
use crate::output::Output;
use crate::{Codings, DecodeError, Decoder};

pin_project! {
    /// A body that decodes another body.
    ///
    /// It yields frames of at most 64 KiB, and then the trailers of the coded body.
    ///
    /// # What is decoded
    ///
    /// - All members of gzip and all frames of zstd, one after the other. Skippable frames of zstd are
    ///   skipped.
    /// - Zeros after the last member of gzip are ignored, as gzip(1) does. Any other byte after the
    ///   end of the content is [`DecodeError::Trailing`].
    /// - A body without a single coded byte is empty, because a response to HEAD has a coding and no
    ///   content. Use a transport that reports a connection that ends too early, as hyper does.
    /// - A frame of zstd that has less content than it says is [`DecodeError::Checksum`].
    /// - Content that needs a dictionary is [`DecodeError::Dictionary`].
    ///
    /// # The work of one poll
    ///
    /// One poll reads at most 256 KiB of coded bytes, counted at each decoder, and yields at most one
    /// frame. Then it wakes the task. A poll that decodes brotli can decode up to one window before
    /// the first byte comes out, because its decoder does.
    ///
    /// # Errors
    ///
    /// Yields a [`DecodeError`] as its last item, after everything that was decoded before it. brotli
    /// is an exception: if its content is [`Corrupt`](DecodeError::Corrupt), up to one window of
    /// content before the error is lost.
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
    /// There is nothing to decode.
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

struct Coded {
    chain: Chain,
    /// What has arrived and is not decoded.
    source: Bytes,
    /// The decoders may have output without more input.
    has_work: bool,
    output: Output,
    /// Coded bytes that have arrived.
    received: u64,
    /// The declared length of the coded form.
    declared: Option<u64>,
    trailers: Option<HeaderMap>,
    has_ended: bool,
}

impl<B: Body> Decode<B> {
    /// Decodes a body with these codings and the default settings.
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

    /// Wraps a body that has no coding. Its frames pass through.
    pub fn identity(body: B) -> Self {
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
        let Some(chain) = Chain::new(codings, &Memory::new(decoder.get_memory())) else {
            return Self::identity(body);
        };
        let coded = Coded {
            chain,
            source: Bytes::new(),
            has_work: false,
            output: Output::default(),
            received: 0,
            // The transport has applied the framing rules already.
            declared: body.size_hint().exact().or(declared),
            trailers: None,
            has_ended: false,
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
                Ok(Decoded::NeedsInput) if coded.has_ended => match coded.finish() {
                    Ok(()) => {
                        let trailers = coded.trailers.take();
                        *this.state = State::Ended;
                        return Poll::Ready(trailers.map(|map| Ok(Frame::trailers(map))));
                    }
                    Err(error) => break error,
                },
                Ok(Decoded::NeedsInput) if frames > 0 => {}
                Ok(Decoded::NeedsInput | Decoded::Yields) => {
                    cx.waker().wake_by_ref();
                    return Poll::Pending;
                }
                Err(error) => break error,
            }
            frames -= 1;
            match ready!(this.body.as_mut().poll_frame(cx)) {
                Some(Ok(frame)) => coded.accept(frame),
                Some(Err(error)) => break DecodeError::Body { source: error.into() },
                None => coded.has_ended = true,
            }
        };
        *this.state = State::Ended;
        Poll::Ready(Some(Err(error)))
    }

    fn is_end_stream(&self) -> bool {
        match &self.state {
            State::Identity => self.body.is_end_stream(),
            State::Coded(coded) => coded.received == 0 && self.body.is_end_stream(),
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

enum Decoded {
    Frame(Bytes),
    NeedsInput,
    Yields,
}

impl Coded {
    fn decode(&mut self, work: &mut usize) -> Result<Decoded, DecodeError> {
        if !self.has_work {
            return Ok(Decoded::NeedsInput);
        }
        Ok(match self.chain.fill(&mut self.source, self.output.room(), work)? {
            Pulled::Data(len) => Decoded::Frame(self.output.take(len)),
            Pulled::NeedsInput => {
                self.has_work = false;
                // The frame of the transport is not needed any more.
                self.source = Bytes::new();
                Decoded::NeedsInput
            }
            Pulled::Yields => Decoded::Yields,
        })
    }

    /// Accepts a frame of the coded body, when all that came before it is decoded.
    fn accept<D: Buf>(&mut self, frame: Frame<D>) {
        match frame.into_data() {
            Ok(data) => {
                self.source = into_bytes(data);
                self.received = self.received.saturating_add(self.source.len() as u64);
                self.has_work = !self.source.is_empty();
            }
            Err(frame) => {
                if let Ok(trailers) = frame.into_trailers() {
                    self.trailers.get_or_insert_default().extend(trailers);
                }
            }
        }
    }

    fn finish(&self) -> Result<(), DecodeError> {
        self.chain.finish()?;
        match self.declared {
            Some(declared) if (1..declared).contains(&self.received) => {
                Err(DecodeError::Incomplete { declared, received: self.received })
            }
            _ => Ok(()),
        }
    }
}

/// Copies nothing if the data is `Bytes`.
fn into_bytes(mut data: impl Buf) -> Bytes {
    data.copy_to_bytes(data.remaining())
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
            State::Coded(coded) => debug.field("received", &coded.received),
            State::Failed(error) => debug.field("error", error),
            State::Identity | State::Ended => &mut debug,
        }
        .finish_non_exhaustive()
    }
}

/// Coded bytes that one poll reads at most, counted at each decoder.
const WORK: usize = 256 << 10;

/// Frames of the coded body that one poll reads at most.
const FRAMES: u32 = 64;
