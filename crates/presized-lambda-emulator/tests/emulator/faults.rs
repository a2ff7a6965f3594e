//! The faults that a test orders.

use std::io;
use std::process::Command;
use std::time::Duration;

use bytes::Bytes;
use presized_lambda_emulator::{Emulator, Fault, Function};
use presized_lambda_invoke::HttpVersion;
use presized_lambda_runtime::{Context, raw};
use presized_support::process::example;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::runtime::{TestRuntime, pause, within};
use super::{NAME, PATIENCE, client, emulator, failure};

async fn echo() -> Emulator {
    let emulator = emulator(Function::new().timeout(PATIENCE)).await;
    let echo = raw(|event: Bytes, _: Context| async move { Ok::<_, io::Error>(event) });
    emulator.attach(NAME, echo).unwrap();
    emulator
}

/// Calls the function, and returns what arrives until the end of the connection.
async fn received(emulator: &Emulator, headers: &str) -> io::Result<String> {
    let request = format!(
        "POST /2015-03-31/functions/fn/invocations HTTP/1.1\r\nHost: x\r\n{headers}\
         Content-Length: 7\r\n\r\npayload"
    );
    let mut stream = TcpStream::connect(emulator.url().replace("http://", "")).await?;
    stream.write_all(request.as_bytes()).await?;
    let mut response = String::new();
    within(stream.read_to_string(&mut response)).await?;
    Ok(response)
}

#[tokio::test]
async fn response_is_cut_before_in_or_after_its_content() {
    let emulator = echo().await;
    for (fault, body) in [
        (Fault::cut(), None),
        (Fault::cut_after(0), Some("")),
        (Fault::cut_after(3), Some("pay")),
        (Fault::cut_after(6), Some("payloa")),
        (Fault::cut_after(7), Some("payload")),
        (Fault::cut_after(1 << 40), Some("payload")),
    ] {
        emulator.inject(NAME, fault.clone()).unwrap();
        let response = received(&emulator, "").await.unwrap();
        let Some(body) = body else {
            assert_eq!(response, "");
            continue;
        };
        assert!(response.starts_with("HTTP/1.1 200 OK\r\n"), "{fault:?} {response}");
        let (head, content) = response.split_once("\r\n\r\n").unwrap();
        assert!(head.contains("content-length: 7"), "{fault:?} {head}");
        assert_eq!(content, body, "{fault:?}");
    }
    assert_eq!(emulator.stats(NAME).unwrap().responses, 6);
}

#[tokio::test]
async fn reset_is_a_reset_of_the_connection() {
    let emulator = echo().await;
    emulator.inject(NAME, Fault::reset()).unwrap();
    let error = received(&emulator, "").await.unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::ConnectionReset);
    assert_eq!(emulator.stats(NAME).unwrap().responses, 1);
}

#[tokio::test]
async fn client_does_not_repeat_a_call_whose_response_is_lost() {
    let emulator = echo().await;
    for version in [HttpVersion::Http1, HttpVersion::Http2] {
        let client = emulator.client_builder().http_version(version).build().unwrap();
        for fault in [Fault::cut(), Fault::cut_after(3), Fault::reset()] {
            let before = emulator.stats(NAME).unwrap().started;
            emulator.inject(NAME, fault.clone()).unwrap();
            let error = client.invoke(NAME).payload("payload").send().await.unwrap_err();
            assert!(error.may_have_run(), "{version:?} {fault:?} {error:?}");
            assert_eq!(client.invoke(NAME).payload("next").send().await.unwrap().payload, "next");
            assert_eq!(emulator.stats(NAME).unwrap().started, before + 2);
        }
        emulator.inject(NAME, Fault::cut_after(10)).unwrap();
        let call = client.invoke_streaming(NAME).payload("payload").send();
        let response = within(async { call.await?.collect(1 << 20).await }).await;
        assert!(response.unwrap_err().may_have_run());
    }
}

#[tokio::test]
async fn fault_happens_as_often_as_it_was_ordered_and_in_order() {
    let emulator = echo().await;
    let client = client(&emulator);
    emulator.inject(NAME, Fault::cut().times(2)).unwrap();
    emulator.inject(NAME, Fault::cut_after(1).times(0)).unwrap();
    emulator.inject(NAME, Fault::duplicate()).unwrap();
    for fails in [true, true, false, false] {
        let response = client.invoke(NAME).send().await;
        assert_eq!(response.is_err(), fails);
    }
    assert!(emulator.inject("other", Fault::cut()).is_err());
}

