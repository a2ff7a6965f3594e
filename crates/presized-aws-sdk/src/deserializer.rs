//! Where the body is replaced: between all interceptors and the reading.
//!
//! Hooks of a client's interceptors come before those of the operation, among which are the
//! protection against stalled streams and the check of checksums. A body that is replaced in such
//! a hook would be inside of both, and a stall to the former, since it yields nothing until it has
//! all. The last to have a body in hand before it is read is the deserializer.

use std::sync::{Arc, OnceLock};

use aws_smithy_runtime_api::client::interceptors::context::OutputOrError;
use aws_smithy_runtime_api::client::orchestrator::{HttpResponse, OrchestratorError};
use aws_smithy_runtime_api::client::ser_de::{DeserializeResponse, SharedResponseDeserializer};
use aws_smithy_types::body::SdkBody;
use aws_smithy_types::config_bag::{ConfigBag, ItemIter, Storable, Store, StoreReplace};
use http::header::{CONTENT_ENCODING, CONTENT_LENGTH, HeaderName, TRAILER, TRANSFER_ENCODING};
use http::{HeaderValue, Method, Response, StatusCode, response};

use super::Settings;
use super::body::{Refusable, Refusal};
use presized::Collect;

/// Puts a deserializer above that of the operation, unless there is one already, and sets how it
/// is to read.
pub(super) fn install(cfg: &mut ConfigBag, method: Method, settings: Settings) {
    let state = cfg.interceptor_state();
    let is_installed = state.load::<Settings>().is_some();
    state.store_put(settings);
    if is_installed {
        return;
    }
    let replaced = Arc::new(OnceLock::new());
    let ours = Presizing { method, replaced: replaced.clone(), refusal: Refusal::default() };
    let ours = SharedResponseDeserializer::new(ours);
    // The same layer holds one of them, and another interceptor can have been here.
    match cfg.get_mut_from_interceptor_state::<SharedResponseDeserializer>() {
        Some(theirs) => {
            // It is empty: nobody else has it yet.
            let _ = replaced.set(std::mem::replace(theirs, ours));
        }
        None => {
            cfg.interceptor_state().store_put(ours);
        }
    }
}

/// Replaces the body where the operation does not stream.
#[derive(Debug)]
struct Presizing {
    method: Method,
    /// The deserializer that was in our layer before us.
    replaced: Arc<OnceLock<SharedResponseDeserializer>>,
    refusal: Refusal,
}

impl Presizing {
    /// The one that would be used without us.
    fn below<'a>(&'a self, cfg: &'a ConfigBag) -> Result<&'a SharedResponseDeserializer, Missing> {
        self.replaced.get().or_else(|| cfg.load::<Below>()).ok_or(Missing)
    }

    fn replace_body(&self, response: &mut HttpResponse, settings: &Settings) {
        // A refusal is that of one attempt.
        drop(self.refusal.take());
        let body = response.take_body();
        let Settings(reader) = settings;
        let body = Collect::of_response(&self.method, &head_of(response), body, reader.clone());
        let body = body.into_presized();
        *response.body_mut() = SdkBody::from_body_1_x(Refusable::new(body, &self.refusal));
    }
}

impl DeserializeResponse for Presizing {
    fn deserialize_streaming_with_config(
        &self,
        response: &mut HttpResponse,
        cfg: &ConfigBag,
    ) -> Option<OutputOrError> {
        let output = match self.below(cfg) {
            Ok(below) => below.deserialize_streaming_with_config(response, cfg),
            Err(missing) => Some(Err(missing.into())),
        };
        if let (None, Some(settings)) = (&output, cfg.load::<Settings>()) {
            self.replace_body(response, settings);
        }
        output
    }

    fn deserialize_nonstreaming_with_config(
        &self,
        response: &HttpResponse,
        cfg: &ConfigBag,
    ) -> OutputOrError {
        match self.refusal.take() {
            Some(error) => Err(OrchestratorError::other(error)),
            None => self.below(cfg)?.deserialize_nonstreaming_with_config(response, cfg),
        }
    }

    // Called by an orchestrator that is too old to call the above, and first.
    fn deserialize_streaming(&self, _: &mut HttpResponse) -> Option<OutputOrError> {
        Some(Err(OrchestratorError::other(
            "presized_aws_sdk needs aws-smithy-runtime 1.16 or later: run `cargo update`",
        )))
    }
}

/// There is no deserializer, and an orchestrator does not come this far without one.
#[derive(Debug)]
struct Missing;

impl<E> From<Missing> for OrchestratorError<E> {
    fn from(_: Missing) -> Self {
        Self::other("the operation has no response deserializer")
    }
}

/// Finds the deserializer in the layer below that of the interceptors.
///
/// A [`SharedResponseDeserializer`] cannot be cloned, so ours cannot keep the one it stands in for.
#[derive(Debug)]
struct Below;

impl Storable for Below {
    type Storer = Self;
}

// What layers hold has no path of its own: it is public as this associated type.
type Stored = <StoreReplace<SharedResponseDeserializer> as Store>::StoredType;

impl Store for Below {
    type ReturnedType<'a> = Option<&'a SharedResponseDeserializer>;
    type StoredType = Stored;

    fn merge_iter(mut layers: ItemIter<'_, Self>) -> Self::ReturnedType<'_> {
        match layers.nth(1)? {
            Stored::Set(below) => Some(below),
            Stored::ExplicitlyUnset(_) => None,
        }
    }
}

/// As much of the head as the length of a body is read from.
fn head_of(response: &HttpResponse) -> response::Parts {
    let (mut head, ()) = Response::new(()).into_parts();
    head.status = StatusCode::from_u16(response.status().as_u16()).unwrap_or_default();
    for name in FIELDS {
        for value in response.headers().get_all_bytes(&name) {
            if let Ok(value) = HeaderValue::from_bytes(value) {
                head.headers.append(&name, value);
            }
        }
    }
    head
}

const FIELDS: [HeaderName; 4] = [CONTENT_ENCODING, CONTENT_LENGTH, TRAILER, TRANSFER_ENCODING];

#[cfg(test)]
mod tests;
