#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]
#![deny(missing_docs, missing_debug_implementations, unreachable_pub)]
#![doc = include_str!("../README.md")]

mod deserializer;
mod error;
mod final_error;
mod interceptor;
mod response_body;

pub use self::error::Error;
pub use self::interceptor::Interceptor;
