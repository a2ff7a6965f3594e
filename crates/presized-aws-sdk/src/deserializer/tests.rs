use std::convert::Infallible;
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use aws_smithy_runtime_api::client::interceptors::context::Output;
use aws_smithy_types::config_bag::Layer;
use bytes::Bytes;
use http_body::{Body, Frame};
use http_body_util::{BodyExt, Full, StreamBody};

use presized::{CollectError, MemoryBudget, MinRate, Reader};

use super::*;
use crate::Error;

/// A deserializer like a generated one. Its output is its name and the content.
#[derive(Debug)]
struct Operation {
    name: &'static str,
    streams: bool,
}

impl DeserializeResponse for Operation {
    fn deserialize_streaming_with_config(
        &self,
        response: &mut HttpResponse,
        _: &ConfigBag,
    ) -> Option<OutputOrError> {
        self.streams.then(|| Ok(Output::erase(response.take_body())))
    }

    fn deserialize_nonstreaming_with_config(
        &self,
        response: &HttpResponse,
        _: &ConfigBag,
    ) -> OutputOrError {
        let content = response.body().bytes().unwrap();
        Ok(Output::erase(format!("{}: {}", self.name, String::from_utf8_lossy(content))))
    }
}

fn operation(name: &'static str, streams: bool) -> SharedResponseDeserializer {
    SharedResponseDeserializer::new(Operation { name, streams })
}

/// Returns a configuration as the hooks find it.
fn bag(streams: bool) -> ConfigBag {
    let mut layer = Layer::new("operation");
    layer.store_put(operation("operation", streams));
    ConfigBag::of_layers([layer])
}

fn limit(limit: u64) -> Settings {
    Settings(Reader::new(limit).checked_at_end(true))
}

fn response(fields: &[(&'static str, &'static str)], body: SdkBody) -> HttpResponse {
    let mut response = HttpResponse::new(200.try_into().unwrap(), body);
    for &(name, value) in fields {
        response.headers_mut().append(name, value);
    }
    response
}

/// Returns a body of frames without a size hint.
fn frames(frames: &[Result<&'static str, &'static str>]) -> SdkBody {
    let frames: Vec<_> = frames
        .iter()
        .map(|frame| frame.map(|data| Frame::data(Bytes::from_static(data.as_bytes()))))
        .collect();
    SdkBody::from_body_1_x(StreamBody::new(futures_util::stream::iter(frames)))
}

/// Does what the orchestrator does with a response after the hooks.
fn orchestrate(cfg: &ConfigBag, mut response: HttpResponse) -> OutputOrError {
    let deserializer = cfg.load::<SharedResponseDeserializer>().unwrap();
    if let Some(output) = deserializer.deserialize_streaming_with_config(&mut response, cfg) {
        return output;
    }
    let content = ready(response.take_body().collect()).map_err(OrchestratorError::response)?;
    *response.body_mut() = SdkBody::from(content.to_bytes());
    deserializer.deserialize_nonstreaming_with_config(&response, cfg)
}

fn ready<F: Future>(future: F) -> F::Output {
    let Poll::Ready(output) = pin!(future).poll(&mut Context::from_waker(Waker::noop())) else {
        panic!("pending, but these bodies are always ready");
    };
    output
}

#[track_caller]
fn text(output: OutputOrError) -> String {
    output.unwrap().downcast().unwrap()
}

#[test]
fn content_of_operation_that_does_not_stream_is_one_frame() {
    let mut cfg = bag(false);
    install(&mut cfg, Method::GET, limit(5));
    let mut response = response(&[], frames(&[Ok("he"), Ok("l"), Ok("lo")]));
    let deserializer = cfg.load::<SharedResponseDeserializer>().unwrap();
    let streamed = deserializer.deserialize_streaming_with_config(&mut response, &cfg);
    assert!(streamed.is_none());
    let mut body = response.take_body();
    let frame = ready(body.frame()).unwrap().unwrap().into_data().unwrap();
    assert_eq!(frame, "hello");
    assert!(ready(body.frame()).is_none());
}

#[test]
fn operation_that_streams_gets_the_original_body() {
    let mut cfg = bag(true);
    install(&mut cfg, Method::GET, limit(0));
    let output = orchestrate(&cfg, response(&[], frames(&[Ok("he"), Ok("llo")])));
    let mut body: SdkBody = output.unwrap().downcast().unwrap();
    let frame = ready(body.frame()).unwrap().unwrap().into_data().unwrap();
    assert_eq!(frame, "he");
}

#[test]
fn last_interceptor_sets_the_limit() {
    let mut cfg = bag(false);
    for bytes in [4, 3, 5] {
        install(&mut cfg, Method::GET, limit(bytes));
    }
    let output = orchestrate(&cfg, response(&[], frames(&[Ok("hello")])));
    assert_eq!(text(output), "operation: hello");
}

/// Each further read would need a share of the budget, which has room for one.
#[test]
fn several_interceptors_read_the_content_once() {
    let mut cfg = bag(false);
    let budget = MemoryBudget::new(5).fail_fast();
    for _ in 0..3 {
        install(&mut cfg, Method::GET, Settings(Reader::new(5).budget(&budget)));
    }
    let response = response(&[("content-length", "5")], frames(&[Ok("hel"), Ok("lo")]));
    assert_eq!(text(orchestrate(&cfg, response)), "operation: hello");
}

#[test]
fn deserializer_of_another_interceptor_is_still_called() {
    let mut cfg = bag(false);
    cfg.interceptor_state().store_put(operation("another", false));
    install(&mut cfg, Method::GET, limit(5));
    let output = orchestrate(&cfg, response(&[], frames(&[Ok("hello")])));
    assert_eq!(text(output), "another: hello");
}

