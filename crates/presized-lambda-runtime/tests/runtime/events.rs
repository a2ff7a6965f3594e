//! The next invocation: its headers, its event, and responses without one.

use std::time::Duration;

use bytes::Bytes;
use presized::{BufferPool, CollectError, MemoryBudget, Reader};
use presized_lambda_runtime::{EVENT_MAX, ErrorKind, ErrorReport, RuntimeClient};
use presized_support::chain::messages;
use presized_support::scripted::{Reply, Scripted};
use tokio::time::Instant;

use super::{GET_NEXT, POST_ERROR, accepted, client, event, in_time, next, refusal, seen};

#[tokio::test]
async fn invocation_has_the_headers_and_the_body_of_the_response() {
    let headers = [
        ("Lambda-Runtime-Aws-Request-Id", "8476a536-e9f4-11e8-9739-2dfe598c3fcd"),
        ("Lambda-Runtime-Deadline-Ms", "1542409706888"),
        ("Lambda-Runtime-Invoked-Function-Arn", "arn:aws:lambda:us-east-2:123456789012:function:f"),
        ("Lambda-Runtime-Trace-Id", "Root=1-5bef4de7-ad49b0e87f6ef6c87fc2e700;Sampled=1"),
        ("Lambda-Runtime-Client-Context", r#"{"custom":{"a":"b"}}"#),
        ("Lambda-Runtime-Cognito-Identity", r#"{"cognitoIdentityId":"i"}"#),
        ("Lambda-Runtime-Aws-Tenant-Id", "blue"),
    ];
    let server = Scripted::in_turn([Reply::response("200 OK", &headers, "event")]);
    let (context, event, _responder) = next(&client(&server)).await.into_parts();
    assert_eq!(event, "event");
    assert_eq!(context.request_id, headers[0].1);
    assert_eq!(context.deadline_ms, Some(1_542_409_706_888));
    assert_eq!(context.remaining(), Some(Duration::ZERO));
    assert_eq!(context.function_arn.as_deref(), Some(headers[2].1));
    assert_eq!(context.trace_id.as_deref(), Some(headers[3].1));
    assert_eq!(context.client_context.as_deref(), Some(headers[4].1));
    assert_eq!(context.identity.as_deref(), Some(headers[5].1));
    assert_eq!(context.tenant_id.as_deref(), Some("blue"));
}

/// Case: some emulators leave out headers, or send them empty or invalid.
#[tokio::test]
async fn only_the_request_id_is_required() {
    let broken = [
        ("Lambda-Runtime-Aws-Request-Id", "a"),
        ("Lambda-Runtime-Deadline-Ms", "x"),
        ("Lambda-Runtime-Trace-Id", ""),
        ("Lambda-Runtime-Client-Context", "{bad"),
        ("Lambda-Runtime-Cognito-Identity", ""),
    ];
    let server = Scripted::in_turn([event(""), Reply::response("200 OK", &broken, "")]);
    for _ in 0..2 {
        let context = next(&client(&server)).await.context;
        assert_eq!(context.request_id, "a");
        assert_eq!(
            (context.deadline, context.remaining(), context.deadline_ms),
            (None, None, None)
        );
        assert_eq!((context.function_arn, context.trace_id), (None, None));
        assert_eq!((context.client_context, context.identity), (None, None));
        assert_eq!(context.tenant_id, None);
    }
}

/// Case: events longer than small buffers. Lambda sends more than 2,047 bytes in chunks.
#[tokio::test]
async fn event_of_any_length_is_echoed_unchanged() {
    for len in [0, 1, 2047, 2049, 60_000, 6_000_000, 6_291_556] {
        let sent: Vec<u8> = (0..len).map(|i| (i % 251) as u8).collect();
        let server = Scripted::in_turn([chunked(&sent), accepted()]);
        let invocation = next(&client(&server)).await;
        assert_eq!(invocation.event, sent);
        let echo = invocation.event.clone();
        assert!(in_time(invocation.respond(echo)).await.unwrap().is_accepted());
        let requests = server.requests();
        assert_eq!(requests[1].body, sent);
        assert_eq!(requests[1].header("content-length"), Some(&*len.to_string()));
        assert_eq!(requests[1].header("expect"), None);
    }
}

#[tokio::test]
async fn buffer_of_an_event_is_used_for_the_next_event() {
    let pool = BufferPool::new(16 << 20);
    let sent = vec![b'e'; 1 << 20];
    let server = Scripted::start(move |_, _| chunked(&sent));
    let client = RuntimeClient::builder()
        .endpoint(server.url())
        .reader(Reader::new(EVENT_MAX).pool(&pool))
        .build()
        .unwrap();
    // The first event shows the length of the others.
    for _ in 0..5 {
        drop(next(&client).await);
    }
    let after = pool.stats();
    for _ in 0..5 {
        drop(next(&client).await);
    }
    assert_eq!((pool.stats().misses, pool.stats().hits), (after.misses, after.hits + 5));
    assert_eq!(client.pool().stats(), pool.stats());
}

#[tokio::test]
async fn event_waits_for_the_budget_until_an_earlier_event_is_dropped() {
    let sent = [b'e'; 1000];
    let server = Scripted::start(move |_, _| event(sent));
    let budget = MemoryBudget::new(1500);
    let client = |budget: &MemoryBudget| {
        let reader = Reader::new(1000).budget(budget);
        RuntimeClient::builder().endpoint(server.url()).reader(reader).build().unwrap()
    };
    let waiting = client(&budget);
    let kept = next(&waiting).await.event;
    let mut second = std::pin::pin!(next(&waiting));
    tokio::select! {
        _ = &mut second => panic!("it did not wait"),
        () = tokio::time::sleep(Duration::from_millis(50)) => assert_eq!(budget.in_use(), 1000),
    }
    let error = in_time(client(&budget.fail_fast()).next()).await.unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Event(CollectError::Budget { .. })), "{error:?}");
    assert!(!error.is_fatal());

    drop(kept);
    assert_eq!(second.await.event, sent[..]);
    assert_eq!(budget.in_use(), 0);
}

