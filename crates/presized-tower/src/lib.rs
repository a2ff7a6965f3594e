#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]
#![deny(missing_docs, missing_debug_implementations, unreachable_pub)]
#![doc = include_str!("../README.md")]
//!
//! # In a client
//!
//! The layer goes around the client of hyper-util:
//!
//! ```no_run
//! # async fn run() -> Result<(), Box<dyn std::error::Error>> {
//! use bytes::Bytes;
//! use http::Request;
//! use http_body_util::{BodyExt, Empty};
//! use hyper_util::{client::legacy::Client, rt::TokioExecutor};
//! use presized_tower::PresizedLayer;
//! use tower::{ServiceBuilder, ServiceExt};
//!
//! let transport = Client::builder(TokioExecutor::new()).build_http();
//! let client = ServiceBuilder::new().layer(PresizedLayer::new(6 << 20)).service(transport);
//!
//! let request = Request::get("http://localhost:8080/").body(Empty::<Bytes>::new())?;
//! let response = client.clone().oneshot(request).await?;
//! let content = response.into_body().collect().await?.to_bytes(); // copies nothing
//! # Ok(())
//! # }
//! ```
//!
//! # In a server
//!
//! The layer reads or bounds the responses of a server in the same way:
//!
//! ```
//! use axum::{Router, routing::get};
//! use presized_tower::PresizedLayer;
//!
//! let routes: Router =
//!     Router::new().route("/", get(async || "hello")).layer(PresizedLayer::new(6 << 20));
//! ```
//!
//! A server sends the head of a response before it reads the body. If the body then fails, the
//! message breaks off, and its status stays what it was.
//!
//! # With gRPC
//!
//! The layer goes around the `Channel` of tonic.
//!
//! - Trailers, and the `grpc-status` in them, follow the content.
//! - If the body fails with a
//!   [`Status`](https://docs.rs/tonic/latest/tonic/struct.Status.html), tonic finds it among the
//!   sources of the error.
//! - The limit also counts the five bytes before each message.
//! - A call with a streaming response needs [`Delivery::Streamed`]. Without it, the messages come
//!   when the response has ended.
//!
//! # With other layers
//!
//! A layer that makes a new request loses the extensions of the old one. The `FollowRedirect` of
//! tower-http does so at each redirect. Put such a layer inside of [`PresizedLayer`], which then has
//! read the extensions before.
//!
//! No field of a response head changes the limit or the delivery, because the limit protects against
//! the server that wrote this head.

mod delivery;
mod layer;
mod response_body;
mod response_future;
mod response_limit;
mod service;
mod settings;

pub use self::delivery::Delivery;
pub use self::layer::PresizedLayer;
pub use self::response_body::ResponseBody;
pub use self::response_future::ResponseFuture;
pub use self::response_limit::ResponseLimit;
pub use self::service::PresizedService;
