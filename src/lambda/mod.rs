//! Clients of AWS Lambda, on the reader of this crate.

#[cfg(feature = "lambda-emulator")]
#[cfg_attr(docsrs, doc(cfg(feature = "lambda-emulator")))]
pub mod emulator;
#[cfg(feature = "lambda-invoke")]
#[cfg_attr(docsrs, doc(cfg(feature = "lambda-invoke")))]
pub mod invoke;
#[cfg(feature = "lambda-runtime")]
#[cfg_attr(docsrs, doc(cfg(feature = "lambda-runtime")))]
pub mod runtime;

/// An error of a type that is not part of this API: for people, and for `downcast_ref`.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;
