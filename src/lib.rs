#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]
#![deny(missing_docs, missing_debug_implementations, unreachable_pub)]
#![doc = include_str!("../README.md")]

// From the top down:
//
//   guide                        what to write for each client: documentation only
//   reqwest, tower, aws_sdk      adapters to the types of others
//   lambda                       clients of our own
//   ext, payload, presized       what responses and bodies are given to
//   collect, options             what is to be read, and in which form
//   collector                    the one loop
//   content_length, reserve      what it decides by: pure
//   content, partial, writer,
//   block                        where the bytes are
//   pool, budget, bank, history  what bodies share
//   collected, error,
//   body_error, json_error       what comes out

#[cfg(any(doc, doctest))]
#[doc = include_str!("guide.md")]
pub mod guide {}

#[cfg(feature = "aws-sdk")]
#[cfg_attr(docsrs, doc(cfg(feature = "aws-sdk")))]
pub mod aws_sdk;
mod bank;
mod block;
#[cfg(any(feature = "aws-sdk", feature = "tower"))]
mod body_error;
mod budget;
mod collect;
mod collected;
mod collector;
mod content;
mod content_length;
mod error;
mod ext;
mod history;
#[cfg(feature = "json")]
mod json_error;
#[cfg(any(feature = "lambda-invoke", feature = "lambda-runtime"))]
#[cfg_attr(docsrs, doc(cfg(any(feature = "lambda-invoke", feature = "lambda-runtime"))))]
pub mod lambda;
mod options;
mod partial;
pub mod payload;
mod pool;
mod presized;
#[cfg(feature = "reqwest")]
#[cfg_attr(docsrs, doc(cfg(feature = "reqwest")))]
pub mod reqwest;
mod reserve;
mod sync;
#[cfg(feature = "tower")]
#[cfg_attr(docsrs, doc(cfg(feature = "tower")))]
pub mod tower;
mod writer;

pub use self::budget::MemoryBudget;
pub use self::collect::{Collect, collect_presized};
pub use self::collected::{CollectStats, Collected, Prefix, Progress};
pub use self::content_length::{ContentLength, Mismatch};
pub use self::error::CollectError;
pub use self::ext::ResponseExt;
pub use self::history::LengthHistory;
#[cfg(feature = "json")]
#[cfg_attr(docsrs, doc(cfg(feature = "json")))]
pub use self::json_error::JsonError;
pub use self::partial::Partial;
pub use self::pool::{BufferPool, PoolStats};
pub use self::presized::Presized;
pub use self::writer::PooledWriter;
