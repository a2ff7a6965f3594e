//! An answer as an event stream
//! (<https://smithy.io/2.0/aws/amazon-eventstream.html>): `PayloadChunk` events, and one
//! `InvokeComplete`.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use aws_smithy_eventstream::frame::write_message_to;
use aws_smithy_types::event_stream::{Header, HeaderValue, Message};
use bytes::Bytes;
use serde::Serialize;

use super::failure::Failure;
use super::invocation::{Ending, Stream};

/// The events of one answer.
pub(super) struct Events {
    /// What is left of an answer that is there, or comes.
    rest: Rest,
    /// How it ended, once that is known.
    ending: Option<Ending>,
}

enum Rest {
    Whole(Bytes),
    Stream(Stream),
    Nothing,
}

impl Events {
    /// Of an answer that is there.
    pub(super) fn of(payload: Bytes, ending: Ending) -> Self {
        Self { rest: Rest::Whole(payload), ending: Some(ending) }
    }

    /// Of an answer that comes.
    pub(super) fn streamed(stream: Stream) -> Self {
        Self { rest: Rest::Stream(stream), ending: None }
    }

    pub(super) fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        let chunk = match &mut self.rest {
            Rest::Nothing => return Poll::Ready(None),
            Rest::Whole(rest) if rest.is_empty() => None,
            Rest::Whole(rest) => Some(rest.split_to(rest.len().min(CHUNK_MAX))),
            Rest::Stream(stream) => ready!(poll_chunk(stream, &mut self.ending, cx)),
        };
        if let Some(chunk) = chunk {
            return Poll::Ready(Some(frame("PayloadChunk", "application/octet-stream", chunk)));
        }
        self.rest = Rest::Nothing;
        let complete = complete(&self.ending.take().unwrap_or_default());
        Poll::Ready(Some(frame("InvokeComplete", "application/json", complete)))
    }
}

/// The next chunk, or `None` once the ending is there and what came before it is handed out.
fn poll_chunk(
    stream: &mut Stream,
    ending: &mut Option<Ending>,
    cx: &mut Context<'_>,
) -> Poll<Option<Bytes>> {
    if ending.is_none() {
        if let Poll::Ready(end) = Pin::new(&mut stream.ending).poll(cx) {
            // Without a word, the emulator was dropped.
            let cut = || Ending { failure: Some(Failure::truncated()), log: None };
            *ending = Some(end.unwrap_or_else(|_| cut()));
            // Where time is over, the runtime hears of it by this.
            stream.chunks.close();
        }
    }
    match ready!(stream.chunks.poll_recv(cx)) {
        Some(chunk) => Poll::Ready(Some(chunk)),
        None if ending.is_some() => Poll::Ready(None),
        // The ending, which is polled above, is under way.
        None => Poll::Pending,
    }
}

fn frame(event_type: &'static str, content_type: &'static str, payload: Bytes) -> Bytes {
    let header = |name: &'static str, value: &'static str| {
        Header::new(name, HeaderValue::String(value.into()))
    };
    let room = payload.len() + AROUND_PAYLOAD;
    let message = Message::new(payload)
        .add_header(header(":message-type", "event"))
        .add_header(header(":event-type", event_type))
        .add_header(header(":content-type", content_type));
    let mut frame = Vec::with_capacity(room);
    write_message_to(&message, &mut frame).expect("a frame of three short headers and a chunk");
    frame.into()
}

fn complete(ending: &Ending) -> Bytes {
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
    let failure = ending.failure.as_ref();
    let complete = Complete {
        error_code: failure.map(|failure| failure.error_type.clone()),
        error_details: failure
            .map(|failure| String::from_utf8_lossy(&failure.payload).into_owned()),
        log_result: ending.log.as_ref().map(|log| log.encode()),
    };
    serde_json::to_vec(&complete).expect("strings in a struct").into()
}

/// The most of an answer that is there to put into one event.
const CHUNK_MAX: usize = 1 << 20;

/// Preludes, checksums and headers.
const AROUND_PAYLOAD: usize = 128;

#[cfg(test)]
mod tests {
    use std::task::Waker;

    use presized_support::eventstream::{CHUNK, DONE_ERR, DONE_OK, unhex};
    use tokio::sync::{mpsc, oneshot};

    use super::*;

    fn next(events: &mut Events) -> Poll<Option<Bytes>> {
        events.poll_next(&mut Context::from_waker(Waker::noop()))
    }

    fn broken() -> Ending {
        let failure = Failure { error_type: "Runtime.Broken".into(), payload: "x".into() };
        Ending { failure: Some(failure), log: None }
    }

    #[test]
    fn frames_are_those_of_the_protocol() {
        let mut events = Events::of("abc".into(), Ending::default());
        assert_eq!(next(&mut events), Poll::Ready(Some(unhex(CHUNK).into())));
        assert_eq!(next(&mut events), Poll::Ready(Some(unhex(DONE_OK).into())));
        assert_eq!(next(&mut events), Poll::Ready(None));
        let mut events = Events::of(Bytes::new(), broken());
        assert_eq!(next(&mut events), Poll::Ready(Some(unhex(DONE_ERR).into())));
        assert_eq!(next(&mut events), Poll::Ready(None));
    }

    #[test]
    fn chunks_are_handed_on_as_they_come_and_before_the_ending() {
        let (sender, chunks) = mpsc::channel(4);
        let (last, ending) = oneshot::channel();
        let mut events = Events::streamed(Stream { chunks, ending });
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
    fn no_ending_is_no_good_ending() {
        let (sender, chunks) = mpsc::channel(1);
        let (last, ending) = oneshot::channel();
        let mut events = Events::streamed(Stream { chunks, ending });
        drop(sender);
        assert_eq!(next(&mut events), Poll::Pending);
        drop(last);
        let Poll::Ready(Some(frame)) = next(&mut events) else { panic!("an event") };
        let frame = String::from_utf8_lossy(&frame).into_owned();
        assert!(frame.contains(r#"{"ErrorCode":"Runtime.TruncatedResponse""#), "{frame}");
    }

    #[test]
    fn an_answer_that_is_there_comes_in_events_of_a_mebibyte() {
        let mut events = Events::of(vec![0; (2 << 20) + 1].into(), Ending::default());
        let mut sizes = Vec::new();
        while let Poll::Ready(Some(frame)) = next(&mut events) {
            sizes.push(frame.len());
        }
        // 106 bytes go around a payload.
        assert_eq!(sizes, [106 + (1 << 20), 106 + (1 << 20), 107, unhex(DONE_OK).len()]);
    }
}
