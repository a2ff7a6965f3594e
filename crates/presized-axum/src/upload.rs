//! The body of one request, while an extractor reads it.

use std::mem;

use axum_core::Error;
use axum_core::body::Body;
use axum_core::extract::{FromRef, Request};
use http::request::Parts;
use presized::{Collect, CollectError, Reader};

use crate::PresizedRejection;
use crate::discard::discard;

/// A request whose body is read with the reader of the state.
///
/// If it is dropped before the body has ended, by a rejection or by a timeout around the handler, the
/// rest is read in the background.
pub(crate) struct Upload {
    head: Parts,
    body: Body,
    reader: Reader,
    /// Whether the body has been polled.
    is_started: bool,
    has_ended: bool,
}

impl Upload {
    pub(crate) fn new<S>(request: Request, state: &S) -> Self
    where
        Reader: FromRef<S>,
    {
        let (head, body) = request.into_parts();
        let reader = Reader::from_ref(state);
        Self { head, body, reader, is_started: false, has_ended: false }
    }

    pub(crate) fn head(&self) -> &Parts {
        &self.head
    }

    /// Reads the body and leaves it in place.
    pub(crate) fn collect(&mut self) -> Collect<&mut Body> {
        self.is_started = true;
        Collect::of_request(&self.head, &mut self.body, self.reader.clone())
    }

    /// Ends the extraction with the content or a rejection.
    pub(crate) fn finish<T>(
        mut self,
        read: Result<T, CollectError<Error>>,
    ) -> Result<T, PresizedRejection> {
        match &read {
            Ok(_) | Err(CollectError::Body { .. }) => self.has_ended = true,
            // A refusal by the head does not poll the body.
            Err(error) => self.is_started = error.received() > 0,
        }
        read.map_err(PresizedRejection::Body)
    }
}

impl Drop for Upload {
    fn drop(&mut self) {
        if !self.has_ended {
            discard(&self.head, mem::take(&mut self.body), self.is_started);
        }
    }
}
