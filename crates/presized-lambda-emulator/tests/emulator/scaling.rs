//! Several execution environments of one function.

use std::io;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

use bytes::Bytes;
use presized_lambda_emulator::Function;
use presized_lambda_invoke::InvocationType;
use presized_lambda_runtime::{Context, raw};
use presized_support::process::example;
use tokio::join;
use tokio::sync::{Barrier, Semaphore};
use tokio::task::JoinSet;

use super::runtime::{TestRuntime, pause, within};
use super::{NAME, PATIENCE, client, emulator, failure};

#[tokio::test]
async fn function_can_call_itself() {
    let emulator = emulator(Function::new().timeout(PATIENCE)).await;
    let client = client(&emulator);
    let caller = client.clone();
    let handler = raw(move |event: Bytes, _: Context| {
        let caller = caller.clone();
        async move {
            let depth: u32 = serde_json::from_slice(&event).unwrap();
            if depth == 0 {
                return Ok::<_, io::Error>("1".to_owned());
            }
            let response = caller.invoke(NAME).json(&(depth - 1)).send().await.unwrap();
            Ok((response.json::<u32>().unwrap() + 1).to_string())
        }
    });
    emulator.attach(NAME, handler).unwrap();
    let response = client.invoke(NAME).json(&3).send().await.unwrap();
    assert_eq!(response.payload, "4");
    let stats = emulator.stats(NAME).unwrap();
    assert_eq!((stats.started, stats.responses, stats.environments), (4, 4, 4));
}

/// No handler responds before all calls run. Afterwards, a warm environment is enough.
#[tokio::test]
async fn parallel_calls_start_environments_and_later_calls_reuse_them() {
    for (function, calls, environments) in [
        (Function::new(), 2, 2),
        (Function::new(), 20, 20),
        (Function::new().concurrency(2), 2, 1),
        (Function::new().concurrency(2), 5, 3),
    ] {
        let emulator = emulator(function.timeout(PATIENCE)).await;
        let client = client(&emulator);
        let all = Arc::new(Barrier::new(calls));
        let handler = raw(move |event: Bytes, _: Context| {
            let all = Arc::clone(&all);
            async move {
                if event == "parallel" {
                    all.wait().await;
                }
                Ok::<_, io::Error>(event)
            }
        });
        emulator.attach(NAME, handler).unwrap();
        let mut tasks = JoinSet::new();
        for _ in 0..calls {
            tasks.spawn(client.invoke(NAME).payload("parallel").send());
        }
        while let Some(response) = within(tasks.join_next()).await {
            assert_eq!(response.unwrap().unwrap().payload, "parallel");
        }
        let started = emulator.stats(NAME).unwrap().environments;
        assert_eq!(started, environments, "{calls} calls");
        for _ in 0..10 {
            assert_eq!(client.invoke(NAME).send().await.unwrap().payload, "{}");
        }
        let stats = emulator.stats(NAME).unwrap();
        assert_eq!((stats.responses, stats.environments), (calls as u64 + 10, environments));
    }
}

#[tokio::test]
async fn call_beyond_the_reserved_concurrency_is_refused_and_an_event_waits() {
    let emulator = emulator(Function::new().timeout(PATIENCE).reserved_concurrency(1)).await;
    let client = client(&emulator);
    let (running, released) = (Arc::new(Semaphore::new(0)), Arc::new(Semaphore::new(0)));
    let gates = (Arc::clone(&running), Arc::clone(&released));
    let handler = raw(move |event: Bytes, _: Context| {
        let (running, released) = gates.clone();
        async move {
            running.add_permits(1);
            released.acquire().await.unwrap().forget();
            Ok::<_, io::Error>(event)
        }
    });
    emulator.attach(NAME, handler).unwrap();
    let first = tokio::spawn(client.invoke(NAME).payload("first").send());
    within(running.acquire()).await.unwrap().forget();
    let error = client.invoke(NAME).send().await.unwrap_err();
    let service = error.as_service_error().unwrap();
    assert_eq!(service.status.as_u16(), 429);
    assert_eq!(
        service.reason.as_deref(),
        Some("ReservedFunctionConcurrentInvocationLimitExceeded")
    );
    let event = client.invoke(NAME).invocation_type(InvocationType::Event);
    assert_eq!(event.send().await.unwrap().status.as_u16(), 202);
    assert_eq!(emulator.stats(NAME).unwrap().started, 1);
    released.add_permits(2);
    assert_eq!(first.await.unwrap().unwrap().payload, "first");
    within(async {
        while emulator.stats(NAME).unwrap().responses < 2 {
            pause().await;
        }
    })
    .await;
    let stats = emulator.stats(NAME).unwrap();
    assert_eq!((stats.invoked, stats.started, stats.throttled, stats.environments), (2, 2, 1, 1));
}

