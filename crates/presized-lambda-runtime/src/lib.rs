#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]
#![deny(missing_docs, missing_debug_implementations, unreachable_pub)]
// The first example of the README is a function: tests/runtime_readme runs it. The loop runs as the
// example of `RuntimeClient`.
#![doc = include_str!("../README.md")]

// From the top down:
//
//   runtime, shutdown, snap_start    the process of a function
//   extension, logging               what Lambda does for it, if asked
//   initialize, state                its start, and what its invocations borrow
//   workers, worker, panics          the loop over invocations
//   failure_log                      what the loop logs
//   handler, json, service           what the loop calls
//   http_function, batch             handlers of HTTP requests, and of records
//   text                             a string of an event
//   handler_service                  a handler for layers of tower
//   runtime_client, its builder      what returns invocations
//   invocation, responder, context   one invocation
//   streaming, http_prelude          a streamed response
//   api, transport, connection       requests to the Runtime API
//   wire, endpoint                   its format and its address
mod api;
mod api_error;
mod batch;
mod connection;
mod context;
mod endpoint;
mod error;
mod error_report;
mod extension;
mod failure_log;
mod function_config;
mod function_request;
mod function_response;
mod handler;
mod handler_service;
#[cfg(feature = "http")]
mod http_function;
mod http_prelude;
mod initialize;
mod invocation;
mod json;
#[cfg(feature = "logging")]
mod logging;
mod outcome;
mod panics;
#[cfg(all(feature = "http", any(doc, doctest)))]
pub mod porting;
mod responder;
mod runtime;
mod runtime_client;
mod runtime_client_builder;
mod service;
mod shutdown;
mod snap_start;
mod state;
mod streaming;
mod text;
mod transport;
pub mod wire;
mod worker;
mod workers;

pub use self::api_error::ApiError;
pub use self::batch::{Batch, Record, RecordSource, batch};
pub use self::context::{Context, DeadlineExceeded};
pub use self::error::{BoxError, Error, ErrorKind};
pub use self::error_report::ErrorReport;
pub use self::function_config::FunctionConfig;
pub use self::function_request::FunctionRequest;
pub use self::function_response::FunctionResponse;
pub use self::handler::{Handler, http_streaming, raw, streaming};
pub use self::handler_service::HandlerService;
#[cfg(feature = "http")]
#[cfg_attr(docsrs, doc(cfg(feature = "http")))]
pub use self::http_function::{
    HttpFunction, HttpSource, RequestBody, RequestContext, StagePath, http,
};
pub use self::http_prelude::HttpPrelude;
pub use self::initialize::run_with;
pub use self::invocation::Invocation;
pub use self::json::json;
#[cfg(feature = "logging")]
#[cfg_attr(docsrs, doc(cfg(feature = "logging")))]
pub use self::logging::init_tracing;
pub use self::outcome::Outcome;
pub use self::responder::Responder;
pub use self::runtime::{Runtime, run};
pub use self::runtime_client::RuntimeClient;
pub use self::runtime_client_builder::RuntimeClientBuilder;
pub use self::service::service;
pub use self::state::{State, StateFunction};
pub use self::wire::EVENT_MAX;
