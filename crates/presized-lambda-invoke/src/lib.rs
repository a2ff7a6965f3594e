#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]
#![deny(missing_docs, missing_debug_implementations, unreachable_pub)]
//! A client of the Invoke API of AWS Lambda.
//!
//! [`Client::invoke`] is the operation
//! [`Invoke`](https://docs.aws.amazon.com/lambda/latest/api/API_Invoke.html), with the answer in
//! one buffer; [`Client::invoke_streaming`] is
//! [`InvokeWithResponseStream`](https://docs.aws.amazon.com/lambda/latest/api/API_InvokeWithResponseStream.html),
//! with the answer as it comes.
//!
//! - What may have run is sent again only [by choice](ClientBuilder::retry_after_send). An
//!   [`Error`] tells whether it [may have](Error::may_have_run).
//! - One [deadline](ClientBuilder::timeout) bounds a call with all its attempts.
//! - A function that ran and failed has answered: see [`Invocation::function_error`].
//!
//! It runs on tokio and, as the crates of AWS do that it signs and decodes with, on Rust 1.94.1 or
//! later.
//!
//! # Examples
//!
//! ```no_run
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! use presized_lambda_invoke::Client;
//!
//! let client = Client::from_env()?;
//! let answer = client.invoke("hello:live").json("world").send().await?;
//! match answer.function_error {
//!     None => println!("{}", answer.text()?),
//!     Some(error) => println!("{error}"),
//! }
//! # Ok(())
//! # }
//! ```

// From the top down:
//
//   client, builder                   what calls share
//   request, call, retry, clock       one call and its attempts
//   path, endpoint, canonical, sign,
//   credentials                       what is sent
//   transport, connector, outgoing    how
//   invocation, report, stream,
//   frames                            what comes back
//   error, service_error, observe     what is told of it
//   wire                              names and limits of the API
mod builder;
mod call;
mod canonical;
mod client;
mod clock;
mod connector;
mod credentials;
mod endpoint;
mod error;
mod frames;
mod http_version;
mod invocation;
mod invocation_type;
mod observe;
mod outgoing;
mod path;
mod report;
mod request;
mod retry;
mod service_error;
mod sign;
mod stream;
mod tls_error;
mod tls_settings;
mod transport;
pub mod wire;

pub use aws_credential_types::Credentials;
pub use aws_credential_types::provider::{self, ProvideCredentials};

pub use self::builder::ClientBuilder;
pub use self::client::Client;
pub use self::error::{BoxError, Error, ErrorKind, StreamedFunctionError};
pub use self::http_version::HttpVersion;
pub use self::invocation::{FunctionError, FunctionErrorKind, Invocation, PayloadError};
pub use self::invocation_type::InvocationType;
pub use self::observe::{CallReport, Outcome};
pub use self::request::Invoke;
pub use self::service_error::ServiceError;
pub use self::stream::{Completion, ResponseStream};

pub use self::wire::RESPONSE_MAX;
