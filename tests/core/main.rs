//! The tests of the core that need neither a counting allocator nor another program.
//!
//! They are one binary, because every test binary links hyper and tokio again.

mod bodies;
mod budget;
mod control;
mod crowd;
mod errors;
mod fairness;
mod forms;
mod history;
mod http1;
mod http2;
#[cfg(feature = "json")]
mod json;
mod length;
mod limit;
mod limited;
mod pool;
mod prefix;
mod presized;
mod rate;
mod reader;
mod request;
mod served;
mod trailers;
