//! Refusals by the Runtime API, and the request after them.

use std::convert::Infallible;

use bytes::Bytes;
use presized_lambda_runtime::{Context, Handler, raw};
use presized_support::scripted::{Recorded, Reply};

use super::{Api, accepted, event, path, refused};

fn echo() -> impl Handler {
    raw(async |event: Bytes, _: Context| Ok::<_, Infallible>(event))
}

/// Refuses the response to the first of two invocations.
fn refusing(status: &'static str, error_type: &'static str) -> Api {
    Api::replying([event("a", ""), event("b", "")], move |request| match path(request) {
        "a/response" => refused(status, error_type),
        _ => accepted(),
    })
}

#[tokio::test]
async fn refused_response_is_followed_by_the_next_invocation() {
    let table = [
        ("400 Bad Request", "InvalidRequestID"),
        ("403 Forbidden", "InvalidStateTransition"),
        ("410 Gone", "InvokeTimeout"),
        ("413 Request Entity Too Large", "RequestEntityTooLarge"),
        ("503 Service Unavailable", "Other"),
    ];
    for (status, error_type) in table {
        let api = refusing(status, error_type);
        api.serve(echo()).await;
        let expected =
            ["invocation/next", "a/response", "invocation/next", "b/response", "invocation/next"];
        assert_eq!(api.paths(), expected, "{status}");
    }
}

#[tokio::test]
async fn fatal_reply_to_a_response_ends_the_runtime() {
    let api = refusing("500 Internal Server Error", "Fatal");
    let error = api.run(api.runtime(echo())).await.unwrap_err();
    assert!(error.is_fatal(), "{error}");
    assert_eq!(api.paths(), ["invocation/next", "a/response"]);
}

#[tokio::test]
async fn fatal_reply_to_a_request_for_an_invocation_ends_the_runtime() {
    let fatal = || refused("500 Internal Server Error", "Fatal");
    for concurrency in [None, Some(1)] {
        let api = Api::start(concurrency, [fatal(), fatal(), event("a", "")], |_| accepted());
        let error = api.run(api.runtime(echo())).await.unwrap_err();
        assert!(error.is_fatal(), "{error}");
        assert_eq!(api.paths(), ["invocation/next"], "{concurrency:?}");
    }
}

#[tokio::test]
async fn failure_to_receive_an_invocation_ends_a_runtime_without_concurrency() {
    let table = [
        Reply::Close("".into()),
        refused("403 Forbidden", "InvalidStateTransition"),
        refused("503 Service Unavailable", "Other"),
    ];
    for reply in table {
        let api = Api::new([reply.clone(), event("a", "")]);
        let error = api.run(api.runtime(echo())).await.unwrap_err();
        assert!(!error.is_fatal(), "{error}");
        assert_eq!(api.paths(), ["invocation/next"], "{reply:?}");
    }
}

#[tokio::test]
async fn response_that_is_not_delivered_does_not_end_the_runtime() {
    let api =
        Api::replying([event("a", ""), event("b", "")], |request: &Recorded| match path(request) {
            "a/response" => Reply::Close("".into()),
            _ => accepted(),
        });
    let posted = api.serve(echo()).await;
    assert_eq!(posted.last().unwrap().0, "b/response");
    assert!(!api.paths().contains(&"a/error".to_owned()));
}

#[tokio::test]
async fn invocation_id_is_sent_with_the_response_to_its_invocation() {
    let with_id = |id, event: &str| {
        let headers =
            [("Lambda-Runtime-Aws-Request-Id", "abc"), ("Lambda-Runtime-Invocation-Id", id)];
        Reply::response("200 OK", &headers, event)
    };
    let fails = raw(async |event: Bytes, _: Context| match &event[..] {
        b"bad" => Err(std::io::Error::other("bad")),
        _ => Ok(event),
    });
    let api = Api::new([with_id("n1", ""), event("abc", ""), with_id("n2", "bad")]);
    api.serve(fails).await;
    let requests = api.server.requests();
    let posted = requests.iter().filter(|request| request.head.starts_with("POST"));
    let ids: Vec<_> = posted
        .map(|posted| (path(posted), posted.header("lambda-runtime-invocation-id")))
        .collect();
    let expected =
        [("abc/response", Some("n1")), ("abc/response", None), ("abc/error", Some("n2"))];
    assert_eq!(ids, expected);
}
