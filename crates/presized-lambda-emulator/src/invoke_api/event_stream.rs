//! The event stream of a streamed response
//! (<https://smithy.io/2.0/aws/amazon-eventstream.html>): `PayloadChunk` events, and one
//! `InvokeComplete`.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use aws_smithy_eventstream::frame::write_message_to;
use aws_smithy_types::event_stream::{Header, HeaderValue, Message};
use bytes::Bytes;
use serde::Serialize;

use crate::failure::Failure;
use crate::outcome::{StreamEnd, StreamedResponse};

/// The events of one response.
pub(crate) struct EventStream {
    /// The part of the response that was not sent yet.
    rest: Rest,
    /// The end of the response, once it is known.
    end: Option<StreamEnd>,
}

enum Rest {
    Whole(Bytes),
    Stream(StreamedResponse),
    Nothing,
}

impl EventStream {
    /// Returns the events of a response that is complete.
    pub(super) fn whole(payload: Bytes, end: StreamEnd) -> Self {
        Self { rest: Rest::Whole(payload), end: Some(end) }
    }

    /// Returns the events of a response that is still being written.
    pub(super) fn streamed(response: StreamedResponse) -> Self {
        Self { rest: Rest::Stream(response), end: None }
    }

    pub(crate) fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        let chunk = match &mut self.rest {
            Rest::Nothing => return Poll::Ready(None),
            Rest::Whole(rest) if rest.is_empty() => None,
            Rest::Whole(rest) => Some(rest.split_to(rest.len().min(CHUNK_MAX))),
            Rest::Stream(response) => ready!(poll_chunk(response, &mut self.end, cx)),
        };
        if let Some(chunk) = chunk {
            return Poll::Ready(Some(frame("PayloadChunk", "application/octet-stream", chunk)));
        }
        self.rest = Rest::Nothing;
        let complete = complete(&self.end.take().unwrap_or_default());
        Poll::Ready(Some(frame("InvokeComplete", "application/json", complete)))
    }
}

/// Returns the next chunk, or `None` once the end is known and all chunks were returned.
fn poll_chunk(
    response: &mut StreamedResponse,
    known_end: &mut Option<StreamEnd>,
    cx: &mut Context<'_>,
) -> Poll<Option<Bytes>> {
    if known_end.is_none()
        && let Poll::Ready(end) = Pin::new(&mut response.end).poll(cx)
    {
        // Dropping the emulator drops the sender without an end.
        let truncated = || StreamEnd { failure: Some(Failure::truncated()), log: None };
        *known_end = Some(end.unwrap_or_else(|_| truncated()));
        // This unblocks a runtime that writes although its invocation has timed out.
        response.chunks.close();
    }
    match ready!(response.chunks.poll_recv(cx)) {
        Some(chunk) => Poll::Ready(Some(chunk)),
        None if known_end.is_some() => Poll::Ready(None),
        // The end was polled above, and wakes the task when it is known.
        None => Poll::Pending,
    }
}

fn frame(event_type: &'static str, content_type: &'static str, payload: Bytes) -> Bytes {
    let header = |name: &'static str, value: &'static str| {
        Header::new(name, HeaderValue::String(value.into()))
    };
    let room = payload.len() + FRAME_OVERHEAD;
    let message = Message::new(payload)
        .add_header(header(":message-type", "event"))
        .add_header(header(":event-type", event_type))
        .add_header(header(":content-type", content_type));
    let mut frame = Vec::with_capacity(room);
    write_message_to(&message, &mut frame)
        .expect("three short headers and a chunk fit into a frame");
    frame.into()
}

fn complete(end: &StreamEnd) -> Bytes {
    #[derive(Serialize)]
    #[serde(rename_all = "PascalCase")]
    struct Complete {
        #[serde(skip_serializing_if = "Option::is_none")]
        error_code: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        error_details: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        log_result: Option<String>,
    }
    let failure = end.failure.as_ref();
    let complete = Complete {
        error_code: failure.map(|failure| failure.error_type.clone()),
        error_details: failure
            .map(|failure| String::from_utf8_lossy(&failure.payload).into_owned()),
        log_result: end.log.as_ref().map(|log| log.encode()),
    };
    serde_json::to_vec(&complete).expect("a struct of strings is valid JSON").into()
}

