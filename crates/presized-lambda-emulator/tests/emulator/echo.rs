use std::time::Duration;

use bytes::Bytes;
use presized_lambda_emulator::{Emulator, Function};
use presized_lambda_invoke::HttpVersion;
use tokio::join;

use super::runtime::{Event, TestRuntime};
use super::{NAME, PATIENCE, client, emulator};

fn content(size: usize) -> Bytes {
    (0..size).map(|i| (i % 251) as u8).collect()
}

/// Responds to one event with its payload, and returns the event.
async fn echo(runtime: &mut TestRuntime) -> Event {
    let event = runtime.next().await;
    let reply = runtime.respond(&event.id, event.payload.clone()).await;
    assert_eq!((reply.status, reply.body.as_str()), (202, "{\"status\":\"OK\"}\n"));
    event
}

/// The lengths lie on both sides of the limits of small buffers.
#[tokio::test]
async fn echoed_payload_is_equal_and_framed_as_by_lambda() {
    let emulator = emulator(Function::new().timeout(PATIENCE)).await;
    let client = client(&emulator);
    let mut runtime = TestRuntime::connect(&emulator, NAME).await;
    for size in [0, 1, 2047, 2048, 2049, 60_000, 6_000_000] {
        let sent = content(size);
        let call = client.invoke(NAME).payload(sent.clone()).send();
        let (response, event) = join!(call, echo(&mut runtime));
        let response = response.unwrap();
        assert_eq!(response.status, 200);
        assert_eq!(response.function_error, None);
        // A call without a payload has the event `{}`.
        let sent = if size == 0 { Bytes::from("{}") } else { sent };
        assert!(response.payload == sent && event.payload == sent, "{size} bytes");
        let header = |name| event.headers.get(name).map(|value| value.to_str().unwrap());
        let length = sent.len().to_string();
        let framing = if size <= 2047 { (Some(&*length), None) } else { (None, Some("chunked")) };
        assert_eq!((header("content-length"), header("transfer-encoding")), framing);
        assert_eq!(response.request_id.as_deref(), Some(event.id.as_str()));
    }
    let stats = emulator.stats(NAME).unwrap();
    assert_eq!((stats.invoked, stats.started, stats.responses), (7, 7, 7));
    assert_eq!((stats.errors, stats.timeouts, stats.rejected), (0, 0, 0));
}

#[tokio::test]
async fn runtime_gets_the_headers_of_the_call() {
    let emulator = emulator(Function::new()).await;
    let client = client(&emulator);
    let mut runtime = TestRuntime::connect(&emulator, NAME).await;
    let call = client
        .invoke("arn:aws:lambda:eu-central-1:210987654321:function:fn")
        .qualifier("7")
        .client_context(r#"{"custom":{"a":1}}"#)
        .tenant_id("blue")
        .send();
    let (response, event) = join!(call, echo(&mut runtime));
    assert_eq!(response.unwrap().executed_version.as_deref(), Some("7"));
    for (name, value) in [
        (
            "lambda-runtime-invoked-function-arn",
            "arn:aws:lambda:us-east-1:123456789012:function:fn:7",
        ),
        ("lambda-runtime-client-context", r#"{"custom":{"a":1}}"#),
        ("lambda-runtime-aws-tenant-id", "blue"),
        ("content-type", "application/json"),
    ] {
        assert_eq!(event.headers[name], value);
    }
    let trace = event.headers["lambda-runtime-trace-id"].to_str().unwrap();
    assert!(trace.starts_with("Root=1-"), "{trace}");
    let deadline: u64 =
        event.headers["lambda-runtime-deadline-ms"].to_str().unwrap().parse().unwrap();
    let now = std::time::UNIX_EPOCH.elapsed().unwrap();
    assert!(Duration::from_millis(deadline) < now + Duration::from_secs(4));
    assert!(!event.headers.contains_key("lambda-runtime-invocation-id"));
}

#[tokio::test]
async fn client_can_use_http2() {
    let emulator = emulator(Function::new()).await;
    let client = emulator
        .client_builder()
        .http_version(HttpVersion::Http2)
        .timeout(PATIENCE)
        .build()
        .unwrap();
    let mut runtime = TestRuntime::connect(&emulator, NAME).await;
    let sent = content(1 << 20);
    let call = client.invoke(NAME).payload(sent.clone()).send();
    let (response, _) = join!(call, echo(&mut runtime));
    assert!(response.unwrap().payload == sent);
}

#[tokio::test]
async fn functions_get_only_their_own_events() {
    let emulator = Emulator::builder()
        .function("a", Function::new())
        .function("b", Function::new())
        .start()
        .await
        .unwrap();
    let client = client(&emulator);
    let mut a = TestRuntime::connect(&emulator, "a").await;
    let mut b = TestRuntime::connect(&emulator, "b").await;
    let calls = async {
        let (of_a, of_b) = join!(
            client.invoke("a").payload("A").send(),
            client.invoke("b:live").payload("B").send()
        );
        (of_a.unwrap().payload, of_b.unwrap().payload)
    };
    let (responses, _, _) = join!(calls, echo(&mut a), echo(&mut b));
    assert_eq!(responses, (Bytes::from("A"), Bytes::from("B")));
    for name in ["a", "b"] {
        assert_eq!(emulator.stats(name).unwrap().started, 1);
    }
}
