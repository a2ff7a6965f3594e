//! Functions that run as a process.

use std::fs;
use std::io;
use std::process::Command;
use std::time::Duration;

use presized_lambda_emulator::{Emulator, Function};
use presized_support::process::example;

use super::runtime::{pause, within};
use super::{NAME, PATIENCE, client, emulator, failure};

fn command() -> Command {
    Command::new(example("test_function_by_hand"))
}

async fn spawned(function: Function) -> Emulator {
    let emulator = emulator(function.init_timeout(PATIENCE)).await;
    emulator.spawn(NAME, command()).unwrap();
    emulator
}

#[tokio::test]
async fn output_of_a_process_is_in_the_log_of_its_invocation() {
    let emulator = spawned(Function::new().timeout(PATIENCE)).await;
    let client = client(&emulator);
    for number in 0..8 {
        let call = client.invoke(NAME).payload(format!("echo {number}")).tail_log();
        let response = call.send().await.unwrap();
        assert_eq!(response.payload, format!("echo {number}"));
        let log = response.log_text().unwrap();
        for line in [format!("out of fn: echo {number}\n"), format!("err: echo {number}\n")] {
            let (start, written, end) =
                (log.find("START"), log.find(&line), log.find("END RequestId"));
            assert!(start < written && written < end, "{line} {log}");
        }
    }
    assert_eq!(emulator.stats(NAME).unwrap().responses, 8);
}

#[tokio::test]
async fn exit_of_the_process_fails_its_invocation_and_the_next_one_gets_a_new_process() {
    let emulator = spawned(Function::new().timeout(PATIENCE)).await;
    let client = client(&emulator);
    for _ in 0..2 {
        let call = client.invoke(NAME).payload("exit").tail_log();
        let response = call.send().await.unwrap();
        assert!(response.log_text().unwrap().contains("out of fn: exit\n"));
        let failure = failure(response);
        assert_eq!(failure.error_type.as_deref(), Some("Runtime.ExitError"));
        let message = failure.error_message.unwrap();
        assert!(message.ends_with("Error: Runtime exited with error: exit status: 7"), "{message}");
        let response = client.invoke(NAME).payload("after").send().await.unwrap();
        assert_eq!(response.payload, "after");
    }
    let stats = emulator.stats(NAME).unwrap();
    assert_eq!((stats.started, stats.responses, stats.errors), (4, 2, 2));
}

#[tokio::test]
async fn process_is_killed_at_the_timeout() {
    let emulator = spawned(Function::new().timeout(Duration::from_secs(2))).await;
    let client = client(&emulator);
    let response = client.invoke(NAME).payload("hang").send().await.unwrap();
    assert_eq!(failure(response).error_type.as_deref(), Some("Sandbox.Timedout"));
    // The first process still hangs, and would never poll again.
    let response = client.invoke(NAME).payload("after").send().await.unwrap();
    assert_eq!(response.payload, "after");
}

#[tokio::test]
async fn process_that_exits_before_its_first_poll_fails_queued_calls() {
    let emulator = emulator(Function::new().init_timeout(PATIENCE)).await;
    let client = client(&emulator);
    let mut command = command();
    command.arg("fail");
    emulator.spawn(NAME, command).unwrap();
    for _ in 0..2 {
        let response = client.invoke(NAME).tail_log().send().await.unwrap();
        let log = response.log_text().unwrap().into_owned();
        assert_eq!(failure(response).error_type.as_deref(), Some("Runtime.ExitError"), "{log}");
    }
    assert_eq!(emulator.stats(NAME).unwrap().started, 0);
}

#[tokio::test]
async fn process_is_killed_with_its_emulator() {
    let emulator = spawned(Function::new().timeout(PATIENCE)).await;
    let client = client(&emulator);
    let response = client.invoke(NAME).payload("pid").send().await.unwrap();
    let stat = format!("/proc/{}/stat", response.text().unwrap());
    let runs = || fs::read_to_string(&stat).is_ok_and(|stat| !stat.contains(") Z "));
    // A hanging process does not notice that the Runtime API is closed.
    let hanging = tokio::spawn(client.invoke(NAME).payload("hang").send());
    within(async {
        while emulator.stats(NAME).unwrap().started < 2 {
            pause().await;
        }
    })
    .await;
    assert!(runs());
    drop(emulator);
    within(hanging).await.unwrap().unwrap_err();
    within(async {
        while runs() {
            pause().await;
        }
    })
    .await;
}

#[tokio::test]
async fn process_with_a_snapshot_is_restored_before_its_first_event() {
    let emulator = spawned(Function::new().timeout(PATIENCE).snap_start()).await;
    let client = client(&emulator);
    for restored in [true, false] {
        let response = client.invoke(NAME).payload("event").tail_log().send().await.unwrap();
        assert_eq!(response.payload, "event");
        assert_eq!(response.log_text().unwrap().contains("restored\n"), restored);
    }
}

#[tokio::test]
async fn spawn_returns_the_error_of_a_program_that_cannot_start() {
    let emulator = emulator(Function::new()).await;
    let missing = Command::new("/nonexistent/bootstrap");
    assert_eq!(emulator.spawn(NAME, missing).unwrap_err().kind(), io::ErrorKind::NotFound);
    assert_eq!(emulator.spawn("other", command()).unwrap_err().kind(), io::ErrorKind::NotFound);
}
