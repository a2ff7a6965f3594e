use std::time::{Duration, Instant, SystemTime};

use bytes::Bytes;
use presized_lambda_invoke::ErrorKind;
use presized_support::scripted::{Reply, Scripted};

use super::{builder, client, ok, service_error};

#[tokio::test]
async fn temporary_service_error_is_retried() {
    for status in ["429 Too Many Requests", "500 Internal Server Error", "503 Unavailable"] {
        let error = || service_error(status, "SomeException");
        let server = Scripted::in_turn([error(), error(), ok("hello")]);
        let invocation = client(&server).invoke("f").payload("event").send().await.unwrap();
        assert_eq!((invocation.payload.as_ref(), invocation.attempts), (&b"hello"[..], 3));
        for request in server.requests() {
            assert_eq!(request.body, b"event", "{status}");
        }
    }
}

#[tokio::test]
async fn permanent_service_error_is_not_retried() {
    for (status, code) in [
        ("400 Bad Request", "InvalidRequestContentException"),
        ("403 Forbidden", "AccessDeniedException"),
        ("404 Not Found", "ResourceNotFoundException"),
        ("409 Conflict", "ResourceConflictException"),
        ("502 Bad Gateway", "EC2AccessDeniedException"),
        ("502 Bad Gateway", "InvalidZipFileException"),
        ("502 Bad Gateway", "KMSNotFoundException"),
        ("502 Bad Gateway", "InvalidRuntimeException"),
        ("409 Conflict", "CodeArtifactUserFailedException"),
        ("500 Internal Server Error", "CodeArtifactUserFailedException"),
        ("403 Forbidden", "EFSMountFailureException"),
    ] {
        let server = Scripted::in_turn([service_error(status, code), ok("hello")]);
        let error = client(&server).invoke("f").send().await.unwrap_err();
        assert_eq!(error.as_service_error().unwrap().code.as_deref(), Some(code));
        assert_eq!((error.is_transient(), error.may_have_run()), (false, false), "{code}");
        assert_eq!(server.requests().len(), 1, "{code}");
    }
}

#[tokio::test]
async fn function_that_is_not_ready_is_called_again() {
    for (status, code) in [
        ("502 Bad Gateway", "ResourceNotReadyException"),
        ("409 Conflict", "CodeArtifactUserPendingException"),
        ("500 Internal Server Error", "CodeArtifactUserPendingException"),
        ("502 Bad Gateway", "EC2ThrottledException"),
        ("409 Conflict", "SnapStartNotReadyException"),
        ("408 Request Timeout", "EFSMountTimeoutException"),
        ("502 Bad Gateway", "ENILimitReachedException"),
        ("502 Bad Gateway", "SubnetIPAddressLimitReachedException"),
    ] {
        let error = || service_error(status, code);
        let server = Scripted::in_turn([error(), ok("1")]);
        let invocation = client(&server).invoke("f").send().await.unwrap();
        assert_eq!((invocation.payload.as_ref(), invocation.attempts), (&b"1"[..], 2), "{code}");

        let server = Scripted::start(move |_, _| error());
        let error = client(&server).invoke("f").send().await.unwrap_err();
        assert_eq!((error.is_transient(), error.may_have_run()), (true, false), "{code}");
        assert_eq!(server.requests().len(), 3, "{code}");
    }
}

#[tokio::test]
async fn number_of_attempts_is_bounded() {
    for (max, sent) in [(0, 1), (1, 1), (2, 2), (5, 5)] {
        let server = Scripted::start(|_, _| service_error("503 Unavailable", "AException"));
        let client = builder(&server).max_attempts(max).build().unwrap();
        let error = client.invoke("f").send().await.unwrap_err();
        assert_eq!((error.attempts(), server.requests().len()), (sent, sent as usize));
    }
}

