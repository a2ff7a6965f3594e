#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]
#![deny(missing_docs, missing_debug_implementations, unreachable_pub)]
#![doc = include_str!("../README.md")]

mod bytes;
mod discard;
mod json;
mod rejection;
mod text;
mod tracked;
mod upload;

pub use self::bytes::PresizedBytes;
pub use self::json::PresizedJson;
pub use self::rejection::PresizedRejection;
pub use self::text::PresizedText;
