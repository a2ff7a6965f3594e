use std::collections::BTreeMap;

use http::{HeaderName, HeaderValue};
use presized_lambda_invoke::{Error, ErrorKind, InvocationType};
use presized_support::scripted::{Recorded, Scripted};

use super::{builder, client, ok};

/// The HTTP client must not encode the path a second time.
#[tokio::test]
async fn function_name_is_encoded_once_on_the_wire() {
    let server = Scripted::start(|_, _| ok(""));
    let client = client(&server);
    for (function, qualifier, target) in [
        ("f", None, "f/invocations"),
        ("f", Some("live"), "f/invocations?Qualifier=live"),
        ("f:live", None, "f%3Alive/invocations"),
        ("f", Some("$LATEST"), "f/invocations?Qualifier=%24LATEST"),
        ("f:$LATEST.PUBLISHED", None, "f%3A%24LATEST.PUBLISHED/invocations"),
        (
            "arn:aws:lambda:us-west-2:123456789012:function:fn",
            None,
            "arn%3Aaws%3Alambda%3Aus-west-2%3A123456789012%3Afunction%3Afn/invocations",
        ),
        ("a/../b%2F?c#d é", None, "a%2F..%2Fb%252F%3Fc%23d%20%C3%A9/invocations"),
    ] {
        let mut call = client.invoke(function);
        if let Some(qualifier) = qualifier {
            call = call.qualifier(qualifier);
        }
        assert_eq!(call.send().await.unwrap().status, 200);
        let seen = server.requests().pop().unwrap();
        assert_eq!(seen.target(), format!("/2015-03-31/functions/{target}"), "{function}");
    }
}

#[tokio::test]
async fn endpoint_may_have_a_path() {
    let server = Scripted::start(|_, _| ok(""));
    let client = builder(&server).endpoint(format!("{}/base/", server.url())).build().unwrap();
    assert_eq!(client.invoke("f").send().await.unwrap().status, 200);
    let seen = server.requests().pop().unwrap();
    assert_eq!(seen.target(), "/base/2015-03-31/functions/f/invocations");
    assert_eq!(seen.header("host"), Some(server.address().to_string().as_str()));
}

