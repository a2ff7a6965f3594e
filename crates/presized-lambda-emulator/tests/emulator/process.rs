//! Functions that are processes.

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
async fn what_a_process_writes_is_in_the_log_of_its_invocation() {
    let emulator = spawned(Function::new().timeout(PATIENCE)).await;
    let client = client(&emulator);
    for number in 0..8 {
        let call = client.invoke(NAME).payload(format!("echo {number}")).tail_log();
        let answer = call.send().await.unwrap();
        assert_eq!(answer.payload, format!("echo {number}"));
        let log = answer.log_text().unwrap();
        for line in [format!("out of fn: echo {number}\n"), format!("err: echo {number}\n")] {
            let (start, written, end) =
                (log.find("START"), log.find(&line), log.find("END RequestId"));
            assert!(start < written && written < end, "{line} {log}");
        }
    }
    assert_eq!(emulator.stats(NAME).unwrap().responses, 8);
}

#[tokio::test]
async fn an_invocation_ends_with_its_process_and_the_next_one_has_another() {
    let emulator = spawned(Function::new().timeout(PATIENCE)).await;
    let client = client(&emulator);
    for _ in 0..2 {
        let call = client.invoke(NAME).payload("exit").tail_log();
        let answer = call.send().await.unwrap();
        assert!(answer.log_text().unwrap().contains("out of fn: exit\n"));
        let failure = failure(answer);
        assert_eq!(failure.error_type.as_deref(), Some("Runtime.ExitError"));
        let message = failure.error_message.unwrap();
        assert!(message.ends_with("Error: Runtime exited with error: exit status: 7"), "{message}");
        let answer = client.invoke(NAME).payload("after").send().await.unwrap();
        assert_eq!(answer.payload, "after");
    }
    let stats = emulator.stats(NAME).unwrap();
    assert_eq!((stats.started, stats.responses, stats.errors), (4, 2, 2));
}

#[tokio::test]
async fn a_process_that_takes_too_long_is_ended() {
    let emulator = spawned(Function::new().timeout(Duration::from_secs(2))).await;
    let client = client(&emulator);
    let answer = client.invoke(NAME).payload("hang").send().await.unwrap();
    assert_eq!(failure(answer).error_type.as_deref(), Some("Sandbox.Timedout"));
    // The first one hangs still, and would never ask for this.
    let answer = client.invoke(NAME).payload("after").send().await.unwrap();
    assert_eq!(answer.payload, "after");
}

#[tokio::test]
async fn a_process_that_never_asks_for_an_event_fails_those_that_wait() {
    let emulator = emulator(Function::new().init_timeout(PATIENCE)).await;
    let client = client(&emulator);
    let mut command = command();
    command.arg("fail");
    emulator.spawn(NAME, command).unwrap();
    for _ in 0..2 {
        let answer = client.invoke(NAME).tail_log().send().await.unwrap();
        let log = answer.log_text().unwrap().into_owned();
        assert_eq!(failure(answer).error_type.as_deref(), Some("Runtime.ExitError"), "{log}");
    }
    assert_eq!(emulator.stats(NAME).unwrap().started, 0);
}

#[tokio::test]
async fn a_process_ends_with_its_emulator() {
    let emulator = spawned(Function::new().timeout(PATIENCE)).await;
    let client = client(&emulator);
    let answer = client.invoke(NAME).payload("pid").send().await.unwrap();
    let stat = format!("/proc/{}/stat", answer.text().unwrap());
    let runs = || fs::read_to_string(&stat).is_ok_and(|stat| !stat.contains(") Z "));
    // So that it does not end by itself, for want of the Runtime API.
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
async fn what_cannot_be_started_is_said_at_once() {
    let emulator = emulator(Function::new()).await;
    let missing = Command::new("/nonexistent/bootstrap");
    assert_eq!(emulator.spawn(NAME, missing).unwrap_err().kind(), io::ErrorKind::NotFound);
    assert_eq!(emulator.spawn("other", command()).unwrap_err().kind(), io::ErrorKind::NotFound);
}
