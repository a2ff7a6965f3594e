//! The error of a response.

use presized::{BodyError, CollectError};

/// The error of reading a response: the source of the `SdkError` of an operation.
///
/// In [`CollectError::Body`] the source is an error of the transport, or of a check of the SDK around
/// it.
///
/// The bytes that had arrived can be taken out of an owned error:
/// `error.into_source()?.downcast::<presized_aws_sdk::Error>()?.into_partial()`.
pub type Error = CollectError<BodyError>;
