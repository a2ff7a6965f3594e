#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]
#![deny(missing_docs, missing_debug_implementations, unreachable_pub)]
#![doc = include_str!("../README.md")]
//!
//! # Memory of the decoders
//!
//! The decoder of reqwest reserves memory beside the content, and no limit of this crate bounds it.
//! The sender chooses its size:
//!
//! - gzip: 32 KiB.
//! - zstd: up to 128 MiB. RFC 9659 tells senders to stay within 8 MiB.
//! - brotli: its window. The decoder fills the window before the first byte comes out, and takes
//!   half as much again while the window grows. That is 24 MiB for the largest window of RFC 7932.
//!   The decoder also accepts larger windows, and then takes up to 1.5 GiB.
//!
//! # Timeouts
//!
//! The timeouts of the reqwest client also apply while a body is read. `timeout` bounds the whole
//! request, and `read_timeout` bounds the time between two reads. Both end the body with
//! [`CollectError::Body`](presized::CollectError::Body). Its source is a [`reqwest::Error`] for
//! which [`is_timeout`](reqwest::Error::is_timeout) is true.

mod response_ext;

pub use self::response_ext::ResponseExt;
