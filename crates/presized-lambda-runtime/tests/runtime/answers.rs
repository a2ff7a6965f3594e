//! What the Runtime API says to an answer, and what becomes of that.

use presized_lambda_runtime::{Answered, Error, ErrorReport};
use presized_support::scripted::{Reply, Scripted};

use super::{
    GET_NEXT, POST_ERROR, POST_RESPONSE, accepted, client, event, in_time, next, refusal, seen,
};

/// What a test expects of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Expected {
    Accepted,
    TooLarge,
    TooLate,
    Rejected,
    Fatal,
    Passing,
}

impl Expected {
    fn of(result: &Result<Answered, Error>) -> Self {
        match result {
            Ok(Answered::Accepted) => Self::Accepted,
            Ok(Answered::TooLarge(_)) => Self::TooLarge,
            Ok(Answered::TooLate(_)) => Self::TooLate,
            Ok(Answered::Rejected(_)) => Self::Rejected,
            Err(error) if error.is_fatal() => Self::Fatal,
            other => {
                assert!(other.is_err(), "{other:?}");
                Self::Passing
            }
        }
    }
}

/// The table of the API, and what is not in it. After each of them but the fatal one the next
/// invocation is there, over the same connection, and nothing was sent beside the answer.
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
    ("503 Service Unavailable", "", Expected::Passing),
    ("307 Temporary Redirect", "", Expected::Passing),
];

/// Cases: 413 must not be followed by an error of the same invocation, 500 ends the process, an
/// answer that comes too late is passed over.
#[tokio::test]
async fn an_answer_is_sent_once_whatever_is_said_to_it() {
    for (status, error_type, expected) in STATUSES {
        let said = refusal(status, error_type);
        let server = Scripted::in_turn([event("1"), said, event("2")]);
        let client = client(&server);
        let answered = in_time(next(&client).await.respond("answer")).await;
        assert_eq!(Expected::of(&answered), expected, "{status} {error_type}");
        assert_eq!(next(&client).await.event, "2", "{status}");
        assert_eq!(seen(&server), [GET_NEXT, POST_RESPONSE, GET_NEXT], "{status}");
        assert!(server.requests().iter().all(|request| request.connection == 0), "{status}");
    }
}

#[tokio::test]
async fn an_error_is_reported_once_whatever_is_said_to_it() {
    for (status, error_type, expected) in STATUSES {
        let said = refusal(status, error_type);
        let server = Scripted::in_turn([event("1"), said, event("2")]);
        let client = client(&server);
        let report = ErrorReport::new("Late", "m");
        let answered = in_time(next(&client).await.fail(&report)).await;
        assert_eq!(Expected::of(&answered), expected, "{status} {error_type}");
        assert_eq!(next(&client).await.event, "2", "{status}");
        assert_eq!(seen(&server), [GET_NEXT, POST_ERROR, GET_NEXT], "{status}");
    }
}

#[tokio::test]
async fn a_refusal_says_why() {
    let server = Scripted::in_turn([event("1"), refusal("410 Gone", "InvokeTimeout")]);
    let answered = in_time(next(&client(&server)).await.respond("x")).await.unwrap();
    assert_eq!(answered.to_string(), "answer too late: InvokeTimeout (status 410): m");
    let error = answered.as_api_error().unwrap();
    assert_eq!(error.error_type.as_deref(), Some("InvokeTimeout"));
}

#[tokio::test]
async fn a_refusal_counts_though_its_body_cannot_be_read() {
    for body in [&b""[..], b"<html>", b"{\"errorType\":5}", b"\xff", &vec![b' '; 100_000]] {
        let server = Scripted::in_turn([
            event("1"),
            Reply::response("413 Request Entity Too Large", &[], body),
            event("2"),
        ]);
        let client = client(&server);
        let answered = in_time(next(&client).await.respond("x")).await.unwrap();
        assert_eq!(answered.to_string(), "answer too large: status 413");
        assert_eq!(next(&client).await.event, "2");
    }
}

#[tokio::test]
async fn an_answer_is_any_bytes() {
    let server = Scripted::in_turn([event("1"), accepted()]);
    assert!(next(&client(&server)).await.respond(&b"\0\xff\r\n"[..]).await.unwrap().is_accepted());
    let requests = server.requests();
    assert_eq!(requests[1].body, b"\0\xff\r\n");
    assert_eq!(requests[1].header("content-type"), Some("application/octet-stream"));
    // Anything but `streaming` in it is refused.
    assert_eq!(requests[1].header("lambda-runtime-function-response-mode"), None);
    let version = concat!("presized/", env!("CARGO_PKG_VERSION"));
    assert!(requests.iter().all(|request| request.header("user-agent") == Some(version)));
    assert!(requests.iter().all(|request| request.header("host").is_some()));
}

#[tokio::test]
async fn a_report_is_json_and_its_type_a_header() {
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

/// Case: an answer that is late reaches the invocation that has the request id by now.
#[tokio::test]
async fn an_invocation_id_is_echoed_where_there_is_one() {
    let ids = [("Lambda-Runtime-Aws-Request-Id", "a"), ("Lambda-Runtime-Invocation-Id", "n1")];
    let with = Reply::response("200 OK", &ids, "");
    for (invocation, expected) in [(with, Some("n1")), (event(""), None)] {
        let server = Scripted::start(move |_, request| match request.target() {
            "/2018-06-01/runtime/invocation/next" => invocation.clone(),
            _ => accepted(),
        });
        let client = client(&server);
        let pieces = futures_util::stream::empty::<Result<_, ErrorReport>>();
        assert!(next(&client).await.respond("x").await.unwrap().is_accepted());
        assert!(next(&client).await.fail(&ErrorReport::new("A", "")).await.unwrap().is_accepted());
        assert!(next(&client).await.respond_streaming(pieces).await.unwrap().is_accepted());
        let posts = server.requests();
        let posts = posts.iter().filter(|request| request.head.starts_with("POST"));
        let ids: Vec<_> = posts.map(|post| post.header("lambda-runtime-invocation-id")).collect();
        assert_eq!(ids, [expected; 3]);
    }
}
