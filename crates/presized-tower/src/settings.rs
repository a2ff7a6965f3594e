//! The settings of a layer, and of one request.

use http::Extensions;
use presized::{LengthHistory, Reader};

use crate::{Delivery, ResponseLimit};

/// How the body of a response is read and delivered.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) reader: Reader,
    pub(crate) delivery: Delivery,
}

impl Settings {
    /// Returns the settings for a request with these extensions.
    pub(crate) fn for_request(&self, extensions: &Extensions) -> Self {
        let Self { mut reader, mut delivery } = self.clone();
        if let Some(&ResponseLimit(limit)) = extensions.get() {
            reader = reader.limit(limit);
        }
        if let Some(requested) = extensions.get() {
            delivery = *requested;
        }
        if let Some(history) = extensions.get::<LengthHistory>() {
            reader = reader.history(history);
        }
        Self { reader, delivery }
    }
}
