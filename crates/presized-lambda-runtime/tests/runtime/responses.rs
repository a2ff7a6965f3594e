//! Replies of the Runtime API to a response, and their outcomes.

use presized_lambda_runtime::{Error, ErrorReport, Outcome};
use presized_support::scripted::{Reply, Scripted};

use super::{
    GET_NEXT, POST_ERROR, POST_RESPONSE, accepted, client, event, in_time, next, refusal, seen,
};

/// The outcome that a test expects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Expected {
    Accepted,
    TooLarge,
    TooLate,
    Rejected,
    Fatal,
    Temporary,
}

impl Expected {
    fn of(result: &Result<Outcome, Error>) -> Self {
        match result {
            Ok(Outcome::Accepted) => Self::Accepted,
            Ok(Outcome::TooLarge(_)) => Self::TooLarge,
            Ok(Outcome::TooLate(_)) => Self::TooLate,
            Ok(Outcome::Rejected(_)) => Self::Rejected,
            Err(error) if error.is_fatal() => Self::Fatal,
            other => {
                assert!(other.is_err(), "{other:?}");
                Self::Temporary
            }
        }
    }
}

/// The statuses that the Runtime API documents, and others. After each of them the next invocation
/// comes over the same connection, and nothing but the response was posted.
const STATUSES: [(&str, &str, Expected); 12] = [
    ("202 Accepted", "", Expected::Accepted),
    ("200 OK", "", Expected::Accepted),
    ("400 Bad Request", "InvalidRequestID", Expected::Rejected),
    ("400 Bad Request", "InvalidFunctionResponseMode", Expected::Rejected),
    ("403 Forbidden", "InvalidStateTransition", Expected::Rejected),
    ("404 Not Found", "", Expected::Rejected),
    ("410 Gone", "InvokeTimeout", Expected::TooLate),
    ("413 Request Entity Too Large", "RequestEntityTooLarge", Expected::TooLarge),
    ("429 Too Many Requests", "", Expected::Rejected),
    ("500 Internal Server Error", "", Expected::Fatal),
    ("503 Service Unavailable", "", Expected::Temporary),
    ("307 Temporary Redirect", "", Expected::Temporary),
];

/// Cases: no error is posted after 413, 500 is fatal, and 410 is not.
#[tokio::test]
async fn response_is_sent_once_whatever_the_status_is() {
    for (status, error_type, expected) in STATUSES {
        let reply = refusal(status, error_type);
        let server = Scripted::in_turn([event("1"), reply, event("2")]);
        let client = client(&server);
        let outcome = in_time(next(&client).await.respond("response")).await;
        assert_eq!(Expected::of(&outcome), expected, "{status} {error_type}");
        assert_eq!(next(&client).await.event, "2", "{status}");
        assert_eq!(seen(&server), [GET_NEXT, POST_RESPONSE, GET_NEXT], "{status}");
        assert!(server.requests().iter().all(|request| request.connection == 0), "{status}");
    }
}

#[tokio::test]
async fn error_is_reported_once_whatever_the_status_is() {
    for (status, error_type, expected) in STATUSES {
        let reply = refusal(status, error_type);
        let server = Scripted::in_turn([event("1"), reply, event("2")]);
        let client = client(&server);
        let report = ErrorReport::new("Late", "m");
        let outcome = in_time(next(&client).await.fail(&report)).await;
        assert_eq!(Expected::of(&outcome), expected, "{status} {error_type}");
        assert_eq!(next(&client).await.event, "2", "{status}");
        assert_eq!(seen(&server), [GET_NEXT, POST_ERROR, GET_NEXT], "{status}");
    }
}

#[tokio::test]
async fn refusal_has_the_error_of_the_runtime_api() {
    let server = Scripted::in_turn([event("1"), refusal("410 Gone", "InvokeTimeout")]);
    let outcome = in_time(next(&client(&server)).await.respond("x")).await.unwrap();
    assert_eq!(outcome.to_string(), "response too late: InvokeTimeout (status 410): m");
    let error = outcome.as_api_error().unwrap();
    assert_eq!(error.error_type.as_deref(), Some("InvokeTimeout"));
}