/// Counts the handlers that were dropped before their end.
struct Running(Arc<AtomicUsize>);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.fetch_add(1, Relaxed);
    }
}

#[tokio::test]
async fn timeout_ends_only_its_own_environment() {
    let emulator = emulator(Function::new().timeout(Duration::from_secs(1))).await;
    let client = client(&emulator);
    let dropped = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&dropped);
    let all = Arc::new(Barrier::new(2));
    let handler = raw(move |event: Bytes, _: Context| {
        let (running, all) = (Running(Arc::clone(&count)), Arc::clone(&all));
        async move {
            if event != "alone" {
                all.wait().await;
            }
            if event == "hang" {
                std::future::pending::<()>().await;
            }
            std::mem::forget(running);
            Ok::<_, io::Error>(event)
        }
    });
    emulator.attach(NAME, handler).unwrap();
    let call = |payload| client.invoke(NAME).payload(payload).send();
    let (hanging, other) = join!(call("hang"), call("other"));
    assert_eq!(other.unwrap().payload, "other");
    let failure = failure(hanging.unwrap());
    assert_eq!(failure.error_type.as_deref(), Some("Sandbox.Timedout"));
    assert_eq!(call("alone").await.unwrap().payload, "alone");
    within(async {
        while dropped.load(Relaxed) == 0 {
            pause().await;
        }
    })
    .await;
    let stats = emulator.stats(NAME).unwrap();
    assert_eq!((stats.responses, stats.timeouts, stats.environments), (2, 1, 2));
}

#[tokio::test]
async fn busy_process_gets_a_second_one_beside_it() {
    let emulator = emulator(Function::new().timeout(PATIENCE).init_timeout(PATIENCE)).await;
    emulator.spawn(NAME, Command::new(example("test_function_by_hand"))).unwrap();
    let client = client(&emulator);
    let hanging = tokio::spawn(client.invoke(NAME).payload("hang").send());
    within(async {
        while emulator.stats(NAME).unwrap().started == 0 {
            pause().await;
        }
    })
    .await;
    let pid = async || client.invoke(NAME).payload("pid").send().await.unwrap().payload;
    let first = pid().await;
    assert_eq!(pid().await, first);
    assert_eq!(emulator.stats(NAME).unwrap().environments, 2);
    // The output of one process is not in the log of another.
    let response = client.invoke(NAME).payload("quiet").tail_log().send().await.unwrap();
    assert!(!response.log_text().unwrap().contains("hang"));
    emulator.make_cold(NAME).unwrap();
    assert_ne!(pid().await, first);
    assert_eq!(emulator.stats(NAME).unwrap().environments, 3);
    // It ends after its invocation, which does not end.
    assert!(!hanging.is_finished());
    assert!(emulator.make_cold("other").is_err());
}

#[cfg(unix)]
#[tokio::test]
async fn process_gets_sigterm_when_its_environment_ends() {
    let directory = tempfile::tempdir().unwrap();
    let (ready, ended) = (directory.path().join("ready"), directory.path().join("ended"));
    let mut shell = Command::new("sh");
    shell.env("READY", &ready).env("ENDED", &ended).args([
        "-c",
        r#"trap 'echo > "$ENDED"; exit' TERM; echo > "$READY"; while :; do sleep 0.01; done"#,
    ]);
    let emulator = emulator(Function::new()).await;
    emulator.spawn(NAME, shell).unwrap();
    let exists = async |path: &std::path::Path| {
        while !path.exists() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    within(exists(&ready)).await;
    emulator.make_cold(NAME).unwrap();
    within(exists(&ended)).await;
}

/// The emulator does not run these runtimes. Each of them gets one event at a time.
#[tokio::test]
async fn connections_that_poll_are_environments() {
    let emulator = emulator(Function::new().timeout(PATIENCE)).await;
    let client = client(&emulator);
    let mut runtimes =
        [TestRuntime::connect(&emulator, NAME).await, TestRuntime::connect(&emulator, NAME).await];
    let calls = ["a", "b"].map(|event| tokio::spawn(client.invoke(NAME).payload(event).send()));
    let [first, second] = &mut runtimes;
    let events = [first.next().await, second.next().await];
    // Each can respond to the event of the other one, as a runtime with two connections does.
    let early = first.get("invocation/next").await;
    assert_eq!(early.refusal(), (403, "InvalidStateTransition".to_owned()));
    for (runtime, event) in [(first, &events[1]), (second, &events[0])] {
        assert_eq!(runtime.respond(&event.id, event.payload.clone()).await.status, 202);
    }
    for (call, event) in calls.into_iter().zip(["a", "b"]) {
        assert_eq!(call.await.unwrap().unwrap().payload, event);
    }
    let stats = emulator.stats(NAME).unwrap();
    assert_eq!((stats.started, stats.responses, stats.environments), (2, 2, 0));
}
