#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]
#![deny(missing_docs, missing_debug_implementations, unreachable_pub)]
// Markdown uses the first definition of a link, and those of the README are paths in the repository.
// Cargo therefore reports the README's examples under `src/links.md`, 12 lines further down.
#![doc = include_str!("links.md")]
#![doc = include_str!("../README.md")]

mod bank;
mod block;
mod body_error;
mod budget;
mod collect;
mod collect_bytes;
mod collect_presized;
mod collected;
mod collector;
mod content;
mod content_length;
mod declared;
mod error;
mod ext;
mod history;
mod http1;
#[cfg(feature = "json")]
mod json_error;
mod lent;
mod limited;
mod min_rate;
#[cfg(all(test, loom))]
mod models;
mod options;
mod partial;
pub mod payload;
mod pool;
mod presized;
mod reader;
mod reserve;
#[cfg(feature = "stream")]
mod stream_body;
mod sync;
mod writer;

pub use self::body_error::BodyError;
pub use self::budget::MemoryBudget;
pub use self::collect::Collect;
pub use self::collect_bytes::CollectBytes;
pub use self::collect_presized::collect_presized;
pub use self::collected::{CollectStats, Collected, Prefix, Progress};
pub use self::content_length::{ContentLength, Mismatch};
pub use self::error::CollectError;
pub use self::ext::{RequestExt, ResponseExt};
pub use self::history::LengthHistory;
pub use self::http1::HTTP1_MAX_BUF_SIZE;
#[cfg(feature = "json")]
#[cfg_attr(docsrs, doc(cfg(feature = "json")))]
pub use self::json_error::JsonError;
pub use self::limited::Limited;
pub use self::min_rate::MinRate;
pub use self::partial::Partial;
pub use self::pool::{BufferPool, PoolStats};
pub use self::presized::Presized;
pub use self::reader::Reader;
#[cfg(feature = "stream")]
#[cfg_attr(docsrs, doc(cfg(feature = "stream")))]
pub use self::stream_body::StreamBody;
pub use self::writer::PooledWriter;
