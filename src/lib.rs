#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]
#![deny(missing_docs, missing_debug_implementations, unreachable_pub)]
#![doc = include_str!("../README.md")]

// From the top down:
//
//   aws_sdk, lambda              clients, theirs and ours
//   ext, payload, presized       what responses and bodies are given to
//   collect, options             what is to be read, and in which form
//   collector                    the one loop
//   content_length, reserve      what it decides by: pure
//   content, partial, writer,
//   block                        where the bytes are
//   pool, budget, bank, history  what bodies share
//   collected, error             what comes out
#[cfg(feature = "aws-sdk")]
#[cfg_attr(docsrs, doc(cfg(feature = "aws-sdk")))]
pub mod aws_sdk;
mod bank;
mod block;
mod budget;
mod collect;
mod collected;
mod collector;
mod content;
mod content_length;
mod error;
mod ext;
mod history;
#[cfg(any(feature = "lambda-invoke", feature = "lambda-runtime"))]
#[cfg_attr(docsrs, doc(cfg(any(feature = "lambda-invoke", feature = "lambda-runtime"))))]
pub mod lambda;
mod options;
mod partial;
pub mod payload;
mod pool;
mod presized;
mod reserve;
mod sync;
mod writer;

pub use self::budget::MemoryBudget;
pub use self::collect::{Collect, collect_presized};
pub use self::collected::{CollectStats, Collected, Prefix, Progress};
pub use self::content_length::{ContentLength, Mismatch};
pub use self::error::CollectError;
pub use self::ext::ResponseExt;
pub use self::history::LengthHistory;
pub use self::partial::Partial;
pub use self::pool::{BufferPool, PoolStats};
pub use self::presized::Presized;
pub use self::writer::PooledWriter;
