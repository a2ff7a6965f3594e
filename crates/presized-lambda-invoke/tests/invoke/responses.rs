use bytes::Bytes;
use presized::{BufferPool, MemoryBudget, Reader};
use presized_lambda_invoke::{
    ErrorKind, FunctionErrorKind, InvocationType, PayloadError, RESPONSE_MAX,
};
use presized_support::scripted::{Reply, Scripted};
use serde::Deserialize;

use super::{builder, client, ok};

#[tokio::test]
async fn response_is_returned_with_its_headers() {
    let headers = [
        ("x-amzn-RequestId", "r-1"),
        ("X-Amz-Executed-Version", "7"),
        ("X-Amz-Durable-Execution-Arn", "arn:aws:lambda:us-east-1:1:function:f:1/durable/x"),
        // The end of "…ärger", which begins within a UTF-8 character.
        ("X-Amz-Log-Result", "pHJnZXI="),
    ];
    let server = Scripted::in_turn([Reply::response("200 OK", &headers, r#"{"a":[1,2]}"#)]);
    let invocation = client(&server).invoke("f").send().await.unwrap();
    assert_eq!(invocation.status, 200);
    assert_eq!(invocation.payload, r#"{"a":[1,2]}"#);
    assert_eq!(invocation.function_error, None);
    assert_eq!(invocation.executed_version.as_deref(), Some("7"));
    assert_eq!(invocation.request_id.as_deref(), Some("r-1"));
    assert_eq!(
        invocation.durable_execution_arn.as_deref(),
        Some("arn:aws:lambda:us-east-1:1:function:f:1/durable/x")
    );
    assert_eq!(invocation.log_tail.as_deref(), Some(&b"\xa4rger"[..]));
    assert_eq!(invocation.log_text().as_deref(), Some("\u{fffd}rger"));
    assert_eq!(invocation.attempts, 1);
}

#[tokio::test]
async fn log_tail_that_is_not_base64_is_ignored() {
    let headers = [("X-Amz-Log-Result", "%%%")];
    let server = Scripted::in_turn([Reply::response("200 OK", &headers, "answer")]);
    let invocation = client(&server).invoke("f").send().await.unwrap();
    assert_eq!((invocation.payload.as_ref(), invocation.log_tail), (&b"answer"[..], None));
}

#[tokio::test]
async fn json_and_text_borrow_from_payload() {
    #[derive(Deserialize)]
    struct Greeting<'a> {
        hello: &'a str,
    }

    let server = Scripted::in_turn([ok(r#"{"hello":"world"}"#)]);
    let invocation = client(&server).invoke("f").send().await.unwrap();
    let payload = invocation.payload.as_ptr_range();
    let greeting: Greeting = invocation.json().unwrap();
    assert_eq!(greeting.hello, "world");
    assert!(payload.contains(&greeting.hello.as_ptr()));
    assert_eq!(invocation.text().unwrap().as_bytes().as_ptr_range(), payload);
}

#[tokio::test]
async fn payload_that_is_not_json_or_text_is_an_error() {
    let server = Scripted::in_turn([ok(""), ok(b"\xff"), ok("{")]);
    let client = client(&server);
    for _ in 0..3 {
        let invocation = client.invoke("f").send().await.unwrap();
        let json = invocation.json::<serde_json::Value>();
        assert!(matches!(json, Err(PayloadError::Json(_))), "{json:?}");
        if invocation.payload == b"\xff"[..] {
            assert!(matches!(invocation.text(), Err(PayloadError::Utf8(_))));
        }
    }
}

/// A function error has status 200.
#[tokio::test]
async fn function_error_is_neither_a_payload_nor_an_error_of_the_call() {
    let server = Scripted::in_turn([Reply::Keep(Bytes::from_static(
        b"HTTP/1.1 200 OK\r\nX-Amz-Function-Error: Unhandled\r\n\
          X-Amz-Executed-Version: $LATEST\r\nx-amzn-RequestId: r-1\r\nX-Amz-Log-Result: bG9n\r\n\
          Content-Length: 20\r\n\r\n{\"errorMessage\":\"x\"}",
    ))]);
    let invocation = client(&server).invoke("f").send().await.unwrap();
    assert_eq!(invocation.executed_version.as_deref(), Some("$LATEST"));
    assert!(matches!(invocation.text(), Err(PayloadError::Function(_))));
    assert!(matches!(invocation.json::<serde_json::Value>(), Err(PayloadError::Function(_))));
    let error = invocation.into_result().unwrap_err();
    assert_eq!(error.kind, FunctionErrorKind::Unhandled);
    assert_eq!(error.error_message.as_deref(), Some("x"));
    assert_eq!(error.payload, r#"{"errorMessage":"x"}"#);
    assert_eq!(error.request_id.as_deref(), Some("r-1"));
    assert_eq!(error.executed_version.as_deref(), Some("$LATEST"));
    assert_eq!(error.log_tail.as_deref(), Some(&b"log"[..]));
    let debug = format!("{error:?}");
    assert!(debug.contains(r#"log_tail: Some("3 bytes")"#), "{debug}");
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn function_error_of_each_runtime_is_parsed() {
    for (header, body, kind, error_type, message, trace) in [
        (
            "Unhandled",
            r#"{"errorType":"ValueError","errorMessage":"bad","requestId":"r",
               "stackTrace":["  File \"a.py\"","  raise"]}"#,
            FunctionErrorKind::Unhandled,
            Some("ValueError"),
            Some("bad"),
            &["  File \"a.py\"", "  raise"][..],
        ),
        (
            "Handled",
            r#"{"errorType":"E","errorMessage":"m","trace":["E: m","at f"]}"#,
            FunctionErrorKind::Handled,
            Some("E"),
            Some("m"),
            &["E: m", "at f"],
        ),
        (
            "Unhandled",
            r#"{"errorType":"E","errorMessage":null,"stackTrace":"a\nb"}"#,
            FunctionErrorKind::Unhandled,
            Some("E"),
            None,
            &["a", "b"],
        ),
        (
            "Unhandled",
            r#"{"errorMessage":{"code":5},"stackTrace":[{"line":1},"f"]}"#,
            FunctionErrorKind::Unhandled,
            None,
            Some(r#"{"code":5}"#),
            &[r#"{"line":1}"#, "f"],
        ),
        ("Odd", "no json", FunctionErrorKind::Other("Odd".to_owned()), None, None, &[]),
        ("Unhandled", "", FunctionErrorKind::Unhandled, None, None, &[]),
    ] {
        let headers = [("X-Amz-Function-Error", header)];
        let server = Scripted::in_turn([Reply::response("200 OK", &headers, body)]);
        let invocation = client(&server).invoke("f").send().await.unwrap();
        let error = invocation.function_error.expect("a function error");
        assert_eq!(error.kind, kind, "{body}");
        assert_eq!(error.error_type.as_deref(), error_type, "{body}");
        assert_eq!(error.error_message.as_deref(), message, "{body}");
        assert_eq!(error.stack_trace, trace, "{body}");
        assert_eq!(error.payload, body);
    }
}

#[tokio::test]
async fn function_error_header_that_is_not_text_is_a_function_error() {
    let server = Scripted::in_turn([Reply::Keep(Bytes::from_static(
        b"HTTP/1.1 200 OK\r\nX-Amz-Function-Error: Unhandled\xff\r\nContent-Length: 2\r\n\r\n{}",
    ))]);
    let invocation = client(&server).invoke("f").send().await.unwrap();
    let kind = invocation.into_result().unwrap_err().kind;
    assert_eq!(kind, FunctionErrorKind::Other("Unhandled\u{fffd}".to_owned()));
}

/// Status 202 and 204 have no content.
#[tokio::test]
async fn queued_event_and_dry_run_have_no_payload() {
    let server = Scripted::in_turn([
        Reply::Keep(Bytes::from_static(b"HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n")),
        Reply::Keep(Bytes::from_static(b"HTTP/1.1 204 No Content\r\n\r\n")),
    ]);
    let client = client(&server);
    for (invocation_type, status) in [(InvocationType::Event, 202), (InvocationType::DryRun, 204)] {
        let call = client.invoke("f").invocation_type(invocation_type);
        let invocation = call.send().await.unwrap();
        assert_eq!(invocation.status, status);
        assert_eq!(invocation.payload, "");
        assert!(invocation.function_error.is_none());
    }
    // Both calls used one connection.
    assert_eq!(server.requests().last().map(|request| request.connection), Some(0));
}

#[tokio::test]
async fn response_without_a_length_is_read_to_its_end() {
    let server = Scripted::in_turn([
        Reply::Keep(Bytes::from_static(
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
        )),
        Reply::Close(Bytes::from_static(b"HTTP/1.1 200 OK\r\n\r\nhello")),
    ]);
    let client = client(&server);
    for _ in 0..2 {
        assert_eq!(client.invoke("f").send().await.unwrap().payload, "hello");
    }
}

#[tokio::test]
async fn limit_is_inclusive() {
    let server = Scripted::start(|_, _| ok("hello"));
    let client = builder(&server).reader(4).build().unwrap();
    let error = client.invoke("f").send().await.unwrap_err();
    assert!(error.is_too_large() && error.may_have_run(), "{error:?}");
    assert_eq!(error.attempts(), 1);
    assert_eq!(error.to_string(), "response is too large; the function may have run");
    let source = std::error::Error::source(&error).unwrap();
    assert_eq!(source.to_string(), "body declares 5 bytes, over the limit of 4 bytes");
    let invocation = client.invoke("f").limit(5).send().await.unwrap();
    assert_eq!(invocation.payload, "hello");
}

#[tokio::test]
async fn default_limit_is_the_limit_of_lambda() {
    const LONGEST: usize = 6 * 1024 * 1024 + 100;
    let server = Scripted::start(|number, _| ok(vec![b'x'; LONGEST + number]));
    let client = client(&server);
    assert_eq!(client.invoke("f").send().await.unwrap().payload.len(), LONGEST);
    assert!(client.invoke("f").send().await.unwrap_err().is_too_large());
}

#[tokio::test]
async fn error_returns_the_bytes_that_had_arrived() {
    let server = Scripted::in_turn([
        Reply::Close(Bytes::from_static(b"HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n12345")),
        Reply::Keep(Bytes::from_static(
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n8\r\n12345678\r\n0\r\n\r\n",
        )),
    ]);
    let client = builder(&server).reader(5).build().unwrap();
    let call = client.invoke("f").limit(20);
    let error = call.send().await.unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Broken(_)) && error.may_have_run(), "{error:?}");
    assert_eq!(error.into_partial(), "12345");
    let error = client.invoke("f").send().await.unwrap_err();
    assert!(error.is_too_large(), "{error:?}");
    assert_eq!(error.into_partial(), "12345");
}

#[tokio::test]
async fn buffers_are_taken_from_the_pool_and_returned() {
    let server = Scripted::start(|_, _| ok(vec![b'x'; 1 << 20]));
    let pool = BufferPool::new(8 << 20);
    let client = builder(&server).reader(Reader::new(RESPONSE_MAX).pool(&pool)).build().unwrap();
    for _ in 0..3 {
        let payload = client.invoke("f").send().await.unwrap().payload;
        assert!(payload.iter().all(|&byte| byte == b'x') && payload.len() == 1 << 20);
        assert_eq!(pool.stats().idle_bytes, 0);
        drop(payload);
        assert_ne!(pool.stats().idle_bytes, 0);
    }
    assert_eq!((pool.stats().hits, pool.stats().misses), (2, 1));
}

#[tokio::test]
async fn call_with_a_limit_over_the_budget_is_not_sent() {
    let server = Scripted::start(|_, _| ok("hello"));
    let reader = Reader::new(RESPONSE_MAX).budget(&MemoryBudget::new(1 << 20));
    let client = builder(&server).reader(reader).build().unwrap();
    let error = client.invoke("f").send().await.unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::BadInput(_)), "{error:?}");
    assert_eq!((error.may_have_run(), server.requests().len()), (false, 0));
    let call = client.invoke("f").limit(1 << 20);
    assert_eq!(call.send().await.unwrap().payload, "hello");
}
