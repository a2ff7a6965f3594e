//! The interceptor.

use aws_smithy_runtime_api::box_error::BoxError;
use aws_smithy_runtime_api::client::interceptors::Intercept;
use aws_smithy_runtime_api::client::interceptors::context::BeforeTransmitInterceptorContextRef;
use aws_smithy_runtime_api::client::runtime_components::RuntimeComponents;
use aws_smithy_types::config_bag::{ConfigBag, Storable, StoreReplace};
use presized::Reader;

use crate::deserializer;

/// Reads each response that the SDK collects into one buffer, within a limit.
///
/// Add it to the configuration of a client, or to one call by `.customize().interceptor(…)`. If
/// there are several, the last one counts, so the interceptor of a call overrides the one of the
/// client. Clones share pool, budget and history, and can be given to many clients. The [crate
/// documentation](crate) says what is read, copied and retried.
///
/// # Errors
///
/// The interceptor itself never fails. Operations fail with an [`Error`](crate::Error) as the
/// source of their `SdkError`.
///
/// # Cancel safety
///
/// Dropping the future of an operation frees what was reserved for its response.
///
/// # Examples
///
/// ```
/// use presized::{BufferPool, MemoryBudget, Reader};
/// use presized_aws_sdk::Interceptor;
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

/// How the responses of one operation are read.
#[derive(Clone, Debug)]
pub(crate) struct Settings(pub(crate) Reader);

impl Interceptor {
    /// Creates an interceptor. `reader` is the limit of a response in bytes, inclusive, or a
    /// [`Reader`]. The limit also applies to error responses.
    ///
    /// - **Pool:** a buffer returns to the pool when the SDK has parsed the response. If the
    ///   operation fails, the `SdkError` keeps the buffer until it is dropped.
    /// - **Budget:** it does not include the copy that the SDK makes for the output. The time that
    ///   a response waits for memory counts for the timeout of the operation, and does not count
    ///   for the protection against stalled streams.
    /// - **Minimum rate:** [`Reader::min_rate`] stops a response that is slow, and the SDK can
    ///   retry it. The time that it waits for memory does not count.
    /// - **History:** the responses of operations differ in length. Give each operation a history
    ///   of its own, with an interceptor by `.customize()`.
    /// - **Checksums:** [`checked_at_end`](Reader::checked_at_end) is always set, because the SDK
    ///   compares checksums after the last byte.
    pub fn new(reader: impl Into<Reader>) -> Self {
        Self { settings: Settings(reader.into().checked_at_end(true)) }
    }
}

impl Intercept for Interceptor {
    fn name(&self) -> &'static str {
        "presized_aws_sdk::Interceptor"
    }

    // This hook runs once for an operation. It is the first hook that knows the method and finds
    // the deserializer of the operation in the configuration.
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