/// The maximum length in bytes of a chunk of a complete response.
const CHUNK_MAX: usize = 1 << 20;

/// More than the bytes of the prelude, the checksums and the headers of a frame.
const FRAME_OVERHEAD: usize = 128;

#[cfg(test)]
mod tests {
    use std::task::Waker;

    use presized_support::eventstream::{CHUNK, DONE_ERR, DONE_OK, unhex};
    use tokio::sync::{mpsc, oneshot};

    use super::*;

    fn next(events: &mut EventStream) -> Poll<Option<Bytes>> {
        events.poll_next(&mut Context::from_waker(Waker::noop()))
    }

    fn broken() -> StreamEnd {
        let failure = Failure { error_type: "Runtime.Broken".into(), payload: "x".into() };
        StreamEnd { failure: Some(failure), log: None }
    }

    #[test]
    fn frames_equal_the_recorded_ones_byte_for_byte() {
        let mut events = EventStream::whole("abc".into(), StreamEnd::default());
        assert_eq!(next(&mut events), Poll::Ready(Some(unhex(CHUNK).into())));
        assert_eq!(next(&mut events), Poll::Ready(Some(unhex(DONE_OK).into())));
        assert_eq!(next(&mut events), Poll::Ready(None));
        let mut events = EventStream::whole(Bytes::new(), broken());
        assert_eq!(next(&mut events), Poll::Ready(Some(unhex(DONE_ERR).into())));
        assert_eq!(next(&mut events), Poll::Ready(None));
    }

    #[test]
    fn chunks_are_sent_as_they_arrive_and_before_the_end() {
        let (sender, chunks) = mpsc::channel(4);
        let (last, end) = oneshot::channel();
        let mut events = EventStream::streamed(StreamedResponse { chunks, end });
        assert_eq!(next(&mut events), Poll::Pending);
        sender.try_send(Bytes::from("abc")).unwrap();
        assert_eq!(next(&mut events), Poll::Ready(Some(unhex(CHUNK).into())));
        assert_eq!(next(&mut events), Poll::Pending);
        sender.try_send(Bytes::from("abc")).unwrap();
        assert!(last.send(broken()).is_ok());
        assert_eq!(next(&mut events), Poll::Ready(Some(unhex(CHUNK).into())));
        assert!(sender.is_closed());
        drop(sender);
        assert_eq!(next(&mut events), Poll::Ready(Some(unhex(DONE_ERR).into())));
        assert_eq!(next(&mut events), Poll::Ready(None));
    }

    #[test]
    fn response_that_never_ends_is_reported_as_truncated() {
        let (sender, chunks) = mpsc::channel(1);
        let (last, end) = oneshot::channel();
        let mut events = EventStream::streamed(StreamedResponse { chunks, end });
        drop(sender);
        assert_eq!(next(&mut events), Poll::Pending);
        drop(last);
        let Poll::Ready(Some(frame)) = next(&mut events) else { panic!("no event") };
        let frame = String::from_utf8_lossy(&frame).into_owned();
        assert!(frame.contains(r#"{"ErrorCode":"Runtime.TruncatedResponse""#), "{frame}");
    }

    #[test]
    fn complete_response_is_sent_in_chunks_of_a_mebibyte() {
        let mut events = EventStream::whole(vec![0; (2 << 20) + 1].into(), StreamEnd::default());
        let mut sizes = Vec::new();
        while let Poll::Ready(Some(frame)) = next(&mut events) {
            sizes.push(frame.len());
        }
        // A frame adds 106 bytes to a chunk.
        assert_eq!(sizes, [106 + (1 << 20), 106 + (1 << 20), 107, unhex(DONE_OK).len()]);
    }
}
