//! What is called for each invocation, and the async functions that can be.

use std::future::Future;

use bytes::Bytes;
use futures_core::Stream;
use http::Response;

use super::{Answer, Context, ErrorReport};
use presized::BufferPool;

/// What is called for each invocation.
///
/// [`raw`], [`json`](super::json), [`streaming`], [`http_streaming`] and
/// [`service`](super::service) make one of an async function or of a service. A type of one's own
/// can be one as well.
///
/// # Examples
///
/// ```
/// use bytes::Bytes;
/// use presized_lambda_runtime::{Answer, Context, ErrorReport, Handler};
///
/// struct Greeter {
///     greeting: String,
/// }
///
/// impl Handler for Greeter {
///     async fn call(&self, event: Bytes, _context: Context) -> Result<Answer, ErrorReport> {
///         let name = std::str::from_utf8(&event)?;
///         Ok(format!("{}, {name}!", self.greeting).into())
///     }
/// }
/// ```
pub trait Handler: Send + Sync + 'static {
    /// Answers one invocation.
    ///
    /// `event` can be memory of a pool, which has it back when it is dropped. A panic is an error
    /// of this invocation and of no other.
    ///
    /// # Errors
    ///
    /// What the caller of the function is told.
    fn call(
        &self,
        event: Bytes,
        context: Context,
    ) -> impl Future<Output = Result<Answer, ErrorReport>> + Send;

    /// Tells, before the first invocation, where the memory of events comes from, so that answers
    /// can be written to it as well. One that wraps another passes it on.
    fn set_pool(&mut self, pool: &BufferPool) {
        let _ = pool;
    }
}

/// A function from bytes to bytes, or to whatever an [`Answer`] can be made of.
///
/// # Examples
///
/// ```no_run
/// # async fn example() -> Result<(), presized_lambda_runtime::Error> {
/// use std::io;
/// use bytes::Bytes;
/// use presized_lambda_runtime::{Context, raw, run};
///
/// run(raw(|event: Bytes, _: Context| async move { Ok::<_, io::Error>(event) })).await
/// # }
/// ```
pub fn raw<F, Fut, A, E>(function: F) -> impl Handler
where
    F: Fn(Bytes, Context) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<A, E>> + Send,
    A: Into<Answer>,
    E: Into<ErrorReport>,
{
    Function { function, answer: |returned: A| returned.into() }
}

/// A function that answers with a stream of bytes, which are sent as they come.
///
/// # Examples
///
/// ```no_run
/// # async fn example() -> Result<(), presized_lambda_runtime::Error> {
/// use std::io;
/// use bytes::Bytes;
/// use futures_util::stream;
/// use presized_lambda_runtime::{Context, run, streaming};
///
/// run(streaming(|event: Bytes, _: Context| async move {
///     let twice = [event.clone(), event].map(Ok::<_, io::Error>);
///     Ok::<_, io::Error>(stream::iter(twice))
/// }))
/// .await
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
    Function { function, answer: |stream: S| Answer::stream(stream) }
}

/// A function that answers with an HTTP response whose body is a stream of bytes: see
/// [`Answer::http`].
///
/// # Examples
///
/// ```no_run
/// # async fn example() -> Result<(), presized_lambda_runtime::Error> {
/// use bytes::Bytes;
/// use futures_util::stream;
/// use http::Response;
/// use presized_lambda_runtime::{Context, ErrorReport, http_streaming, run};
///
/// run(http_streaming(|_event: Bytes, _: Context| async move {
///     let body = stream::iter(["one,", "two"].map(Ok::<_, ErrorReport>));
///     Response::builder().header("content-type", "text/csv").body(body)
/// }))
/// .await
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
    Function { function, answer: |response: Response<S>| Answer::http(response) }
}

/// An async function, and what makes an answer of what it returns.
struct Function<F, I> {
    function: F,
    answer: I,
}

impl<F, Fut, I, A, E> Handler for Function<F, I>
where
    F: Fn(Bytes, Context) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<A, E>> + Send,
    I: Fn(A) -> Answer + Send + Sync + 'static,
    E: Into<ErrorReport>,
{
    async fn call(&self, event: Bytes, context: Context) -> Result<Answer, ErrorReport> {
        (self.function)(event, context).await.map(&self.answer).map_err(Into::into)
    }
}