#[tokio::test]
async fn refusal_with_an_unreadable_body_keeps_its_status() {
    for body in [&b""[..], b"<html>", b"{\"errorType\":5}", b"\xff", &vec![b' '; 100_000]] {
        let server = Scripted::in_turn([
            event("1"),
            Reply::response("413 Request Entity Too Large", &[], body),
            event("2"),
        ]);
        let client = client(&server);
        let outcome = in_time(next(&client).await.respond("x")).await.unwrap();
        assert_eq!(outcome.to_string(), "response too large: status 413");
        assert_eq!(next(&client).await.event, "2");
    }
}

#[tokio::test]
async fn response_can_be_any_bytes() {
    let server = Scripted::in_turn([event("1"), accepted()]);
    assert!(next(&client(&server)).await.respond(&b"\0\xff\r\n"[..]).await.unwrap().is_accepted());
    let requests = server.requests();
    assert_eq!(requests[1].body, b"\0\xff\r\n");
    assert_eq!(requests[1].header("content-type"), Some("application/octet-stream"));
    // The Runtime API refuses any value but `streaming`.
    assert_eq!(requests[1].header("lambda-runtime-function-response-mode"), None);
    let version = concat!("presized/", env!("CARGO_PKG_VERSION"));
    assert!(requests.iter().all(|request| request.header("user-agent") == Some(version)));
    assert!(requests.iter().all(|request| request.header("host").is_some()));
}

#[tokio::test]
async fn report_is_json_with_its_type_in_a_header() {
    let report = ErrorReport::new("my type", "no\nway")
        .with_stack_trace(["main.rs:1"])
        .with_xray_cause(r#"{"exceptions":[]}"#);
    let server = Scripted::in_turn([event("1"), accepted()]);
    assert!(next(&client(&server)).await.fail(&report).await.unwrap().is_accepted());
    let request = &server.requests()[1];
    assert_eq!(
        String::from_utf8_lossy(&request.body),
        r#"{"errorType":"my type","errorMessage":"no\nway","stackTrace":["main.rs:1"]}"#
    );
    assert_eq!(request.header("content-type"), Some("application/json"));
    assert_eq!(request.header("lambda-runtime-function-error-type"), Some("Function.Mytype"));
    assert_eq!(
        request.header("lambda-runtime-function-xray-error-cause"),
        Some(r#"{"exceptions":[]}"#)
    );
}

/// Case: a late response reaches another invocation that has the same request id.
#[tokio::test]
async fn invocation_id_is_echoed_if_there_is_one() {
    let ids = [("Lambda-Runtime-Aws-Request-Id", "a"), ("Lambda-Runtime-Invocation-Id", "n1")];
    let with = Reply::response("200 OK", &ids, "");
    for (invocation, expected) in [(with, Some("n1")), (event(""), None)] {
        let server = Scripted::start(move |_, request| match request.target() {
            "/2018-06-01/runtime/invocation/next" => invocation.clone(),
            _ => accepted(),
        });
        let client = client(&server);
        let chunks = futures_util::stream::empty::<Result<_, ErrorReport>>();
        assert!(next(&client).await.respond("x").await.unwrap().is_accepted());
        assert!(next(&client).await.fail(&ErrorReport::new("A", "")).await.unwrap().is_accepted());
        assert!(next(&client).await.respond_streaming(chunks).await.unwrap().is_accepted());
        let posts = server.requests();
        let posts = posts.iter().filter(|request| request.head.starts_with("POST"));
        let ids: Vec<_> = posts.map(|post| post.header("lambda-runtime-invocation-id")).collect();
        assert_eq!(ids, [expected; 3]);
    }
}
