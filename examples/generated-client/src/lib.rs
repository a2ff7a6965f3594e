#![doc = include_str!("../README.md")]

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