/// The limit is inclusive. An event over it is reported, and does not end the process.
#[tokio::test]
async fn event_over_the_limit_fails_its_invocation() {
    for over in [event("123456"), chunked(b"123456")] {
        let server = Scripted::in_turn([event("12345"), over, accepted(), event("1")]);
        let client = RuntimeClient::builder().endpoint(server.url()).reader(5).build().unwrap();
        assert_eq!(next(&client).await.event, "12345");

        let error = in_time(client.next()).await.unwrap_err();
        assert!(error.is_too_large() && !error.is_fatal(), "{error:?}");
        let report = ErrorReport::from_dyn("Runtime.EventTooLarge", &error);
        let (context, responder) = error.into_responder().unwrap();
        assert_eq!((&*context.request_id, responder.request_id()), ("a", "a"));
        assert!(in_time(responder.fail(&report)).await.unwrap().is_accepted());

        assert_eq!(next(&client).await.event, "1");
        assert_eq!(seen(&server), [GET_NEXT, GET_NEXT, POST_ERROR, GET_NEXT]);
    }
}

#[tokio::test]
async fn incomplete_event_fails_its_invocation() {
    let head = "HTTP/1.1 200 OK\r\nLambda-Runtime-Aws-Request-Id: a\r\n";
    let short = format!("{head}Content-Length: 5\r\n\r\n123");
    let unended = format!("{head}Transfer-Encoding: chunked\r\n\r\n3\r\n123\r\n");
    let nonsense = format!("{head}Transfer-Encoding: chunked\r\n\r\nxyz\r\n");
    for broken in [short, unended, nonsense] {
        let reply = Reply::Close(broken.clone().into());
        let server = Scripted::in_turn([reply, accepted(), event("1")]);
        let client = client(&server);
        let error = in_time(client.next()).await.unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Event(_)), "{broken}: {error:?}");
        assert!(!error.is_fatal() && !error.is_too_large());
        let report = ErrorReport::from_dyn("Runtime.EventBroken", &error);
        let (_, responder) = error.into_responder().unwrap();
        assert!(in_time(responder.fail(&report)).await.unwrap().is_accepted());
        assert_eq!(next(&client).await.event, "1");
        assert_eq!(seen(&server), [GET_NEXT, POST_ERROR, GET_NEXT]);
    }
}

