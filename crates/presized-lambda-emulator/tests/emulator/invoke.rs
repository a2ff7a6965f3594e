use std::convert::Infallible;
use std::time::Duration;

use bytes::Bytes;
use presized_lambda_emulator::{Emulator, Function};
use presized_lambda_invoke::{Invocation, InvocationType};
use presized_lambda_runtime::{Context, raw};
use tokio::join;

use super::runtime::{TestRuntime, pause, within};
use super::{NAME, client, emulator};

#[tokio::test]
async fn dry_run_executes_nothing() {
    let emulator = emulator(Function::new()).await;
    let call = client(&emulator).invoke(NAME).invocation_type(InvocationType::DryRun);
    let Invocation { status, payload, .. } = call.send().await.unwrap();
    assert_eq!((status.as_u16(), payload.len()), (204, 0));
    assert_eq!(emulator.stats(NAME).unwrap().invoked, 0);
}

#[tokio::test]
async fn event_invocations_are_queued_until_a_runtime_polls() {
    let emulator = emulator(Function::new()).await;
    let client = client(&emulator);
    for payload in ["first", ""] {
        let call = client.invoke(NAME).invocation_type(InvocationType::Event).payload(payload);
        let Invocation { status, payload, .. } = call.send().await.unwrap();
        assert_eq!((status.as_u16(), payload.len()), (202, 0));
    }
    assert_eq!(emulator.stats(NAME).unwrap().started, 0);
    let mut runtime = TestRuntime::connect(&emulator, NAME).await;
    for payload in ["first", "{}"] {
        let event = runtime.next().await;
        assert_eq!(event.payload, payload);
        assert_eq!(runtime.respond(&event.id, "").await.status, 202);
    }
    let stats = emulator.stats(NAME).unwrap();
    assert_eq!((stats.invoked, stats.started, stats.responses), (2, 2, 2));
}

/// Lambda sends `{}`, so that a runtime can parse the event as JSON.
#[tokio::test]
async fn event_of_a_call_without_a_payload_is_an_empty_object() {
    let emulator = emulator(Function::new()).await;
    let client = client(&emulator);
    let echo = raw(|event: Bytes, _: Context| async move { Ok::<_, Infallible>(event) });
    emulator.attach(NAME, echo).unwrap();
    for call in [client.invoke(NAME), client.invoke(NAME).payload("")] {
        assert_eq!(call.send().await.unwrap().payload, "{}");
    }
    for call in [client.invoke_streaming(NAME), client.invoke_streaming(NAME).payload("")] {
        let stream = call.send().await.unwrap();
        assert_eq!(stream.collect(1 << 20).await.unwrap().payload, "{}");
    }
}

#[tokio::test]
async fn throttled_call_is_refused_with_code_and_reason() {
    let emulator = emulator(Function::new()).await;
    emulator.throttle(NAME, 1).unwrap();
    let client = client(&emulator);
    let error = client.invoke(NAME).send().await.unwrap_err();
    assert!(error.is_throttling() && !error.may_have_run(), "{error:?}");
    let service = error.as_service_error().unwrap();
    assert_eq!(service.status.as_u16(), 429);
    assert_eq!(service.code.as_deref(), Some("TooManyRequestsException"));
    assert_eq!(service.retry_after, Some(Duration::from_secs(1)));
    assert_eq!(
        service.reason.as_deref(),
        Some("ReservedFunctionConcurrentInvocationLimitExceeded")
    );
    let mut runtime = TestRuntime::connect(&emulator, NAME).await;
    let (response, ()) = join!(client.invoke(NAME).send(), async {
        let event = runtime.next().await;
        runtime.respond(&event.id, "then").await;
    });
    assert_eq!(response.unwrap().payload, "then");
    let stats = emulator.stats(NAME).unwrap();
    assert_eq!((stats.throttled, stats.invoked, stats.started), (1, 1, 1));
}