#[test]
fn transfer_errors_are_retried_and_others_are_final() {
    const LENGTH: [(&str, &str); 1] = [("content-length", "5")];
    type Case = (&'static [(&'static str, &'static str)], SdkBody, &'static str, bool);
    let table: [Case; 6] = [
        (&[], frames(&[Ok("hel"), Ok("lo!")]), "TooLarge { limit: 5, received: 6", true),
        (
            &[("content-length", "6")],
            frames(&[Err("polled")]),
            "DeclaredTooLarge { declared: 6, limit: 5",
            true,
        ),
        (&[], SdkBody::from("hello!"), "DeclaredTooLarge { declared: 6, limit: 5", true),
        (&LENGTH, frames(&[Ok("hel")]), "Incomplete { declared: 5, received: 3", false),
        (&LENGTH, frames(&[Ok("hel"), Err("reset")]), "Body { source: BodyError(", false),
        // For example a wrong checksum.
        (&LENGTH, frames(&[Ok("hello"), Err("wrong")]), "Body { source: BodyError(", false),
    ];
    for (fields, body, expected, is_final) in table {
        let mut cfg = bag(false);
        install(&mut cfg, Method::GET, limit(5));
        let error = orchestrate(&cfg, response(fields, body)).unwrap_err();
        // The SDK retries response errors.
        assert_eq!(error.is_response_error(), !is_final, "{expected}");
        let source = std::error::Error::source(&error).unwrap();
        let read = format!("{:?}", source.downcast_ref::<Error>().unwrap());
        assert!(read.starts_with(expected), "{read} instead of {expected}");
    }
}

#[test]
fn slow_response_is_retried() {
    let body = StreamBody::new(futures_util::stream::pending::<Result<Frame<Bytes>, Infallible>>());
    let rate = MinRate::new(1, Duration::from_secs(10), |_| std::future::ready(()));
    let mut cfg = bag(false);
    install(&mut cfg, Method::GET, Settings(Reader::new(5).min_rate(rate)));
    let error = orchestrate(&cfg, response(&[], SdkBody::from_body_1_x(body))).unwrap_err();
    assert!(error.is_response_error(), "{error:?}");
    let source = std::error::Error::source(&error).unwrap();
    let read = source.downcast_ref::<Error>().unwrap();
    assert!(matches!(read, CollectError::TooSlow { received: 0, .. }), "{read:?}");
}

#[test]
fn final_error_of_one_attempt_does_not_fail_the_next() {
    let mut cfg = bag(false);
    install(&mut cfg, Method::GET, limit(5));
    let refused = orchestrate(&cfg, response(&[], SdkBody::from("hello!")));
    assert!(refused.is_err());
    assert_eq!(text(orchestrate(&cfg, response(&[], SdkBody::from("hello")))), "operation: hello");
    // Not even if the attempt ended before the error was taken.
    let deserializer = cfg.load::<SharedResponseDeserializer>().unwrap();
    let mut refused = response(&[], SdkBody::from("hello!"));
    assert!(deserializer.deserialize_streaming_with_config(&mut refused, &cfg).is_none());
    assert_eq!(ready(refused.take_body().collect()).unwrap().to_bytes(), "");
    assert_eq!(text(orchestrate(&cfg, response(&[], SdkBody::from("hello")))), "operation: hello");
}

#[test]
fn response_to_head_is_empty_whatever_it_declares() {
    let table = [(Method::HEAD, Ok("operation: ")), (Method::GET, Err(()))];
    for (method, expected) in table {
        let mut cfg = bag(false);
        install(&mut cfg, method, limit(5));
        let output = orchestrate(&cfg, response(&[("content-length", "6")], frames(&[])));
        let text = output.map(|output| output.downcast::<String>().unwrap());
        assert_eq!(text.as_deref().map_err(drop), expected);
    }
}

#[test]
fn content_with_trailers_is_read() {
    let mut cfg = bag(false);
    install(&mut cfg, Method::GET, limit(5));
    let trailers = async { Some(Ok::<_, Infallible>(http::HeaderMap::new())) };
    let body = SdkBody::from_body_1_x(Full::from("hello").with_trailers(trailers));
    assert!(body.size_hint().exact().is_some());
    assert_eq!(text(orchestrate(&cfg, response(&[], body))), "operation: hello");
}

#[test]
fn old_orchestrator_gets_an_error_that_names_the_update() {
    let mut cfg = bag(true);
    install(&mut cfg, Method::GET, limit(5));
    let deserializer = cfg.load::<SharedResponseDeserializer>().unwrap();
    #[allow(deprecated)]
    let output = deserializer.deserialize_streaming(&mut response(&[], SdkBody::empty()));
    let error = output.unwrap().unwrap_err();
    let message = std::error::Error::source(&error).unwrap().to_string();
    assert!(message.contains("cargo update"), "{message}");
}

#[test]
fn error_of_the_body_has_partial_content() {
    let mut cfg = bag(false);
    install(&mut cfg, Method::GET, limit(5));
    let deserializer = cfg.load::<SharedResponseDeserializer>().unwrap();
    let mut response = response(&[], frames(&[Ok("hel"), Err("reset")]));
    assert!(deserializer.deserialize_streaming_with_config(&mut response, &cfg).is_none());
    let error = ready(response.take_body().collect()).unwrap_err();
    let error = *error.downcast::<Error>().unwrap();
    let CollectError::Body { source, received: 3, .. } = &error else { panic!("{error}") };
    assert_eq!(std::error::Error::source(source).unwrap().to_string(), "reset");
    assert_eq!(error.into_partial(), "hel");
}
