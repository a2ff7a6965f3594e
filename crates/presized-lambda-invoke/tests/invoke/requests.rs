use std::collections::BTreeMap;

use presized_lambda_invoke::{ErrorKind, InvocationType};
use presized_support::scripted::Scripted;

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
    let authorization = seen.header("authorization").unwrap();
    let signed = authorization.split("SignedHeaders=").nth(1).unwrap();
    assert_eq!(
        signed.split(',').next(),
        Some(
            "content-type;host;x-amz-client-context;x-amz-date;x-amz-durable-execution-name;\
             x-amz-invocation-type;x-amz-log-type;x-amz-tenant-id"
        )
    );
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
