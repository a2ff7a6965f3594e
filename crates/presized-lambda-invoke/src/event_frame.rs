use aws_smithy_types::event_stream::Message;
use bytes::Bytes;

/// One frame of an event stream. Its checksums are right.
#[derive(Debug)]
pub(super) struct EventFrame {
    /// The headers, as a message without a payload.
    pub(super) headers: Message,
    pub(super) payload: Bytes,
}

impl EventFrame {
    /// Returns the value of a header if it is a string.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        let header = self.headers.headers().iter().find(|header| header.name().as_str() == name)?;
        header.value().as_string().ok().map(|value| value.as_str())
    }
}