/// Some emulators end a long poll with 204. An invalid request id is no invocation either.
///
/// The clock of the test advances only in pauses and timeouts, so that a timeout would be noticed.
#[tokio::test(start_paused = true)]
async fn response_without_an_invocation_is_followed_by_a_pause_and_another_request() {
    let idle = [
        Reply::Keep(Bytes::from_static(b"HTTP/1.1 204 No Content\r\n\r\n")),
        Reply::response("200 OK", &[], ""),
        Reply::response("200 OK", &[], vec![b'e'; 100_000]),
        Reply::response("200 OK", &[("Lambda-Runtime-Aws-Request-Id", "")], "{}"),
        Reply::response("200 OK", &[("Lambda-Runtime-Aws-Request-Id", "../a")], "{}"),
        Reply::response("200 OK", &[("Lambda-Runtime-Aws-Request-Id", "\u{e9}")], "{}"),
    ];
    // Milliseconds: 50, 100, 200, 400, 800 and 1,000.
    let pauses = Duration::from_millis(2_550);
    let polls = idle.len() + 1;
    let server = Scripted::in_turn([&idle[..], &[event("event")]].concat());
    let begin = Instant::now();
    assert_eq!(client(&server).next().await.unwrap().event, "event");
    assert_eq!(seen(&server), vec![GET_NEXT; polls]);
    assert_eq!(begin.elapsed().as_millis() / 50, pauses.as_millis() / 50);
}

/// Case: 500 is fatal. The caller decides whether to ask again after any other status.
#[tokio::test]
async fn error_status_of_the_next_invocation_is_returned_without_a_retry() {
    let table = [
        ("500 Internal Server Error", 500, true),
        ("403 Forbidden", 403, false),
        ("400 Bad Request", 400, false),
        ("404 Not Found", 404, false),
        ("502 Bad Gateway", 502, false),
        ("307 Temporary Redirect", 307, false),
        ("202 Accepted", 202, false),
    ];
    for (status, number, is_fatal) in table {
        let server = Scripted::start(move |_, _| refusal(status, "InvalidStateTransition"));
        let error = in_time(client(&server).next()).await.unwrap_err();
        assert_eq!(error.is_fatal(), is_fatal, "{status}");
        let api = error.as_api_error().unwrap();
        assert_eq!(api.status, number);
        assert_eq!(api.error_type.as_deref(), Some("InvalidStateTransition"));
        assert_eq!(api.message.as_deref(), Some("m"));
        assert_eq!(
            messages(&error),
            [
                "the Runtime API returned an error".to_owned(),
                format!("InvalidStateTransition (status {number}): m"),
            ]
        );
        assert!(error.into_responder().is_none());
        assert_eq!(seen(&server), [GET_NEXT], "{status}");
    }
}

/// Case: a timeout of the client would lose the event. The process is frozen for an hour.
#[tokio::test(start_paused = true)]
async fn request_for_an_invocation_has_no_timeout() {
    let (wake, woken) = std::sync::mpsc::channel();
    let woken = std::sync::Mutex::new(woken);
    let server = Scripted::start(move |_, _| {
        let _ = woken.lock().unwrap().recv();
        event("late")
    });
    let client = client(&server);
    let waiting = tokio::spawn(async move { client.next().await });
    while server.requests().is_empty() {
        tokio::task::yield_now().await;
    }
    tokio::time::advance(Duration::from_secs(3600)).await;
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
    assert!(!waiting.is_finished());
    wake.send(()).unwrap();
    assert_eq!(waiting.await.unwrap().unwrap().event, "late");
    assert_eq!(seen(&server), [GET_NEXT]);
}

#[tokio::test]
async fn request_for_an_invocation_can_be_dropped_and_sent_again() {
    let server = Scripted::start(|number, _| match number {
        0 => Reply::Hang(Bytes::new()),
        _ => event("event"),
    });
    let client = client(&server);
    tokio::select! {
        _ = client.next() => panic!("there is none yet"),
        () = async { while server.requests().is_empty() { tokio::task::yield_now().await } } => {}
    }
    assert_eq!(next(&client).await.event, "event");
    let connections: Vec<_> = server.requests().iter().map(|request| request.connection).collect();
    assert_eq!(connections, [0, 1]);
}

/// Returns an invocation with an event in chunks of up to 4,096 bytes.
fn chunked(body: &[u8]) -> Reply {
    let mut response = b"HTTP/1.1 200 OK\r\nLambda-Runtime-Aws-Request-Id: a\r\n\
                         Transfer-Encoding: chunked\r\n\r\n"
        .to_vec();
    for chunk in body.chunks(4096) {
        response.extend_from_slice(format!("{:x}\r\n", chunk.len()).as_bytes());
        response.extend_from_slice(chunk);
        response.extend_from_slice(b"\r\n");
    }
    response.extend_from_slice(b"0\r\n\r\n");
    Reply::Keep(response.into())
}
