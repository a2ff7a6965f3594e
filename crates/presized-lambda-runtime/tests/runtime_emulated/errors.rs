//! The errors that a handler can have, and what the caller gets of each.

use std::error::Error;
use std::io;
use std::pin::Pin;
use std::task::{Context as TaskContext, Poll};

use bytes::Bytes;
use futures_util::stream;
use http::Response;
use presized_lambda_invoke::ErrorKind;
use presized_lambda_runtime::{
    BoxError, Context, ErrorReport, FunctionRequest, FunctionResponse, Handler, http_streaming,
    json, raw, service, streaming,
};
use serde_json::Value;
use tower_service::Service;

use super::{NAME, attached, failure};

/// Runs a handler that fails, and asserts what its caller gets.
async fn assert_fails(handler: impl Handler, error_type: &str, message: &str) {
    let error = failure(handler).await;
    assert_eq!(error.error_type.as_deref(), Some(error_type), "{message}");
    assert_eq!(error.error_message.as_deref(), Some(message), "{error_type}");
}

fn io_error() -> io::Error {
    io::Error::other("no")
}

#[derive(Debug)]
struct Busy;

impl std::fmt::Display for Busy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("no")
    }
}

impl Error for Busy {}

/// A type that is no error and chooses what is reported.
struct Refusal;

impl From<Refusal> for ErrorReport {
    fn from(_: Refusal) -> Self {
        Self::new("Order.Refused", "no")
    }
}

#[tokio::test]
async fn every_error_is_the_error_of_a_handler() {
    macro_rules! assert_each_fails {
        ($($error:expr => $error_type:literal),* $(,)?) => {$({
            let function = async |_: Value, _: Context| Err::<(), _>($error);
            assert_fails(json(function), $error_type, "no").await;
            let function = async |_: Bytes, _: Context| Err::<Bytes, _>($error);
            assert_fails(raw(function), $error_type, "no").await;
        })*};
    }
    assert_each_fails! {
        BoxError::from("no") => "Error",
        BoxError::from(ErrorReport::new("Order.Refused", "no")) => "Order.Refused",
        BoxError::from(Busy) => "Error",
        Box::new(Busy) => "Busy",
        anyhow::anyhow!("no") => "Error",
        String::from("no") => "Error",
        "no" => "Error",
        io_error() => "Error",
        Busy => "Busy",
        ErrorReport::new("Order.Refused", "no") => "Order.Refused",
        Refusal => "Order.Refused",
    }
}

/// Makes a function that returns this error by `?` from a function with another type of error.
macro_rules! by_question_mark {
    ($($name:ident: $error_type:ty = $error:expr),* $(,)?) => {$(
        async fn $name(_: Value, _: Context) -> Result<(), ErrorReport> {
            fn fails() -> Result<(), $error_type> {
                Err($error)
            }
            fails()?;
            Ok(())
        }
    )*};
}

by_question_mark! {
    boxed: BoxError = "no".into(),
    anyhow_error: anyhow::Error = anyhow::anyhow!("no"),
    string: String = "no".to_owned(),
    literal: &'static str = "no",
    named: Busy = Busy,
    refusal: Refusal = Refusal,
}

/// A box without `Send` needs one word more.
async fn boxed_for_one_thread(_: Value, _: Context) -> Result<(), ErrorReport> {
    fn fails() -> Result<(), Box<dyn Error>> {
        Err("no")?
    }
    fails().map_err(ErrorReport::from_boxed)?;
    Ok(())
}

/// `?` from [`ErrorReport`] into other errors, which keep it.
async fn report_in_a_box(_: Value, _: Context) -> Result<(), BoxError> {
    Ok(refusal(Value::Null, Context::default()).await?)
}

async fn report_in_anyhow(_: Value, _: Context) -> anyhow::Result<()> {
    use anyhow::Context as _;
    refusal(Value::Null, Context::default()).await.context("cannot bill")
}

