#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]
#![deny(missing_docs, missing_debug_implementations, unreachable_pub)]
#![doc = include_str!("../README.md")]

mod response_body;
mod response_ext;

pub use self::response_body::ResponseBody;
pub use self::response_ext::ResponseExt;
