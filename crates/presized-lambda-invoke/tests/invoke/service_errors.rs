use std::time::Duration;

use bytes::Bytes;
use presized_lambda_invoke::ErrorKind;
use presized_support::scripted::{Reply, Scripted};

use super::{builder, client};

#[tokio::test]
async fn service_error_has_code_message_and_request_id() {
    let headers = [
        ("x-amzn-ErrorType", "ResourceNotFoundException:http://internal.amazon.com/"),
        ("x-amzn-RequestId", "r-1"),
    ];
    let body = r#"{"Type":"User","Message":"Function not found: f"}"#;
    let server = Scripted::in_turn([Reply::response("404 Not Found", &headers, body)]);
    let error = client(&server).invoke("f").send().await.unwrap_err();
    assert_eq!((error.attempts(), error.may_have_run()), (1, false));
    assert_eq!(error.request_id(), Some("r-1"));
    assert_eq!(
        error.to_string(),
        "ResourceNotFoundException (status 404, request r-1): Function not found: f"
    );
    let service = error.as_service_error().unwrap();
    assert_eq!(service.status, 404);
    assert_eq!(service.code.as_deref(), Some("ResourceNotFoundException"));
    assert_eq!(service.message.as_deref(), Some("Function not found: f"));
    assert_eq!(service.body, body);
}

#[tokio::test]
async fn payload_over_the_limit_of_lambda_is_not_retried() {
    let server = Scripted::in_turn([Reply::Keep(Bytes::from_static(
        b"HTTP/1.1 413 Request Entity Too Large\r\n\
          x-amzn-ErrorType: RequestEntityTooLargeException\r\n\
          Content-Length: 28\r\n\r\n{\"Type\":\"User\",\"message\":\"\"}",
    ))]);
    let error = client(&server).invoke("f").send().await.unwrap_err();
    let service = error.as_service_error().unwrap();
    assert_eq!(service.status, 413);
    assert_eq!(service.code.as_deref(), Some("RequestEntityTooLargeException"));
    assert!(!error.is_throttling() && !error.may_have_run());
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn throttling_error_has_a_reason() {
    let headers = [("x-amzn-ErrorType", "TooManyRequestsException"), ("Retry-After", "0")];
    let body = r#"{"Reason":"ConcurrentInvocationLimitExceeded","message":"Rate Exceeded."}"#;
    let server =
        Scripted::start(move |_, _| Reply::response("429 Too Many Requests", &headers, body));
    let error = client(&server).invoke("f").send().await.unwrap_err();
    assert!(error.is_throttling() && !error.may_have_run(), "{error:?}");
    assert_eq!(error.attempts(), 3);
    let service = error.as_service_error().unwrap();
    assert_eq!(service.reason.as_deref(), Some("ConcurrentInvocationLimitExceeded"));
    assert_eq!(service.retry_after, Some(Duration::ZERO));
}

#[tokio::test]
async fn status_is_reported_if_the_error_body_cannot_be_read() {
    let cut = b"HTTP/1.1 403 Forbidden\r\nContent-Length: 99\r\n\r\n{\"message\":\"half";
    let endless = b"HTTP/1.1 403 Forbidden\r\nContent-Length: 99999999999\r\n\r\n";
    let page = "<html>".repeat(100_000);
    for reply in [
        Reply::Close(Bytes::from_static(cut)),
        Reply::Reset(Bytes::from_static(cut)),
        Reply::Close(Bytes::from([&endless[..], &vec![b'x'; 1 << 20]].concat())),
        Reply::response("403 Forbidden", &[], &page),
        Reply::response("403 Forbidden", &[], b"\xff\xfe"),
        Reply::response("403 Forbidden", &[("x-amzn-ErrorType", "")], "[]"),
    ] {
        let server = Scripted::in_turn([reply]);
        let error = client(&server).invoke("f").send().await.unwrap_err();
        let service = error.as_service_error().expect("a service error");
        assert_eq!(service.status, 403);
        assert_eq!((service.code.as_deref(), service.message.as_deref()), (None, None));
        assert!(service.body.len() <= 64 << 10, "{}", service.body.len());
    }
}

#[tokio::test]
async fn limit_applies_to_error_bodies() {
    let server =
        Scripted::start(|_, _| Reply::response("400 Bad Request", &[], r#"{"message":"long"}"#));
    let client = builder(&server).reader(5).build().unwrap();
    let error = client.invoke("f").send().await.unwrap_err();
    let service = error.as_service_error().unwrap();
    assert_eq!((service.status.as_u16(), &service.body[..]), (400, &b"{\"mes"[..]));
}

#[tokio::test]
async fn stalled_error_body_ends_at_the_deadline_and_keeps_what_came() {
    let head = b"HTTP/1.1 404 Not Found\r\nx-amzn-ErrorType: X\r\nContent-Length: 9\r\n\r\nbroken";
    let server = Scripted::start(move |_, _| Reply::Hang(Bytes::from_static(head)));
    // Long enough for the head to arrive on a busy machine.
    let call = client(&server).invoke("f").timeout(Duration::from_millis(500));
    let error = call.send().await.unwrap_err();
    let service = error.as_service_error().unwrap();
    assert_eq!((service.code.as_deref(), &service.body[..]), (Some("X"), &b"broken"[..]));
    assert!(!error.may_have_run());
}

#[tokio::test]
async fn redirect_is_not_followed() {
    let elsewhere = Scripted::in_turn([]);
    let location = elsewhere.url();
    let server = Scripted::start(move |_, _| {
        Reply::response("307 Temporary Redirect", &[("Location", &location)], "")
    });
    let error = client(&server).invoke("f").send().await.unwrap_err();
    assert_eq!(error.as_service_error().unwrap().status, 307);
    assert_eq!(elsewhere.requests().len(), 0);
}

#[tokio::test]
async fn invalid_http_is_a_broken_response() {
    for response in [
        &b"SSH-2.0-OpenSSH_9.2\r\n"[..],
        b"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
        b"HTTP/1.1 999999 OK\r\n\r\n",
        b"",
    ] {
        let server = Scripted::in_turn([Reply::Close(Bytes::from_static(response))]);
        let error = client(&server).invoke("f").send().await.unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Broken(_)), "{response:?}: {error:?}");
        assert!(error.may_have_run());
        assert_eq!(server.requests().len(), 1);
    }
}
