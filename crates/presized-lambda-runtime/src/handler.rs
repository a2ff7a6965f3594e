//! The handler of invocations, and handlers made of async functions.

use std::future::Future;

use bytes::Bytes;
use futures_core::Stream;
use http::Response;
use presized::BufferPool;

use super::{Context, ErrorReport, FunctionResponse};

/// Handles invocations, each by one call.
///
/// [`raw`], [`json`](super::json), [`streaming`] and [`http_streaming`] make a handler of an async
/// function. [`service`](super::service) makes one of a tower service. Any other type can implement
/// this trait.
///
/// # Examples
///
/// ```
/// use bytes::Bytes;
/// use presized_lambda_runtime::{Context, ErrorReport, FunctionResponse, Handler};
///
/// struct Greeter {
///     greeting: String,
/// }
///
/// impl Handler for Greeter {
///     async fn call(&self, event: Bytes, _context: Context) -> Result<FunctionResponse, ErrorReport> {
///         let name = std::str::from_utf8(&event)?;
///         Ok(format!("{}, {name}!", self.greeting).into())
///     }
/// }
/// ```
pub trait Handler: Send + Sync + 'static {
    /// Handles one invocation.
    ///
    /// `event` can be a buffer of the pool, which gets it back when it is dropped. A panic fails this
    /// invocation and no other.
    ///
    /// # Errors
    ///
    /// Lambda sends the report to the caller.
    fn call(
        &self,
        event: Bytes,
        context: Context,
    ) -> impl Future<Output = Result<FunctionResponse, ErrorReport>> + Send;

    /// Sets the pool of the events, from which a handler can take the memory of its responses.
    ///
    /// The runtime calls it once, before the first invocation. A handler that wraps another should
    /// pass the pool on.
    fn set_pool(&mut self, pool: &BufferPool) {
        let _ = pool;
    }
}

/// Makes a handler of a function from bytes to bytes, or to anything that converts into a
/// [`FunctionResponse`].
///
/// # Examples
///
/// ```
/// # use presized_lambda_emulator::{Emulator, Function};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// #     // An emulator starts this program as its function.
/// #     if std::env::var_os("AWS_LAMBDA_RUNTIME_API").is_none() {
/// #         let emulator = Emulator::builder().function("f", Function::new()).start().await?;
/// #         emulator.spawn("f", std::process::Command::new(std::env::current_exe()?))?;
/// #         let client = emulator.client_builder().build()?;
/// #         let response = client.invoke("f").payload("hello").send().await?;
/// #         assert_eq!(response.payload, "hello");
/// #         return Ok(());
/// #     }
/// use std::io;
/// use bytes::Bytes;
/// use presized_lambda_runtime::{Context, raw, run};
///
/// run(raw(|event: Bytes, _: Context| async move { Ok::<_, io::Error>(event) })).await?;
/// # Ok(())
/// # }
/// ```
pub fn raw<F, Fut, R, E>(function: F) -> impl Handler
where
    F: Fn(Bytes, Context) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<R, E>> + Send,
    R: Into<FunctionResponse>,
    E: Into<ErrorReport>,
{
    Function { function, convert: |response: R| response.into() }
}

/// Makes a handler of a function that returns a stream of bytes.
///
/// Each chunk is sent as soon as the stream yields it.
///
/// # Examples
///
/// ```
/// # use presized_lambda_emulator::{Emulator, Function};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// #     // An emulator starts this program as its function.
/// #     if std::env::var_os("AWS_LAMBDA_RUNTIME_API").is_none() {
/// #         let emulator = Emulator::builder().function("f", Function::new()).start().await?;
/// #         emulator.spawn("f", std::process::Command::new(std::env::current_exe()?))?;
/// #         let client = emulator.client_builder().build()?;
/// #         let response = client.invoke("f").payload("hello").send().await?;
/// #         assert_eq!(response.payload, "hellohello");
/// #         return Ok(());
/// #     }
/// use std::io;
/// use bytes::Bytes;
/// use futures_util::stream;
/// use presized_lambda_runtime::{Context, run, streaming};
///
/// run(streaming(|event: Bytes, _: Context| async move {
///     let twice = [event.clone(), event].map(Ok::<_, io::Error>);
///     Ok::<_, io::Error>(stream::iter(twice))
/// }))
/// .await?;
/// # Ok(())
/// # }
/// ```
pub fn streaming<F, Fut, S, C, E, D>(function: F) -> impl Handler
where
    F: Fn(Bytes, Context) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<S, E>> + Send,
    S: Stream<Item = Result<C, D>> + Send + 'static,
    C: Into<Bytes>,
    E: Into<ErrorReport>,
    D: Into<ErrorReport>,
{
    Function { function, convert: |stream: S| FunctionResponse::stream(stream) }
}

/// Makes a handler of a function that returns an HTTP response with a stream of bytes as its body.
///
/// See [`FunctionResponse::http`].
///
/// # Examples
///
/// ```
/// # use presized_lambda_emulator::{Emulator, Function};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// #     // An emulator starts this program as its function.
/// #     if std::env::var_os("AWS_LAMBDA_RUNTIME_API").is_none() {
/// #         let emulator = Emulator::builder().function("f", Function::new()).start().await?;
/// #         emulator.spawn("f", std::process::Command::new(std::env::current_exe()?))?;
/// #         let client = emulator.client_builder().build()?;
/// #         let response = client.invoke("f").payload("hello").send().await?;
/// #         assert!(response.payload.ends_with(b"one,two"));
/// #         return Ok(());
/// #     }
/// use bytes::Bytes;
/// use futures_util::stream;
/// use http::Response;
/// use presized_lambda_runtime::{Context, ErrorReport, http_streaming, run};
///
/// run(http_streaming(|_event: Bytes, _: Context| async move {
///     let body = stream::iter(["one,", "two"].map(Ok::<_, ErrorReport>));
///     Response::builder().header("content-type", "text/csv").body(body)
/// }))
/// .await?;
/// # Ok(())
/// # }
/// ```
pub fn http_streaming<F, Fut, S, C, E, D>(function: F) -> impl Handler
where
    F: Fn(Bytes, Context) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<Response<S>, E>> + Send,
    S: Stream<Item = Result<C, D>> + Send + 'static,
    C: Into<Bytes>,
    E: Into<ErrorReport>,
    D: Into<ErrorReport>,
{
    Function { function, convert: |response: Response<S>| FunctionResponse::http(response) }
}

/// An async function of an event, with or without a state.
pub(super) trait Call<T>: Send + Sync + 'static {
    type Response;
    type Error: Into<ErrorReport>;

    fn call(
        &self,
        event: T,
        context: Context,
    ) -> impl Future<Output = Result<Self::Response, Self::Error>> + Send;
}

impl<T, F, Fut, R, E> Call<T> for F
where
    F: Fn(T, Context) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<R, E>> + Send,
    E: Into<ErrorReport>,
{
    type Response = R;
    type Error = E;

    fn call(&self, event: T, context: Context) -> impl Future<Output = Result<R, E>> + Send {
        self(event, context)
    }
}

/// An async function, and the conversion of its output.
pub(super) struct Function<F, I> {
    pub(super) function: F,
    pub(super) convert: I,
}

impl<F, I> Handler for Function<F, I>
where
    F: Call<Bytes>,
    I: Fn(F::Response) -> FunctionResponse + Send + Sync + 'static,
{
    async fn call(&self, event: Bytes, context: Context) -> Result<FunctionResponse, ErrorReport> {
        self.function.call(event, context).await.map(&self.convert).map_err(Into::into)
    }
}
