//! Frames of trailers become one map.

use bytes::Buf;
use http::HeaderMap;

use super::Collector;
use crate::CollectError;

impl<D: Buf> Collector<D> {
    /// Adds a frame of trailers. A field that is there already keeps its values.
    pub(super) fn add_trailers<E>(&mut self, more: HeaderMap) -> Result<(), CollectError<E>> {
        let Some(trailers) = &mut self.trailers else {
            self.trailers = Some(more);
            return Ok(());
        };
        let mut last = None;
        for (name, value) in more {
            // A name is given once, before the first of its values.
            last = name.or(last);
            let Some(name) = &last else { continue };
            // `append` panics if there is no room.
            if trailers.try_append(name, value).is_err() {
                return Err(self.stalled());
            }
        }
        Ok(())
    }
}
