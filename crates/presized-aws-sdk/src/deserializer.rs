//! A response deserializer that replaces the body of a response before the SDK reads it.
//!
//! The body is replaced here and not in a hook of the interceptor. The hooks of the operation run after
//! the hooks of the client. They wrap the body in the protection against stalled streams and in the
//! check of checksums. A body that was replaced in a hook would be inside of both. It yields nothing
//! until all of it has arrived, so the protection would see a stall. The deserializer gets the body
//! last.

use std::sync::{Arc, OnceLock};

use aws_smithy_runtime_api::client::interceptors::context::OutputOrError;
use aws_smithy_runtime_api::client::orchestrator::{HttpResponse, OrchestratorError};
use aws_smithy_runtime_api::client::ser_de::{DeserializeResponse, SharedResponseDeserializer};
use aws_smithy_types::body::SdkBody;
use aws_smithy_types::config_bag::{ConfigBag, ItemIter, Storable, Store, StoreReplace};
use http::header::{CONTENT_ENCODING, CONTENT_LENGTH, HeaderName, TRAILER, TRANSFER_ENCODING};
use http::{HeaderValue, Method, Response, StatusCode, response};
use presized::Collect;

use crate::final_error::FinalError;
use crate::interceptor::Settings;
use crate::response_body::ResponseBody;

/// Stores the settings, and installs a [`Presizing`] deserializer if there is none yet.
pub(crate) fn install(cfg: &mut ConfigBag, method: Method, settings: Settings) {
    let state = cfg.interceptor_state();
    let is_installed = state.load::<Settings>().is_some();
    state.store_put(settings);
    if is_installed {
        return;
    }
    let replaced = Arc::new(OnceLock::new());
    let ours = Presizing { method, replaced: replaced.clone(), final_error: FinalError::default() };
    let ours = SharedResponseDeserializer::new(ours);
    // A layer holds one deserializer, and another interceptor may have stored its own.
    match cfg.get_mut_from_interceptor_state::<SharedResponseDeserializer>() {
        Some(theirs) => {
            // Never fails: the cell is new and empty.
            let _ = replaced.set(std::mem::replace(theirs, ours));
        }
        None => {
            cfg.interceptor_state().store_put(ours);
        }
    }
}

/// A deserializer that replaces the body of a response if the operation does not stream, and leaves
/// the rest to the deserializer below.
#[derive(Debug)]
struct Presizing {
    method: Method,
    /// The deserializer of another interceptor that was in the same layer.
    replaced: Arc<OnceLock<SharedResponseDeserializer>>,
    final_error: FinalError,
}

impl Presizing {
    /// Returns the deserializer that the SDK would use without this one.
    fn below<'a>(&'a self, cfg: &'a ConfigBag) -> Result<&'a SharedResponseDeserializer, Missing> {
        self.replaced.get().or_else(|| cfg.load::<LayerBelow>()).ok_or(Missing)
    }

    fn replace_body(&self, response: &mut HttpResponse, settings: &Settings) {
        // An error of an earlier attempt must not fail this one.
        drop(self.final_error.take());
        let body = response.take_body();
        let Settings(reader) = settings;
        let body = Collect::of_response(&self.method, &head_of(response), body, reader.clone());
        let body = body.into_presized();
        *response.body_mut() = SdkBody::from_body_1_x(ResponseBody::new(body, &self.final_error));
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
        match self.final_error.take() {
            Some(error) => Err(OrchestratorError::other(error)),
            None => self.below(cfg)?.deserialize_nonstreaming_with_config(response, cfg),
        }
    }

    // Only an orchestrator that is too old for the methods above calls this one, and calls it first.
    fn deserialize_streaming(&self, _: &mut HttpResponse) -> Option<OutputOrError> {
        Some(Err(OrchestratorError::other(
            "presized_aws_sdk needs aws-smithy-runtime 1.16 or later: run `cargo update`",
        )))
    }
}

/// The error of an operation without a deserializer. The orchestrator of the SDK refuses such an
/// operation earlier.
#[derive(Debug)]
struct Missing;

impl<E> From<Missing> for OrchestratorError<E> {
    fn from(_: Missing) -> Self {
        Self::other("the operation has no response deserializer")
    }
}

/// Finds the deserializer in the layer below the layer of the interceptors.
///
/// A [`SharedResponseDeserializer`] cannot be cloned, so [`Presizing`] cannot keep the one below it.
#[derive(Debug)]
struct LayerBelow;

impl Storable for LayerBelow {
    type Storer = Self;
}

// The type of a stored value is private and has no path. This associated type names it.
type Stored = <StoreReplace<SharedResponseDeserializer> as Store>::StoredType;

impl Store for LayerBelow {
    type ReturnedType<'a> = Option<&'a SharedResponseDeserializer>;
    type StoredType = Stored;

    fn merge_iter(mut layers: ItemIter<'_, Self>) -> Self::ReturnedType<'_> {
        match layers.nth(1)? {
            Stored::Set(below) => Some(below),
            Stored::ExplicitlyUnset(_) => None,
        }
    }
}

/// Returns the parts of the head that tell the length of the body.
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