#[tokio::test]
async fn options_are_signed_headers() {
    let server = Scripted::start(|_, _| ok(""));
    let client = builder(&server).user_agent("me/1.0").build().unwrap();
    let call = client
        .invoke("f")
        .payload("payload")
        .invocation_type(InvocationType::Event)
        .tail_log()
        .client_context(r#"{"custom":{}}"#)
        .tenant_id("tenant-1")
        .durable_execution_name("run-1");
    assert_eq!(call.send().await.unwrap().status, 200);
    let seen = server.requests().pop().unwrap();
    assert_eq!(seen.body, b"payload");
    let expected = BTreeMap::from([
        ("content-length", "7"),
        ("content-type", "application/octet-stream"),
        ("user-agent", "me/1.0"),
        ("x-amz-client-context", "eyJjdXN0b20iOnt9fQ=="),
        ("x-amz-durable-execution-name", "run-1"),
        ("x-amz-invocation-type", "Event"),
        ("x-amz-log-type", "Tail"),
        ("x-amz-tenant-id", "tenant-1"),
    ]);
    for (name, value) in expected {
        assert_eq!(seen.header(name), Some(value), "{name}");
    }
    assert_eq!(
        signed_headers(&seen),
        "content-type;host;x-amz-client-context;x-amz-date;x-amz-durable-execution-name;\
         x-amz-invocation-type;x-amz-log-type;x-amz-tenant-id"
    );
}

#[tokio::test]
async fn headers_of_the_caller_are_signed_and_replace_others() {
    let server = Scripted::start(|_, _| ok(""));
    let client = client(&server);
    let call = client
        .invoke("f")
        .header("X-Team", "first")
        .header(HeaderName::from_static("x-team"), "billing".to_owned())
        .header("content-type", "application/json")
        .header("x-empty", "")
        .header("X-Count", 7)
        .header("X-Raw", &b"\xff"[..])
        .header("X-Text", "a  h\u{f6}")
        .tenant_id("blue")
        .header("x-amz-tenant-id", HeaderValue::from_static("red"));
    assert_eq!(call.send().await.unwrap().status, 200);
    let call = client.invoke_streaming("f").header("X-Team", "billing");
    drop(call.send().await.unwrap());
    let [seen, streamed] = &server.requests()[..] else { panic!("two requests") };
    for (name, value) in [
        ("x-team", "billing"),
        ("content-type", "application/json"),
        ("x-empty", ""),
        ("x-count", "7"),
        // The server replaces bytes that are not UTF-8.
        ("x-raw", "\u{fffd}"),
        ("x-text", "a  h\u{f6}"),
        ("x-amz-tenant-id", "red"),
    ] {
        assert_eq!(seen.header(name), Some(value), "{name}");
    }
    assert_eq!(seen.head.to_lowercase().matches("x-team:").count(), 1, "{}", seen.head);
    assert_eq!(
        signed_headers(seen),
        "content-type;host;x-amz-date;x-amz-tenant-id;x-count;x-empty;x-raw;x-team;x-text"
    );
    assert_eq!(streamed.header("x-team"), Some("billing"));
    assert_eq!(signed_headers(streamed), "content-type;host;x-amz-date;x-team");
}

#[tokio::test]
async fn headers_that_the_client_sets_are_refused_by_name() {
    let server = Scripted::start(|_, _| ok(""));
    let client = client(&server);
    for name in [
        "Authorization",
        "Connection",
        "Content-Length",
        "Expect",
        "Host",
        "Keep-Alive",
        "Proxy-Authorization",
        "Proxy-Connection",
        "TE",
        "Trailer",
        "Transfer-Encoding",
        "Upgrade",
        "X-Amz-Content-Sha256",
        "X-Amz-Date",
        "X-Amz-Security-Token",
    ] {
        let lower = name.to_lowercase();
        let expected = format!("header {lower} is set by the client and cannot be replaced");
        assert_eq!(refusal(client.invoke("f").header(name, "1").send().await), expected);
        assert_eq!(refusal(client.invoke_streaming("f").header(name, "1").send().await), expected);
    }
    for (name, setter) in
        [("X-Amzn-Trace-Id", "trace_id()"), ("User-Agent", "ClientBuilder::user_agent()")]
    {
        assert_eq!(
            refusal(client.invoke("f").header(name, "1").send().await),
            format!("header {} is set by the client: call {setter} instead", name.to_lowercase())
        );
    }
    assert_eq!(server.requests().len(), 0);
}

#[tokio::test]
async fn header_with_an_invalid_name_or_value_is_refused() {
    let server = Scripted::start(|_, _| ok(""));
    let client = client(&server);
    for (name, value, expected) in [
        (
            "a b",
            &b"1"[..],
            "name of a header has characters that a name cannot have: use ASCII letters, digits \
             and hyphens",
        ),
        (
            "",
            b"1",
            "name of a header has characters that a name cannot have: use ASCII letters, digits and hyphens",
        ),
        (
            "x-a",
            b"1\r\nx-b: 2",
            "value of x-a has a control character, such as a line break: remove it",
        ),
        ("x-a", b"\0", "value of x-a has a control character, such as a line break: remove it"),
        ("x-a", b"\x7f", "value of x-a has a control character, such as a line break: remove it"),
        ("x-a", b" 1", "value of x-a must not begin or end with a space or a tab"),
        ("x-a", b"1\t", "value of x-a must not begin or end with a space or a tab"),
    ] {
        let call = client.invoke("f").header(name, value);
        assert_eq!(refusal(call.send().await), expected);
    }
    assert_eq!(server.requests().len(), 0);
}

#[tokio::test]
async fn payload_is_serialized_as_json() {
    let server = Scripted::start(|_, _| ok(""));
    let call = client(&server).invoke("f").json(&[("a", 1)]);
    assert_eq!(call.send().await.unwrap().status, 200);
    assert_eq!(server.requests().pop().unwrap().body, br#"[["a",1]]"#);
}

#[tokio::test]
async fn invalid_input_is_not_sent() {
    let server = Scripted::start(|_, _| ok(""));
    let client = client(&server);
    // JSON has no keys but strings.
    let no_json = BTreeMap::from([(vec![1], 1)]);
    for call in [
        client.invoke(""),
        client.invoke("."),
        client.invoke(".."),
        client.invoke("f").qualifier(""),
        client.invoke("f").tenant_id("line\r\nX-Evil: 1"),
        client.invoke("f").durable_execution_name("\0"),
        // A server would remove the spaces and see another tenant.
        client.invoke("f").tenant_id(" a"),
        client.invoke("f").tenant_id("a\t"),
        client.invoke("f").json(&no_json),
    ] {
        let shown = format!("{call:?}");
        let error = call.send().await.unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::BadInput(_)), "{shown}: {error:?}");
        assert_eq!((error.may_have_run(), error.attempts()), (false, 0));
    }
    assert_eq!(server.requests().len(), 0);
}

/// Returns the names of the signed headers.
fn signed_headers(request: &Recorded) -> &str {
    let authorization = request.header("authorization").unwrap();
    let (_, signed) = authorization.split_once("SignedHeaders=").unwrap();
    signed.split(',').next().unwrap()
}

/// Returns why a call was refused before it was sent.
fn refusal<R: std::fmt::Debug>(sent: Result<R, Error>) -> String {
    let kind = sent.unwrap_err().into_kind();
    let ErrorKind::BadInput(source) = kind else { panic!("{kind:?}") };
    source.to_string()
}