#[tokio::test]
async fn question_mark_converts_every_error() {
    assert_fails(json(boxed), "Error", "no").await;
    assert_fails(json(anyhow_error), "Error", "no").await;
    assert_fails(json(string), "Error", "no").await;
    assert_fails(json(literal), "Error", "no").await;
    assert_fails(json(named), "Busy", "no").await;
    assert_fails(json(refusal), "Order.Refused", "no").await;
    assert_fails(json(boxed_for_one_thread), "Error", "no").await;
    assert_fails(json(report_in_a_box), "Order.Refused", "no").await;
    let message = "cannot bill: Order.Refused: no";
    assert_fails(json(report_in_anyhow), "Order.Refused", message).await;
}

#[tokio::test]
async fn report_over_the_limit_is_cut_and_keeps_its_type() {
    let long =
        json(async |_: Value, _: Context| Err::<(), _>(ErrorReport::new("T", "x".repeat(7 << 20))));
    let error = failure(long).await;
    assert_eq!(error.error_type.as_deref(), Some("T"));
    let message = error.error_message.unwrap();
    assert!(message.starts_with("xxx") && message.ends_with("x\u{2026}"), "{}", message.len());
}

#[tokio::test]
async fn error_with_a_long_xray_cause_arrives_and_the_next_invocation_succeeds() {
    let function = async |len: usize, _: Context| match len {
        0 => Ok("good"),
        _ => Err(ErrorReport::new("T", "no").with_xray_cause(format!("\"{}\"", "x".repeat(len)))),
    };
    let (_emulator, client) = attached(json(function)).await;
    for len in [60_000, 200_000, 2_000_000] {
        let response = client.invoke(NAME).payload(len.to_string()).send().await.unwrap();
        let error = response.function_error.expect("no function error");
        assert_eq!(error.error_type.as_deref(), Some("T"), "{len} bytes");
        let response = client.invoke(NAME).payload("0").send().await.unwrap();
        assert_eq!(response.payload, r#""good""#, "after {len} bytes");
    }
}

/// A service whose error is boxed, as that of many layers is.
#[derive(Clone)]
struct Boxing;

impl Service<FunctionRequest> for Boxing {
    type Response = FunctionResponse;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<FunctionResponse, BoxError>> + Send>>;

    fn poll_ready(&mut self, _: &mut TaskContext<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: FunctionRequest) -> Self::Future {
        Box::pin(async { Err(ErrorReport::new("Order.Refused", "no").into()) })
    }
}

#[tokio::test]
async fn services_and_functions_of_streams_fail_with_every_error() {
    type Chunks = stream::Empty<Result<Bytes, BoxError>>;
    assert_fails(service(Boxing), "Order.Refused", "no").await;
    let function = async |_: Bytes, _: Context| Err::<Chunks, _>(anyhow::anyhow!("no"));
    assert_fails(streaming(function), "Error", "no").await;
    let function = async |_: Bytes, _: Context| Err::<Response<Chunks>, _>("no");
    assert_fails(http_streaming(function), "Error", "no").await;
}

#[tokio::test]
async fn items_of_streams_fail_with_every_error() {
    async fn assert_ends<E>(fail: fn() -> E, error_type: &str)
    where
        E: Into<ErrorReport> + Send + 'static,
    {
        let chunks = move |_: Bytes, _: Context| async move {
            let chunks = [Ok("begin"), Err(fail())];
            Ok::<_, BoxError>(stream::iter(chunks))
        };
        let (_emulator, client) = attached(streaming(chunks)).await;
        let stream = client.invoke_streaming(NAME).payload("0").send().await.unwrap();
        let error = stream.collect(1 << 20).await.unwrap_err();
        let ErrorKind::Function(error) = error.into_kind() else { panic!("not a function error") };
        let report: Value = serde_json::from_str(error.details.as_deref().unwrap()).unwrap();
        assert_eq!(
            (&report["errorType"], &report["errorMessage"]),
            (&error_type.into(), &"no".into())
        );
    }
    assert_ends(|| BoxError::from("no"), "Error").await;
    assert_ends(|| anyhow::anyhow!("no"), "Error").await;
    assert_ends(|| "no", "Error").await;
    assert_ends(|| String::from("no"), "Error").await;
    assert_ends(|| Busy, "Busy").await;
    assert_ends(|| Refusal, "Order.Refused").await;
}
