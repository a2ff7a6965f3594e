//! The body of one request, while an extractor reads it.

use std::mem;

use axum_core::Error;
use axum_core::extract::{FromRef, Request};
use http::request::Parts;
use presized::{Collect, CollectError, Reader};

use crate::PresizedRejection;
use crate::discard::discard;
use crate::tracked::Tracked;

/// A request whose body is read with the reader of the state.
///
/// If it is dropped before the body has ended, by a rejection or by a timeout around the handler,
/// the rest is read in the background.
pub(crate) struct Upload {
    head: Parts,
    body: Tracked,
    reader: Reader,
}

impl Upload {
    pub(crate) fn new<S>(request: Request, state: &S) -> Self
    where
        Reader: FromRef<S>,
    {
        let (head, body) = request.into_parts();
        let reader = Reader::from_ref(state);
        Self { head, body: Tracked { body, ..Tracked::default() }, reader }
    }

    pub(crate) fn head(&self) -> &Parts {
        &self.head
    }

    /// Reads the body and leaves it in place.
    pub(crate) fn collect(&mut self) -> Collect<&mut Tracked> {
        Collect::of_request(&self.head, &mut self.body, self.reader.clone())
    }

    /// Ends the extraction with the content or a rejection.
    pub(crate) fn finish<T>(
        self,
        read: Result<T, CollectError<Error>>,
    ) -> Result<T, PresizedRejection> {
        read.map_err(PresizedRejection::Body)
    }
}

impl Drop for Upload {
    fn drop(&mut self) {
        let Tracked { body, is_started, has_ended } = mem::take(&mut self.body);
        if !has_ended {
            discard(&self.head, body, is_started);
        }
    }
}
