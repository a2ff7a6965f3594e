//! What the Runtime API says to a question or to an answer, and what comes after that.

use std::convert::Infallible;

use bytes::Bytes;
use presized_lambda_runtime::{Context, Handler, raw};
use presized_support::scripted::{Recorded, Reply};

use super::{Api, accepted, event, path, refused};

fn echo() -> impl Handler {
    raw(async |event: Bytes, _: Context| Ok::<_, Infallible>(event))
}

/// Refuses what is posted for the first of two invocations.
fn refusing(status: &'static str, error_type: &'static str) -> Api {
    Api::answering([event("a", ""), event("b", "")], move |request| match path(request) {
        "a/response" => refused(status, error_type),
        _ => accepted(),
    })
}

#[tokio::test]
async fn refused_answer_is_followed_by_the_next_invocation() {
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
async fn answer_that_the_api_cannot_recover_from_is_the_end() {
    let api = refusing("500 Internal Server Error", "Fatal");
    let error = api.run(api.runtime(echo())).await.unwrap_err();
    assert!(error.is_fatal(), "{error}");
    assert_eq!(api.paths(), ["invocation/next", "a/response"]);
}

#[tokio::test]
async fn question_that_the_api_cannot_recover_from_is_the_end() {
    let fatal = || refused("500 Internal Server Error", "Fatal");
    for at_once in [None, Some(1)] {
        let api = Api::start(at_once, [fatal(), fatal(), event("a", "")], |_| accepted());
        let error = api.run(api.runtime(echo())).await.unwrap_err();
        assert!(error.is_fatal(), "{error}");
        assert_eq!(api.paths(), ["invocation/next"], "{at_once:?}");
    }
}

#[tokio::test]
async fn question_is_not_asked_again_where_one_is_served_at_a_time() {
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
async fn lost_answer_is_not_the_end() {
    let api = Api::answering([event("a", ""), event("b", "")], |request: &Recorded| {
        match path(request) {
            "a/response" => Reply::Close("".into()),
            _ => accepted(),
        }
    });
    let posted = api.serve(echo()).await;
    assert_eq!(posted.last().unwrap().0, "b/response");
    assert!(!api.paths().contains(&"a/error".to_owned()));
}

#[tokio::test]
async fn invocation_id_goes_back_with_the_answer_that_it_came_for() {
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
