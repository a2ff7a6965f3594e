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
