//! The body of one request, while an extractor reads it.

use axum_core::Error;
use axum_core::body::Body;
use axum_core::extract::{FromRef, Request};
use http::request::Parts;
use presized::{Collect, CollectError, Reader};

use crate::PresizedRejection;
use crate::discard::discard;

/// A request whose body is read with the reader of the state.
pub(crate) struct Upload {
    head: Parts,
    body: Body,
    reader: Reader,
}

impl Upload {
    pub(crate) fn new<S>(request: Request, state: &S) -> Self
    where
        Reader: FromRef<S>,
    {
        let (head, body) = request.into_parts();
        Self { head, body, reader: Reader::from_ref(state) }
    }

    pub(crate) fn head(&self) -> &Parts {
        &self.head
    }

    /// Reads the body and leaves it in place, so that a refusal can read on.
    pub(crate) fn collect(&mut self) -> Collect<&mut Body> {
        Collect::of_request(&self.head, &mut self.body, self.reader.clone())
    }

    /// Ends the extraction with the content or a rejection.
    pub(crate) fn finish<T>(
        self,
        read: Result<T, CollectError<Error>>,
    ) -> Result<T, PresizedRejection> {
        read.map_err(|error| self.reject(PresizedRejection::Body(error)))
    }

    /// Reads the rest of the request in the background, and returns the rejection.
    pub(crate) fn reject(self, rejection: PresizedRejection) -> PresizedRejection {
        let is_started = match &rejection {
            // The body has ended.
            PresizedRejection::Body(CollectError::Body { .. }) => return rejection,
            PresizedRejection::Body(error) => error.received() > 0,
            PresizedRejection::MissingJsonContentType => false,
        };
        discard(&self.head, self.body, is_started);
        rejection
    }
}
