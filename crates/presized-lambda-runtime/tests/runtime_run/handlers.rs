//! The handlers: bytes, JSON, streams, HTTP responses and tower services.

use std::convert::Infallible;
use std::future::{Ready, ready};
use std::io;
use std::sync::{Arc, Mutex};
use std::task::{Context as TaskContext, Poll};

use bytes::Bytes;
use futures_util::stream;
use http::Response;
use presized_lambda_runtime::{
    Context, ErrorReport, FunctionRequest, FunctionResponse, http_streaming, json, raw, service,
    streaming,
};
use tower_service::Service;

use super::{Api, event, pairs};

#[tokio::test]
async fn bytes_are_sent_unchanged() {
    let api = Api::new([event("a", "\u{0}\u{7f}"), event("b", "")]);
    let posted = api.serve(raw(async |event: Bytes, _: Context| Ok::<_, Infallible>(event))).await;
    assert_eq!(posted, pairs(&[("a/response", "\u{0}\u{7f}"), ("b/response", "")]));
}

#[tokio::test]
async fn json_is_parsed_and_written() {
    let api = Api::new([event("a", "[1,2]"), event("b", "[]")]);
    let sum = async |numbers: Vec<u32>, context: Context| {
        Ok::<_, Infallible>((context.request_id, numbers.iter().sum::<u32>()))
    };
    let posted = api.serve(json(sum)).await;
    let posts = api.server.requests().into_iter().filter(super::is_post);
    let types: Vec<_> =
        posts.map(|post| post.header("content-type").unwrap_or_default().to_owned()).collect();
    assert_eq!(types, ["application/json"; 2]);
    assert_eq!(posted, pairs(&[("a/response", r#"["a",3]"#), ("b/response", r#"["b",0]"#)]));
}

#[tokio::test]
async fn streams_are_sent_in_chunks() {
    let api = Api::new([event("a", "xy"), event("b", "")]);
    let letters = |event: Bytes, _: Context| {
        let letters: Vec<_> = event.chunks(1).map(Bytes::copy_from_slice).collect();
        ready(Ok::<_, Infallible>(stream::iter(letters.into_iter().map(Ok::<_, io::Error>))))
    };
    let posted = api.serve(streaming(letters)).await;
    assert_eq!(posted, pairs(&[("a/response", "xy"), ("b/response", "")]));
    let request = &api.server.requests()[1];
    assert_eq!(text_of(&request.wire), "1\r\nx\r\n1\r\ny\r\n0\r\n\r\n");
    assert_eq!(request.header("lambda-runtime-function-response-mode"), Some("streaming"));
}

#[tokio::test]
async fn http_responses_have_a_prelude() {
    let api = Api::new([event("a", "xy"), event("b", "")]);
    let page = |event: Bytes, _: Context| {
        let body = stream::iter((!event.is_empty()).then_some(Ok::<_, io::Error>(event)));
        ready(Response::builder().status(201).header("set-cookie", "c=d").body(body))
    };
    let posted = api.serve(http_streaming(page)).await;
    let prelude = "{\"statusCode\":201,\"headers\":{},\"cookies\":[\"c=d\"]}\0\0\0\0\0\0\0\0";
    let expected = [("a/response", &*format!("{prelude}xy")), ("b/response", prelude)];
    assert_eq!(posted, pairs(&expected));
}

#[tokio::test]
async fn handler_can_return_bytes_and_streams() {
    let api = Api::new([event("a", "short"), event("b", "long")]);
    let either = async |event: Bytes, _: Context| {
        Ok::<_, Infallible>(match &event[..] {
            b"short" => FunctionResponse::from("whole"),
            _ => FunctionResponse::stream(stream::iter(["in ", "parts"].map(Ok::<_, Infallible>))),
        })
    };
    let posted = api.serve(raw(either)).await;
    assert_eq!(posted, pairs(&[("a/response", "whole"), ("b/response", "in parts")]));
}

/// A service that is ready at the second poll and must not be called before.
#[derive(Clone)]
struct ReadyAtSecondPoll {
    polls: u32,
}

impl Service<FunctionRequest> for ReadyAtSecondPoll {
    type Response = String;
    type Error = ErrorReport;
    type Future = Ready<Result<String, ErrorReport>>;

    fn poll_ready(&mut self, cx: &mut TaskContext<'_>) -> Poll<Result<(), ErrorReport>> {
        self.polls += 1;
        if self.polls < 2 {
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: FunctionRequest) -> Self::Future {
        assert_eq!(self.polls, 2, "called before it was ready");
        let id = &request.context.request_id;
        ready(match &request.event[..] {
            b"no" => Err(ErrorReport::new("Refused", "no")),
            _ => Ok(format!("{id} {} bytes", request.event.len())),
        })
    }
}

#[tokio::test]
async fn services_are_called_when_they_are_ready() {
    let api = Api::new([event("a", "hello"), event("b", "no"), event("c", "")]);
    let posted = api.serve(service(ReadyAtSecondPoll { polls: 0 })).await;
    let refused = r#"{"errorType":"Refused","errorMessage":"no","stackTrace":[]}"#;
    let expected = [("a/response", "a 5 bytes"), ("b/error", refused), ("c/response", "c 0 bytes")];
    assert_eq!(posted, pairs(&expected));
}

#[tokio::test]
async fn invocation_hook_is_called_before_the_handler() {
    let api = Api::new([event("a", ""), event("b", "")]);
    let calls = Arc::new(Mutex::new(Vec::new()));
    let (by_hook, by_function) = (Arc::clone(&calls), Arc::clone(&calls));
    let function = raw(move |event: Bytes, context: Context| {
        by_function.lock().unwrap().push(format!("function {}", context.request_id));
        ready(Ok::<_, Infallible>(event))
    });
    let runtime = api.runtime(function).on_invocation(move |context| {
        by_hook.lock().unwrap().push(format!("hook {}", context.request_id));
    });
    api.run(runtime).await.unwrap();
    assert_eq!(*calls.lock().unwrap(), ["hook a", "function a", "hook b", "function b"]);
}

fn text_of(wire: &[u8]) -> &str {
    std::str::from_utf8(wire).unwrap()
}
