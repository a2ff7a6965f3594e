#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]
#![deny(missing_docs, missing_debug_implementations, unreachable_pub)]
//! A Lambda in the process of a test.
//!
//! An [`Emulator`] serves both ends of a function on the loopback interface: the Invoke API to
//! whoever calls it, and the Runtime API to whatever runs it. It needs no account, no container
//! and no network, and it [counts](Stats) what it sees.
//!
//! # How far it goes
//!
//! It frames events as the real one does, keeps to its limits and its states, and answers with its
//! errors. It does not verify signatures, validate that events are JSON, retry events, or enforce
//! memory. All versions of a function are the same, and so are all aliases; of the ARN of a
//! function only its name counts.
//!
//! # Examples
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use std::io;
//! use bytes::Bytes;
//! use presized_lambda_emulator::{Emulator, Function};
//! use presized_lambda_runtime::{Context, raw};
//!
//! async fn echo(event: Bytes, _context: Context) -> io::Result<Bytes> {
//!     Ok(event)
//! }
//!
//! let emulator = Emulator::builder().function("echo", Function::new()).start().await?;
//! emulator.attach("echo", raw(echo))?;
//! let client = emulator.client_builder().build()?;
//! let answer = client.invoke("echo").payload("hello").send().await?;
//! assert_eq!(answer.payload, "hello");
//! assert_eq!(emulator.stats("echo")?.started, 1);
//! # Ok(())
//! # }
//! ```

// From the top down:
//
//   handle, builder, function,
//   stats                           what users see
//   serve, body, reading            HTTP
//   invoke_api, call, names,
//   events, service_error           the side of callers
//   runtime_api, streaming          the side of runtimes
//   deployed, offer, answering      the calls between them
//   invocation, failure, log, ids   what a call consists of
//   state                           what is allowed: pure
//   process                         a runtime to be started
mod answering;
mod body;
mod builder;
mod call;
mod deployed;
mod events;
mod failure;
mod function;
mod handle;
mod ids;
mod invocation;
mod invoke_api;
mod log;
mod names;
mod offer;
mod process;
mod reading;
mod runtime_api;
mod serve;
mod service_error;
mod state;
mod stats;
mod streaming;

pub use self::builder::EmulatorBuilder;
pub use self::function::Function;
pub use self::handle::{Emulator, UnknownFunction};
pub use self::stats::Stats;