#[tokio::test]
async fn call_that_may_have_run_is_not_retried() {
    let half = Bytes::from_static(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf");
    for reply in [
        Reply::Close(Bytes::new()),
        Reply::Reset(Bytes::new()),
        Reply::Close(half.clone()),
        Reply::Reset(half),
        Reply::Close(Bytes::from_static(b"garbage\r\n\r\n")),
        Reply::response("500 Internal Server Error", &[], r#"{"errorType":"E"}"#),
        Reply::response("502 Bad Gateway", &[], "<html>"),
        Reply::response("502 Bad Gateway", &[], r#"{"code":"BAD_GATEWAY"}"#),
        Reply::response("503 Unavailable", &[], r#"{"message":"Service Unavailable"}"#),
        service_error("504 Gateway Timeout", "ThrottlingException"),
        service_error("503 Unavailable", "EFSIOException"),
        Reply::response("504 Gateway Timeout", &[], ""),
    ] {
        let shown = format!("{reply:?}");
        let server = Scripted::in_turn([reply, ok("hello")]);
        let error = client(&server).invoke("f").send().await.unwrap_err();
        assert!(error.may_have_run(), "{shown}: {error:?}");
        assert_eq!((error.attempts(), server.requests().len()), (1, 1), "{shown}");
    }
}

#[tokio::test]
async fn call_that_may_have_run_is_retried_by_choice() {
    for reply in [
        Reply::Close(Bytes::new()),
        Reply::Reset(Bytes::new()),
        Reply::Close(Bytes::from_static(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf")),
        Reply::response("504 Gateway Timeout", &[], ""),
    ] {
        let server = Scripted::in_turn([reply, ok("hello")]);
        let invocation = client(&server).invoke("f").retry_after_send(true).send().await.unwrap();
        assert_eq!((invocation.payload.as_ref(), invocation.attempts), (&b"hello"[..], 2));
    }
}

#[tokio::test]
async fn may_have_run_includes_earlier_attempts() {
    let server = Scripted::in_turn([
        Reply::Close(Bytes::new()),
        service_error("429 Too Many Requests", "A"),
        service_error("429 Too Many Requests", "A"),
    ]);
    let call = client(&server).invoke("f").retry_after_send(true);
    let error = call.send().await.unwrap_err();
    assert!(error.is_throttling(), "{error:?}");
    assert!(error.may_have_run(), "the first attempt may");
}

#[tokio::test]
async fn function_error_is_not_retried() {
    let failed = Reply::response("200 OK", &[("X-Amz-Function-Error", "Unhandled")], "{}");
    let server = Scripted::in_turn([failed, ok("hello")]);
    let call = client(&server).invoke("f").retry_after_send(true);
    assert!(call.send().await.unwrap().function_error.is_some());
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn response_over_the_limit_is_not_retried() {
    let server = Scripted::start(|_, _| ok("hello"));
    let call = client(&server).invoke("f").limit(4).retry_after_send(true);
    assert!(call.send().await.unwrap_err().is_too_large());
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn refused_connection_is_retried_and_cannot_have_run() {
    let server = Scripted::in_turn([]);
    let client = client(&server);
    drop(server);
    let error = client.invoke("f").send().await.unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Connect(_)), "{error:?}");
    assert_eq!((error.attempts(), error.may_have_run()), (3, false));
}

/// The server closes each connection after its response.
#[tokio::test]
async fn idle_connection_that_was_closed_fails_no_call() {
    let server = Scripted::start(|number, request| {
        let response = format!("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n{}", number % 10);
        assert_eq!(request.connection, number, "the last one was closed");
        Reply::Close(response.into())
    });
    let client = client(&server);
    for number in 0..50 {
        let invocation = client.invoke("f").send().await.unwrap();
        assert_eq!(invocation.payload, (number % 10).to_string());
        // A call at the same time as the close may have run, and is not tested here.
        while server.closed() <= number {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }
    assert_eq!(server.requests().len(), 50);
}

#[tokio::test]
async fn retry_after_is_respected() {
    let throttled =
        Reply::response("429 Too Many Requests", &[("Retry-After", "1")], r#"{"Reason":"R"}"#);
    let server = Scripted::in_turn([throttled, ok("hello")]);
    let begin = Instant::now();
    let invocation = client(&server).invoke("f").send().await.unwrap();
    assert_eq!(invocation.attempts, 2);
    assert!(begin.elapsed() >= Duration::from_secs(1));
}

#[tokio::test]
async fn wait_past_the_deadline_is_not_begun() {
    for retry_after in ["3600", "99999999999999999999", "Tue, 31 Dec 2999 23:59:59 GMT"] {
        let headers = [("Retry-After", retry_after)];
        let throttled = Reply::response("429 Too Many Requests", &headers, "");
        let server = Scripted::in_turn([throttled, ok("hello")]);
        // A wait would end at the deadline, after 20 seconds.
        let call = client(&server).invoke("f").send();
        let error = tokio::time::timeout(Duration::from_secs(10), call).await.unwrap().unwrap_err();
        assert!(error.is_throttling(), "{error:?}");
        assert_eq!(error.attempts(), 1);
    }
}

#[tokio::test]
async fn wrong_clock_is_corrected_once() {
    for ahead in [3600, -3600_i64] {
        let server = Scripted::start(move |number, _| match number {
            0 => {
                let now = SystemTime::now();
                let by = Duration::from_secs(ahead.unsigned_abs());
                let theirs = if ahead < 0 { now - by } else { now + by };
                let date = httpdate::fmt_http_date(theirs);
                let code = "InvalidSignatureException";
                let headers = [("Date", date.as_str()), ("x-amzn-ErrorType", code)];
                Reply::response("403 Forbidden", &headers, "{}")
            }
            _ => ok("hello"),
        });
        let client = client(&server);
        assert_eq!(client.invoke("f").send().await.unwrap().attempts, 2);
        assert_eq!(client.invoke("f").send().await.unwrap().attempts, 1);
        let dates: Vec<_> = server
            .requests()
            .iter()
            .map(|request| request.header("x-amz-date").unwrap().to_owned())
            .collect();
        assert_eq!(dates[0] < dates[1], ahead > 0, "{dates:?}");
        assert_ne!(dates[0][..11], dates[1][..11], "an hour between them");
        assert_eq!(dates[1][..11], dates[2][..11], "{dates:?}");
    }
}

#[tokio::test]
async fn clock_is_corrected_at_most_once_a_call() {
    let server = Scripted::start(|number, _| {
        let far = SystemTime::UNIX_EPOCH + Duration::from_secs(86_400 * 365 * number as u64);
        Reply::response("403 Forbidden", &[("Date", &httpdate::fmt_http_date(far))], "{}")
    });
    let error = client(&server).invoke("f").send().await.unwrap_err();
    assert_eq!(error.as_service_error().unwrap().status, 403);
    assert_eq!(server.requests().len(), 2);
}

#[tokio::test]
async fn unexpected_response_is_neither_followed_nor_retried() {
    let many = "X-Many: 1\r\n".repeat(200);
    let long = "x".repeat(1 << 20);
    for (head, refused) in [
        ("101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: h2c\r\n".to_owned(), true),
        ("301 Moved\r\nLocation: /elsewhere\r\nContent-Length: 0\r\n".to_owned(), true),
        ("307 Temporary\r\nLocation: /elsewhere\r\nContent-Length: 0\r\n".to_owned(), true),
        ("999 Odd\r\nContent-Length: 0\r\n".to_owned(), true),
        (format!("200 OK\r\n{many}Content-Length: 0\r\n"), false),
        (format!("200 OK\r\nX-Long: {long}\r\nContent-Length: 0\r\n"), false),
        ("200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n".to_owned(), false),
    ] {
        let shown = head.chars().take(80).collect::<String>();
        let reply = Reply::Keep(format!("HTTP/1.1 {head}\r\n").into());
        let server = Scripted::in_turn([reply, ok("hello")]);
        let error = client(&server).invoke("f").send().await.unwrap_err();
        assert_eq!(error.as_service_error().is_some(), refused, "{shown}: {error:?}");
        assert!(error.may_have_run(), "{shown}: {error:?}");
        assert_eq!((error.attempts(), server.requests().len()), (1, 1), "{shown}");
    }
}

#[tokio::test]
async fn interim_responses_are_skipped() {
    let early = "HTTP/1.1 100 Continue\r\n\r\n".repeat(1000);
    let response = format!("{early}HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello");
    let server = Scripted::in_turn([Reply::Keep(response.into()), Reply::Close(early.into())]);
    let client = client(&server);
    assert_eq!(client.invoke("f").send().await.unwrap().payload, "hello");
    let error = client.invoke("f").send().await.unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Broken(_)) && error.may_have_run(), "{error:?}");
    assert_eq!(server.requests().len(), 2);
}
