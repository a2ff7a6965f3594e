//! What a code generator emits for two operations of AWS, in the shape of a Smithy client.
//!
//! `s3` and `schemas` are generated from a model, one module for each service. The rest is the
//! runtime that every service shares. What is asked of `presized` is what the documentation of
//! `presized::payload` promises to keep.

mod config;
mod error;
pub mod rest_json;
pub mod rest_xml;
pub mod s3;
pub mod schemas;
mod transport;
mod uri;

pub use self::config::Config;
pub use self::error::{BoxError, BuildError, ErrorMetadata, ErrorResponse, SdkError};
pub use self::transport::Transport;
