//! The buffer of a caller that content is appended to.

use bytes::Buf;

use crate::collector::Collector;
use crate::content::Content;
use crate::options::Options;

/// The buffer of the caller while it is filled. It goes back with the bytes that have arrived,
/// however the reading ends.
pub(crate) struct Lent<'a, D: Buf> {
    buffer: &'a mut Vec<u8>,
    pub(crate) collector: Collector<D>,
}

impl<'a, D: Buf> Lent<'a, D> {
    pub(crate) fn new(options: Options, buffer: &'a mut Vec<u8>) -> Self {
        let content = Content::behind(std::mem::take(buffer));
        Self { buffer, collector: Collector::with(options, content) }
    }
}

impl<D: Buf> Drop for Lent<'_, D> {
    fn drop(&mut self) {
        *self.buffer = self.collector.take_content().into_vec();
    }
}