#[tokio::test]
async fn delayed_response_comes_after_the_end_of_the_invocation() {
    let emulator = echo().await;
    let client = client(&emulator);
    emulator.inject(NAME, Fault::delay(Duration::from_millis(1))).unwrap();
    emulator.inject(NAME, Fault::delay(PATIENCE * 2)).unwrap();
    assert_eq!(client.invoke(NAME).payload("a").send().await.unwrap().payload, "a");
    let call = tokio::spawn(client.invoke(NAME).payload("b").send());
    within(async {
        while emulator.stats(NAME).unwrap().responses < 2 {
            pause().await;
        }
        // The other call has overtaken it.
        assert_eq!(client.invoke(NAME).payload("c").send().await.unwrap().payload, "c");
    })
    .await;
    assert!(!call.is_finished());
}

#[tokio::test]
async fn duplicate_is_delivered_after_the_first_event_with_the_same_id() {
    for function in [Function::new(), Function::new().concurrency(2)] {
        let emulator = emulator(function).await;
        let client = client(&emulator);
        let mut runtime = TestRuntime::connect(&emulator, NAME).await;
        emulator.inject(NAME, Fault::duplicate()).unwrap();
        let call = tokio::spawn(client.invoke(NAME).payload("event").send());
        let mut ids = Vec::new();
        for response in ["first", "second"] {
            let event = runtime.next().await;
            assert_eq!(event.payload, "event");
            assert_eq!(runtime.respond(&event.id, response).await.status, 202);
            ids.push(event.id);
        }
        assert_eq!(ids[0], ids[1]);
        assert_eq!(call.await.unwrap().unwrap().payload, "first");
        let stats = emulator.stats(NAME).unwrap();
        assert_eq!((stats.invoked, stats.redelivered), (1, 1));
        assert_eq!((stats.started, stats.responses), (2, 2));
    }
}

#[tokio::test]
async fn call_is_refused_if_the_clocks_differ_by_more_than_five_minutes() {
    let emulator = echo().await;
    for (skew, date) in [(0, "X-Amz-Date: 20150830T123600Z\r\n"), (1, "")] {
        emulator.inject(NAME, Fault::clock_skew(skew)).unwrap();
        emulator.inject(NAME, Fault::cut()).unwrap();
        let response = received(&emulator, &format!("{date}Connection: close\r\n")).await.unwrap();
        let expected = if date.is_empty() { "HTTP/1.1 200" } else { "HTTP/1.1 403" };
        assert!(response.starts_with(expected), "{response}");
        let code = response.contains("x-amzn-errortype: InvalidSignatureException\r\n");
        assert_eq!(code, !date.is_empty(), "{response}");
        assert_eq!(received(&emulator, "").await.unwrap(), "");
    }
    // The client signs the call again, with the time of the service.
    let client = emulator.client_builder().build().unwrap();
    let before = emulator.stats(NAME).unwrap().started;
    for skew in [3600, -3600] {
        emulator.inject(NAME, Fault::clock_skew(skew).times(2)).unwrap();
        assert_eq!(client.invoke(NAME).send().await.unwrap().payload, "{}");
    }
    assert_eq!(emulator.stats(NAME).unwrap().started, before + 2);
}

#[tokio::test]
async fn event_whose_delivery_is_cut_goes_to_the_next_poll() {
    let emulator = emulator(Function::new().timeout(PATIENCE)).await;
    let client = client(&emulator);
    for fault in [Fault::cut(), Fault::cut_after(2), Fault::reset()] {
        emulator.inject(NAME, fault.on_next()).unwrap();
    }
    let call = tokio::spawn(client.invoke(NAME).payload("event").send());
    for _ in 0..3 {
        let mut runtime = TestRuntime::connect(&emulator, NAME).await;
        assert!(runtime.try_next().await.is_err());
    }
    let mut runtime = TestRuntime::connect(&emulator, NAME).await;
    let event = runtime.next().await;
    runtime.respond(&event.id, event.payload).await;
    assert_eq!(call.await.unwrap().unwrap().payload, "event");
    assert_eq!(emulator.stats(NAME).unwrap().started, 1);

    // The attached runtime ends with its connection, and another environment gets the event.
    let emulator = echo().await;
    emulator.inject(NAME, Fault::cut().on_next()).unwrap();
    let response = super::client(&emulator).invoke(NAME).payload("event").send().await;
    assert_eq!(response.unwrap().payload, "event");
    let stats = emulator.stats(NAME).unwrap();
    assert_eq!((stats.started, stats.environments), (1, 2));
}

