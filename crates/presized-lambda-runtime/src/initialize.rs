//! The initialization of a function, and the report of its failure.

use std::future::Future;

use super::panics::caught;
use super::{Error, ErrorKind, ErrorReport, Handler, Runtime, RuntimeClient};

/// Initializes a function and serves invocations with the handler that `init` returns.
///
/// Settings come from the environment, as for [`run`](super::run). A [`State`](super::State) lends a
/// handler what `init` has made. For other settings, pass the handler that
/// [`RuntimeClient::initialize`] returns to [`Runtime::new`].
///
/// # Errors
///
/// Returns [`Init`](ErrorKind::Init) if `init` fails or panics. Lambda has its type and message then.
/// See [`Runtime::run`] for all other errors.
///
/// # Examples
///
/// ```no_run
/// use presized_lambda_runtime::{BoxError, Context, Error, Handler, State, json, run_with};
///
/// struct Prices {
///     cents: Vec<u64>,
/// }
///
/// async fn init() -> Result<impl Handler, BoxError> {
///     let text = std::fs::read_to_string("prices.txt")?;
///     let cents = text.lines().map(str::parse).collect::<Result<_, _>>()?;
///     Ok(State::new(Prices { cents }).json(price))
/// }
///
/// async fn price(prices: &Prices, item: usize, _context: Context) -> Result<u64, BoxError> {
///     Ok(*prices.cents.get(item).ok_or("no such item")?)
/// }
///
/// #[tokio::main(flavor = "current_thread")]
/// async fn main() -> Result<(), Error> {
///     run_with(init).await
/// }
/// ```
pub async fn run_with<I, Fut, H, E>(init: I) -> Result<(), Error>
where
    I: FnOnce() -> Fut,
    Fut: Future<Output = Result<H, E>>,
    H: Handler,
    E: Into<ErrorReport>,
{
    let client = RuntimeClient::from_env()?;
    let handler = client.initialize(init).await?;
    Runtime::new(handler).client(client).run().await
}

impl RuntimeClient {
    /// Runs the initialization of a function, and reports its failure to Lambda.
    ///
    /// Call it before the first invocation is requested.
    ///
    /// # Errors
    ///
    /// Returns [`Init`](ErrorKind::Init) if `init` fails or panics. End the process then, with an
    /// error. An error of the report itself is only logged.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future drops that of `init`. A failure may be reported or not.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// # async fn example() -> Result<(), presized_lambda_runtime::Error> {
    /// # async fn init() -> Result<impl presized_lambda_runtime::Handler, String> {
    /// #     Ok(presized_lambda_runtime::raw(async |event: bytes::Bytes, _| Ok::<_, String>(event)))
    /// # }
    /// use presized_lambda_runtime::{Runtime, RuntimeClient};
    ///
    /// let client = RuntimeClient::from_env()?;
    /// let handler = client.initialize(init).await?;
    /// Runtime::new(handler).client(client).concurrency(4).run().await
    /// # }
    /// ```
    pub async fn initialize<I, Fut, T, E>(&self, init: I) -> Result<T, Error>
    where
        I: FnOnce() -> Fut,
        Fut: Future<Output = Result<T, E>>,
        E: Into<ErrorReport>,
    {
        let initialized = caught(async { init().await.map_err(Into::into) }).await;
        match initialized.and_then(|result| result) {
            Ok(initialized) => Ok(initialized),
            Err(report) => {
                if let Err(error) = self.init_error(&report).await {
                    let error = error.as_dyn();
                    tracing::warn!(error, "failure of the initialization was not reported");
                }
                Err(Error::new(ErrorKind::Init(report)))
            }
        }
    }
}
