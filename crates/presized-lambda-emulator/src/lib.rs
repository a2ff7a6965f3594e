#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]
#![deny(missing_docs, missing_debug_implementations, unreachable_pub)]
#![doc = include_str!("../README.md")]

// From the top down:
//
//   emulator, builder, function,
//   fault, failed_event, stats,
//   unknown_function                the public API
//   serve, connection, cut_body,
//   request_body, response_body     HTTP
//   invoke_api                      the API of callers
//   runtime_api                     the API of runtimes
//   environment, process            the runtimes that the emulator starts
//   deployed                        a function: its queue and its environments
//   outcome, failure, log_tail,
//   runtime_mode, names, ids        values that the others share
mod builder;
mod connection;
mod cut_body;
mod deployed;
mod emulator;
mod environment;
mod failed_event;
mod failure;
mod fault;
mod function;
mod ids;
mod invoke_api;
mod log_tail;
mod names;
mod outcome;
mod process;
mod request_body;
mod response_body;
mod runtime_api;
mod runtime_mode;
mod serve;
mod stats;
mod unknown_function;

pub use self::builder::EmulatorBuilder;
pub use self::emulator::Emulator;
pub use self::failed_event::FailedEvent;
pub use self::fault::Fault;
pub use self::function::Function;
pub use self::stats::Stats;
pub use self::unknown_function::UnknownFunction;