#[tokio::test]
async fn call_to_an_unknown_function_is_refused() {
    let emulator = emulator(Function::new()).await;
    let client = client(&emulator);
    for (name, status, code) in [
        ("other", 404, "ResourceNotFoundException"),
        ("a b", 400, "ValidationException"),
        ("arn:aws:s3:::bucket", 400, "ValidationException"),
    ] {
        let error = client.invoke(name).send().await.unwrap_err();
        let service = error.as_service_error().unwrap();
        assert_eq!((service.status.as_u16(), service.code.as_deref()), (status, Some(code)));
        assert!(service.message.is_some() && service.request_id.is_some(), "{service:?}");
    }
    let error = client.invoke("fn:1").qualifier("2").send().await.unwrap_err();
    let code = error.as_service_error().and_then(|service| service.code.as_deref());
    assert_eq!(code, Some("InvalidParameterValueException"));
    assert!(emulator.runtime_api("other").is_err());
    assert!(emulator.stats("other").is_err());
    assert!(emulator.throttle("other", 1).is_err());
}

#[tokio::test]
async fn log_tail_is_returned_only_on_request() {
    let emulator = emulator(Function::new().memory_size(512)).await;
    let client = client(&emulator);
    let mut runtime = TestRuntime::connect(&emulator, NAME).await;
    let mut log = None;
    for asks in [false, true] {
        let mut call = client.invoke(NAME);
        if asks {
            call = call.tail_log();
        }
        let (response, event) = join!(call.send(), async {
            let event = runtime.next().await;
            runtime.respond(&event.id, "").await;
            event
        });
        let response = response.unwrap();
        assert_eq!(response.log_tail.is_some(), asks);
        log = response.log_text().map(|text| (text.into_owned(), event.id));
    }
    let (log, id) = log.unwrap();
    let lines: Vec<&str> = log.lines().collect();
    assert_eq!(
        lines[..2],
        [format!("START RequestId: {id} Version: $LATEST"), format!("END RequestId: {id}"),]
    );
    assert!(lines[2].starts_with(&format!("REPORT RequestId: {id}\tDuration: ")), "{log}");
    assert!(lines[2].ends_with("\tMemory Size: 512 MB"), "{log}");
}

#[tokio::test]
async fn call_without_a_runtime_times_out_after_the_init_timeout() {
    let emulator = emulator(Function::new().init_timeout(Duration::from_millis(50))).await;
    let failure = super::failure(client(&emulator).invoke(NAME).send().await.unwrap());
    assert_eq!(failure.error_type.as_deref(), Some("Sandbox.Timedout"));
    let stats = emulator.stats(NAME).unwrap();
    assert_eq!((stats.invoked, stats.started, stats.timeouts), (1, 0, 1));
}

#[tokio::test]
async fn call_that_waits_for_a_busy_runtime_does_not_time_out() {
    let emulator = emulator(Function::new().init_timeout(Duration::from_millis(50))).await;
    let client = client(&emulator);
    let mut runtime = TestRuntime::connect(&emulator, NAME).await;
    let (first, second, ()) =
        join!(client.invoke(NAME).send(), client.invoke(NAME).send(), async {
            let event = runtime.next().await;
            tokio::time::sleep(Duration::from_millis(200)).await;
            runtime.respond(&event.id, "").await;
            let event = runtime.next().await;
            runtime.respond(&event.id, "").await;
        });
    assert!(first.unwrap().function_error.is_none() && second.unwrap().function_error.is_none());
}

#[tokio::test]
async fn dropped_emulator_closes_its_socket_and_fails_calls() {
    let emulator = emulator(Function::new()).await;
    let client = client(&emulator);
    let address = emulator.url().replace("http://", "");
    let mut runtime = TestRuntime::connect(&emulator, NAME).await;
    let call = tokio::spawn(client.invoke(NAME).send());
    runtime.next().await;
    drop(emulator);
    assert!(within(call).await.unwrap().is_err());
    within(async {
        while tokio::net::TcpStream::connect(&address).await.is_ok() {
            pause().await;
        }
    })
    .await;
}

#[tokio::test]
async fn invalid_function_name_is_refused_at_start() {
    for name in ["", "a b", "a:b", "$LATEST"] {
        let started = Emulator::builder().function(name, Function::new()).start().await;
        assert_eq!(started.unwrap_err().kind(), std::io::ErrorKind::InvalidInput, "{name}");
    }
}
