// The first example of the README needs an environment: tests/invoke_readme runs it.
#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]
#![deny(missing_docs, missing_debug_implementations, unreachable_pub)]

// From the top down:
//
//   client, builder, call_options     the client and its settings
//   invoke, call, retry, retry_quota,
//   clock, budget_wait                one call and its attempts
//   target, endpoint, canonical,
//   sign, credentials, trace          the request
//   transport, connector, resolver,
//   proxy, tls_*, deferred_error,
//   request_body                      the connection
//   invocation, stream, frame_*,
//   error_report                      the response
//   error, *_error, causes, timeout,
//   arrived, recorder, call_report,
//   outcome                           errors and reports
//   wire                              names and limits of the API
mod arrived;
mod budget_wait;
mod builder;
mod call;
mod call_options;
mod call_report;
mod canonical;
mod causes;
mod client;
mod clock;
mod connect_error;
mod connect_error_kind;
mod connector;
mod credentials;
mod deferred_error;
mod endpoint;
mod environment;
mod error;
mod error_kind;
mod error_report;
mod event_frame;
mod frame_decoder;
mod frame_error;
mod function_error;
#[cfg(fuzzing)]
pub mod fuzzing;
mod http_version;
mod input_error;
mod invocation;
mod invocation_type;
mod invoke;
mod outcome;
mod payload_error;
mod pem_error;
mod proxy;
mod recorder;
mod request_body;
mod resolver;
mod retry;
mod retry_quota;
mod service_error;
mod sign;
mod stream;
mod streamed_function_error;
mod target;
mod timeout;
mod tls_error;
mod tls_settings;
mod trace;
mod transport;
mod user_agent_error;
pub mod wire;

pub use aws_credential_types::Credentials;
pub use aws_credential_types::provider::{self, ProvideCredentials};

pub use self::builder::ClientBuilder;
pub use self::call_report::CallReport;
pub use self::client::Client;
pub use self::connect_error_kind::ConnectErrorKind;
pub use self::error::{BoxError, Error};
pub use self::error_kind::ErrorKind;
pub use self::function_error::{FunctionError, FunctionErrorKind};
pub use self::http_version::HttpVersion;
pub use self::invocation::Invocation;
pub use self::invocation_type::InvocationType;
pub use self::invoke::Invoke;
pub use self::outcome::Outcome;
pub use self::payload_error::PayloadError;
pub use self::service_error::ServiceError;
pub use self::stream::{Completion, ResponseStream};
pub use self::streamed_function_error::StreamedFunctionError;
pub use self::timeout::{TimeoutLimit, TimeoutPhase};
pub use self::wire::RESPONSE_MAX;