#[tokio::test]
async fn result_counts_although_its_runtime_sees_a_fault() {
    let emulator = emulator(Function::new().timeout(PATIENCE)).await;
    let client = client(&emulator);
    for fault in [Fault::cut(), Fault::reset()] {
        emulator.inject(NAME, fault.on_result()).unwrap();
        let mut runtime = TestRuntime::connect(&emulator, NAME).await;
        let call = tokio::spawn(client.invoke(NAME).send());
        let event = runtime.next().await;
        let path = format!("invocation/{}/response", event.id);
        assert!(runtime.try_post(&path, "response").await.is_err());
        assert_eq!(call.await.unwrap().unwrap().payload, "response");
    }
    assert_eq!(emulator.stats(NAME).unwrap().responses, 2);
}

#[tokio::test]
async fn environment_that_is_shut_down_fails_its_invocation_only() {
    let emulator = emulator(Function::new().timeout(PATIENCE).init_timeout(PATIENCE)).await;
    let handler = raw(|event: Bytes, _: Context| async move {
        if event == "hang" {
            std::future::pending::<()>().await;
        }
        Ok::<_, io::Error>(event)
    });
    emulator.attach(NAME, handler).unwrap();
    let by_process = by_process(Function::new()).await;
    for (emulator, status) in [(&emulator, "SIGKILL"), (&by_process, "SIGTERM")] {
        let client = client(emulator);
        emulator.inject(NAME, Fault::shut_down(Duration::from_millis(200))).unwrap();
        let response = client.invoke(NAME).payload("hang").send().await.unwrap();
        let failure = failure(response);
        assert_eq!(failure.error_type.as_deref(), Some("Runtime.ExitError"));
        if cfg!(unix) {
            assert!(failure.error_message.unwrap().contains(status));
        }
        assert_eq!(client.invoke(NAME).payload("next").send().await.unwrap().payload, "next");
        assert_eq!(emulator.stats(NAME).unwrap().environments, 2);
    }
}

async fn by_process(function: Function) -> Emulator {
    let emulator = emulator(function.timeout(PATIENCE).init_timeout(PATIENCE)).await;
    emulator.spawn(NAME, Command::new(example("test_function_by_hand"))).unwrap();
    emulator
}

#[tokio::test]
async fn frozen_environment_does_not_take_the_next_invocation() {
    let (attached, by_process) = (echo().await, by_process(Function::new()).await);
    for emulator in [&attached, &by_process] {
        let client = client(emulator);
        emulator.inject(NAME, Fault::freeze(PATIENCE * 2)).unwrap();
        for environments in [1, 2, 2] {
            assert_eq!(client.invoke(NAME).payload("a").send().await.unwrap().payload, "a");
            assert_eq!(emulator.stats(NAME).unwrap().environments, environments);
        }
    }
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn frozen_process_is_stopped_and_goes_on() {
    // There is no other environment for the next invocation.
    let emulator = by_process(Function::new().reserved_concurrency(1)).await;
    let client = client(&emulator);
    let pid = async || client.invoke(NAME).payload("pid").send().await.unwrap();
    emulator.inject(NAME, Fault::freeze(Duration::from_millis(500))).unwrap();
    let process = pid().await;
    let stat = format!("/proc/{}/stat", process.text().unwrap());
    within(async {
        while !std::fs::read_to_string(&stat).unwrap().contains(") T ") {
            pause().await;
        }
    })
    .await;
    assert_eq!(pid().await.payload, process.payload);
}

#[test]
#[should_panic(expected = "only a cut, a reset or a delay is a fault of the Runtime API")]
fn fault_of_an_invocation_is_no_fault_of_the_runtime_api() {
    let _ = Fault::duplicate().on_next();
}
