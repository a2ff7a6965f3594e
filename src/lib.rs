#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]
#![deny(missing_docs, missing_debug_implementations, unreachable_pub)]
#![doc = include_str!("../README.md")]

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
pub mod payload;
mod pool;
mod presized;
mod reserve;
mod sync;

pub use self::budget::MemoryBudget;
pub use self::collect::{Collect, Mismatch, collect_presized};
pub use self::collected::{CollectStats, Collected, Prefix, Progress};
pub use self::content::Partial;
pub use self::content_length::ContentLength;
pub use self::error::CollectError;
pub use self::ext::ResponseExt;
pub use self::history::LengthHistory;
pub use self::pool::{BufferPool, PoolStats};
pub use self::presized::Presized;
