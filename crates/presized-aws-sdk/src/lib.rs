#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]
#![deny(missing_docs, missing_debug_implementations, unreachable_pub)]
//! The clients of the AWS SDK for Rust: what they read in full goes into one buffer, within a
//! limit.
//!
//! An [`Interceptor`] is added to the configuration of any client whose crate is called
//! `aws-sdk-…`:
//!
//! ```text
//! use presized_aws_sdk::Interceptor;
//!
//! let shared = aws_config::load_defaults(aws_config::BehaviorVersion::latest()).await;
//! let config = aws_sdk_lambda::config::Builder::from(&shared)
//!     .interceptor(Interceptor::new(8 << 20))
//!     .build();
//! let client = aws_sdk_lambda::Client::from_conf(config);
//! ```
//!
//! # What it reads
//!
//! The response of every operation that the SDK itself would collect before it parses it, and
//! every error response. What the operation streams is left alone and has no limit: the body of
//! S3's `GetObject`, the events of Lambda's `InvokeWithResponseStream`.
//!
//! The body is read when all that surrounds it is in place: the protection against stalled
//! streams and the checks of lengths and checksums see every frame at the time it arrives.
//! Interceptors that look at the response after it has been read find it, with all its bytes.
//!
//! # What is copied
//!
//! Each byte once, from a frame of the transport to the one buffer, of a body whose length is
//! known (the rest is told at [`Collect`](presized::Collect)). The SDK then takes that buffer as it is.
//! Its generated code copies once more, out of it and into the output: a `Blob` and a `String` own
//! their memory. Where that has to be spared, [`payload`](presized::payload) and a client of your own
//! do.
//!
//! # What fails, and what is tried again
//!
//! A response that cannot be read is `SdkError::ResponseError`, whose source is an [`Error`].
//!
//! - The limit, the budget and the memory are of this process, and a second response would be no
//!   shorter: the SDK does not try again, unless the status is one for which it always does (500,
//!   502, 503 and 504).
//! - What fails below, such as a connection that breaks, is tried again as without the interceptor,
//!   and so is a body that ends before its declared length. The last attempt's error is kept, with
//!   the number of bytes that had arrived.
//!
//! ```
//! use std::error::Error as _;
//!
//! // Whatever operation it was that failed.
//! fn is_too_large(error: &(dyn std::error::Error + 'static)) -> bool {
//!     let mut causes = std::iter::successors(Some(error), |&error| error.source());
//!     causes.any(|cause| {
//!         let read = cause.downcast_ref::<presized_aws_sdk::Error>();
//!         read.is_some_and(|error| error.is_too_large())
//!     })
//! }
//! ```
//!
//! # Versions
//!
//! It needs Rust 1.94.1, as the crates of the SDK do, and an `aws-smithy-runtime` that gives
//! deserializers the configuration, as 1.16 does. With one that does not, operations fail with a
//! message that says so; `cargo update` brings a newer one.

mod body;
mod deserializer;

use aws_smithy_runtime_api::box_error::BoxError;
use aws_smithy_runtime_api::client::interceptors::Intercept;
use aws_smithy_runtime_api::client::interceptors::context::BeforeTransmitInterceptorContextRef;
use aws_smithy_runtime_api::client::runtime_components::RuntimeComponents;
use aws_smithy_types::config_bag::{ConfigBag, Storable, StoreReplace};

use presized::{BodyError, CollectError, Reader};

/// Gives each response that the SDK reads in full one buffer, within a limit.
///
/// See the [module](self) for what is read, copied, and tried again. Clones share pool, budget and
/// history, so one can be given to many clients.
///
/// Of several the last one counts: that of a single call, by
/// `.customize().interceptor(…)`, replaces that of the client.
///
/// # Errors
///
/// None of its own. Operations fail with an [`Error`] as their source.
///
/// # Cancel safety
///
/// Dropping the future of an operation gives back what was reserved for its response.
///
/// # Examples
///
/// ```
/// use presized_aws_sdk::Interceptor;
/// use presized::{BufferPool, MemoryBudget, Reader};
///
/// let pool = BufferPool::new(64 << 20);
/// let budget = MemoryBudget::new(256 << 20);
/// let interceptor = Interceptor::new(Reader::new(8 << 20).pool(&pool).budget(&budget));
/// # let _ = interceptor;
/// ```
#[derive(Clone, Debug)]
#[must_use = "an interceptor does nothing until a client is configured with it"]
pub struct Interceptor {
    settings: Settings,
}

/// How the responses of one execution are read.
#[derive(Clone, Debug)]
struct Settings(Reader);

impl Interceptor {
    /// Reads each response as `reader` says: the limit in bytes, inclusive, or a [`Reader`]. The
    /// limit also bounds error responses.
    ///
    /// - A buffer returns to the pool of the reader when the SDK has parsed the response. If the
    ///   call fails, the `SdkError` keeps the buffer until it is dropped.
    /// - The copy that the SDK makes for its output is not in the budget. The stalled-stream
    ///   protection does not count the time that a response waits for its share, and a timeout of
    ///   the operation does.
    /// - Operations differ in the length of their responses. Give a history to the calls of one
    ///   operation by `.customize()`.
    pub fn new(reader: impl Into<Reader>) -> Self {
        // The SDK compares checksums after the last byte.
        Self { settings: Settings(reader.into().checked_at_end(true)) }
    }
}

impl Intercept for Interceptor {
    fn name(&self) -> &'static str {
        "presized_aws_sdk::Interceptor"
    }

    // Once per execution, and the first hook that knows the method and finds the operation's
    // deserializer in the bag.
    fn read_after_serialization(
        &self,
        context: &BeforeTransmitInterceptorContextRef<'_>,
        _: &RuntimeComponents,
        cfg: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        let method = context.request().method().parse()?;
        deserializer::install(cfg, method, self.settings.clone());
        Ok(())
    }
}

impl Storable for Settings {
    type Storer = StoreReplace<Self>;
}

/// Why a response could not be read. [`CollectError::Body`] is what failed below: the transport,
/// or a check around it.
///
/// What had arrived can be taken out of one that is owned:
/// `error.into_source()?.downcast::<presized_aws_sdk::Error>()?.into_partial()`.
pub type Error = CollectError<BodyError>;
