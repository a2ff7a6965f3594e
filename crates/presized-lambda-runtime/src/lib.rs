#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]
#![deny(missing_docs, missing_debug_implementations, unreachable_pub)]
//! A function's own end of AWS Lambda: a client of the
//! [Runtime API](https://docs.aws.amazon.com/lambda/latest/dg/runtimes-api.html).
//!
//! [`run`] is all that most functions need. [`RuntimeClient`] is the low level: it hands out
//! invocations, and each of them can be answered once. Both run on tokio.
//!
//! # Examples
//!
//! ```no_run
//! use presized_lambda_runtime::{Context, Error, ErrorReport, json, run};
//!
//! async fn greet(name: String, context: Context) -> Result<String, ErrorReport> {
//!     Ok(format!("Hello, {name}! This is {}.", context.request_id))
//! }
//!
//! #[tokio::main(flavor = "current_thread")]
//! async fn main() -> Result<(), Error> {
//!     run(json(greet)).await
//! }
//! ```
//!
//! The same by hand:
//!
//! ```no_run
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! use presized_lambda_runtime::{Answered, RuntimeClient};
//!
//! let client = RuntimeClient::from_env()?;
//! loop {
//!     let (context, event, responder) = client.next().await?.into_parts();
//!     match responder.respond(event).await? {
//!         Answered::Accepted => {}
//!         other => eprintln!("{}: {other}", context.request_id),
//!     }
//! }
//! # }
//! ```

// From the top down:
//
//   run, shutdown, snap_start        the process of a function
//   worker, panics                   one invocation after the other
//   handler, json, service, answer   what is called
//   client, builder, endpoint        what invocations share
//   invocation, context, responder   one of them
//   streaming, prelude, report       what is sent
//   transport, connection            how
//   answered, error                  what comes back
mod connection;
mod context;
mod endpoint;
mod error;
mod error_report;
mod function_response;
mod handler;
mod http_prelude;
mod invocation;
mod json;
mod outcome;
mod panics;
mod responder;
mod runtime;
mod runtime_client;
mod runtime_client_builder;
mod service;
mod shutdown;
mod snap_start;
mod streaming;
mod transport;
pub mod wire;
mod worker;

pub use self::context::{Context, DeadlineExceeded};
pub use self::error::{BoxError, Error, ErrorKind};
pub use self::error_report::ErrorReport;
pub use self::function_response::Answer;
pub use self::handler::{Handler, http_streaming, raw, streaming};
pub use self::http_prelude::HttpPrelude;
pub use self::invocation::Invocation;
pub use self::json::json;
pub use self::outcome::{Answered, ApiError};
pub use self::responder::Responder;
pub use self::runtime::{Runtime, run};
pub use self::runtime_client::RuntimeClient;
pub use self::runtime_client_builder::RuntimeClientBuilder;
pub use self::service::{Request, service};
pub use self::wire::EVENT_MAX;
