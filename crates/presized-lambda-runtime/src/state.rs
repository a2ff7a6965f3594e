//! A state that the handler of all invocations borrows.

use std::future::Future;
use std::marker::PhantomData;

use bytes::Bytes;
use futures_core::Stream;
use http::Response;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::handler::{Call, Function};
use super::json::Json;
use super::{Context, ErrorReport, FunctionResponse, Handler};

/// The state of a function, which each invocation borrows.
///
/// Each method makes a handler of an async function whose first argument is a reference to the state.
/// No invocation clones the state or an `Arc` of it. The state is dropped when the runtime ends.
///
/// The function is an `async fn`, a method of the state, or an async closure such as
/// `async |state: &S, event: Bytes, context: Context| {}`. A closure cannot capture variables. Put
/// them into the state.
///
/// # Examples
///
/// ```
/// use presized_lambda_runtime::{Context, ErrorReport, State};
///
/// struct Greeter {
///     greeting: String,
/// }
///
/// impl Greeter {
///     async fn greet(&self, name: String, _context: Context) -> Result<String, ErrorReport> {
///         Ok(format!("{}, {name}!", self.greeting))
///     }
/// }
///
/// let greeter = Greeter { greeting: "Hello".to_owned() };
/// let handler = State::new(greeter).json(Greeter::greet);
/// ```
#[derive(Clone, Debug)]
#[must_use = "a state does nothing until a method makes a handler"]
pub struct State<S>(S);

/// An async function that borrows a state for `'a`.
///
/// Every function of this form implements it. The bounds of [`State`] are its only purpose.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an async function of `&{S}`, an event and a `Context`",
    note = "an async closure must name the types of its arguments and capture nothing"
)]
pub trait StateFunction<'a, S: 'a, T, R, E>:
    Fn(&'a S, T, Context) -> Self::Future + Send + Sync + 'static
{
    /// The future that the function returns.
    type Future: Future<Output = Result<R, E>> + Send;
}

impl<'a, S, T, R, E, F, Fut> StateFunction<'a, S, T, R, E> for F
where
    S: 'a,
    F: Fn(&'a S, T, Context) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<R, E>> + Send,
{
    type Future = Fut;
}

impl<S: Send + Sync + 'static> State<S> {
    /// Creates a state.
    pub fn new(state: S) -> Self {
        Self(state)
    }

    /// Makes a handler of a function whose event and response are JSON. See [`json`](super::json()).
    pub fn json<T, R, E, F>(self, function: F) -> impl Handler
    where
        F: for<'a> StateFunction<'a, S, T, R, E>,
        T: DeserializeOwned + Send + 'static,
        R: Serialize + Send + 'static,
        E: Into<ErrorReport> + Send + 'static,
    {
        Json::new(self.with(function))
    }

    /// Makes a handler of a function from bytes to bytes. See [`raw`](super::raw).
    pub fn raw<R, E, F>(self, function: F) -> impl Handler
    where
        F: for<'a> StateFunction<'a, S, Bytes, R, E>,
        R: Into<FunctionResponse> + 'static,
        E: Into<ErrorReport> + 'static,
    {
        let convert = |response: R| response.into();
        Function { function: self.with(function), convert }
    }

    /// Makes a handler of a function that returns a stream of bytes. See
    /// [`streaming`](super::streaming). The stream cannot borrow the state.
    pub fn streaming<R, C, D, E, F>(self, function: F) -> impl Handler
    where
        F: for<'a> StateFunction<'a, S, Bytes, R, E>,
        R: Stream<Item = Result<C, D>> + Send + 'static,
        C: Into<Bytes>,
        D: Into<ErrorReport>,
        E: Into<ErrorReport> + 'static,
    {
        let convert = |stream: R| FunctionResponse::stream(stream);
        Function { function: self.with(function), convert }
    }

    /// Makes a handler of a function that returns an HTTP response with a stream of bytes. See
    /// [`http_streaming`](super::http_streaming). The stream cannot borrow the state.
    pub fn http_streaming<R, C, D, E, F>(self, function: F) -> impl Handler
    where
        F: for<'a> StateFunction<'a, S, Bytes, Response<R>, E>,
        R: Stream<Item = Result<C, D>> + Send + 'static,
        C: Into<Bytes>,
        D: Into<ErrorReport>,
        E: Into<ErrorReport> + 'static,
    {
        let convert = |response: Response<R>| FunctionResponse::http(response);
        Function { function: self.with(function), convert }
    }

    fn with<R, E, F>(self, function: F) -> WithState<S, F, R, E> {
        WithState { state: self.0, function, output: PhantomData }
    }
}

/// A function and its state.
struct WithState<S, F, R, E> {
    state: S,
    function: F,
    output: PhantomData<fn() -> (R, E)>,
}

impl<S, T, R, E, F> Call<T> for WithState<S, F, R, E>
where
    S: Send + Sync + 'static,
    F: for<'a> StateFunction<'a, S, T, R, E>,
    R: 'static,
    E: Into<ErrorReport> + 'static,
{
    type Response = R;
    type Error = E;

    fn call(&self, event: T, context: Context) -> impl Future<Output = Result<R, E>> + Send {
        (self.function)(&self.state, event, context)
    }
}
