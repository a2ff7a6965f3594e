#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]
#![deny(missing_docs, missing_debug_implementations, unreachable_pub)]
#![doc = include_str!("../README.md")]

mod body;
mod delivery;
mod layer;
mod request_layer;
mod request_service;
mod response_future;
mod response_limit;
mod service;
mod settings;

pub use self::body::PresizedBody;
pub use self::delivery::Delivery;
pub use self::layer::PresizedLayer;
pub use self::request_layer::PresizedRequestLayer;
pub use self::request_service::PresizedRequestService;
pub use self::response_future::ResponseFuture;
pub use self::response_limit::ResponseLimit;
pub use self::service::PresizedService;
