#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]
// Without a coding there is nothing to decode.
#![cfg_attr(
    not(any(feature = "gzip", feature = "deflate", feature = "brotli", feature = "zstd")),
    allow(dead_code, unused_variables)
)]
#![deny(missing_docs, missing_debug_implementations, unreachable_pub)]
#![doc = include_str!("../README.md")]

#[cfg(feature = "brotli")]
mod brotli;
mod chain;
mod coded;
mod coding;
mod codings;
mod decode;
mod decoder;
#[cfg(feature = "deflate")]
mod deflate;
mod error;
mod ext;
#[cfg(feature = "gzip")]
mod gzip;
#[cfg(any(feature = "gzip", feature = "deflate"))]
mod inflate;
#[cfg(feature = "tower")]
mod layer;
mod memory;
mod output;
#[cfg(feature = "tower")]
mod response_future;
#[cfg(feature = "tower")]
mod service;
mod stage;
#[cfg(feature = "zstd")]
mod zstd;
#[cfg(feature = "zstd")]
mod zstd_head;

pub use self::coding::Coding;
pub use self::codings::Codings;
pub use self::decode::Decode;
pub use self::decoder::Decoder;
pub use self::error::DecodeError;
pub use self::ext::DecodeExt;
#[cfg(feature = "tower")]
#[cfg_attr(docsrs, doc(cfg(feature = "tower")))]
pub use self::layer::DecodeLayer;
#[cfg(feature = "tower")]
#[cfg_attr(docsrs, doc(cfg(feature = "tower")))]
pub use self::response_future::ResponseFuture;
#[cfg(feature = "tower")]
#[cfg_attr(docsrs, doc(cfg(feature = "tower")))]
pub use self::service::DecodeService;
