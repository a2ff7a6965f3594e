//! The examples of the Invoke client, run as commands.

mod answers;
#[cfg(unix)]
mod credentials;
mod failures;
mod output;
mod requests;
mod settings;
mod streams;

use std::process::{Output, Stdio};
use std::time::Duration;

use presized_support::scripted::{Reply, Scripted};
use tokio::io::AsyncWriteExt;
use tokio::process::Command;
use tokio::time::timeout;

/// The example `invoke` against a server, with all that it needs.
async fn invoke(server: &Scripted, arguments: &[&str]) -> Output {
    output_of(&mut command(server, arguments)).await
}

/// The example `invoke` against a server that answers like this once.
async fn invoke_once(reply: Reply, arguments: &[&str]) -> Output {
    invoke(&Scripted::in_turn([reply]), arguments).await
}

fn command(server: &Scripted, arguments: &[&str]) -> Command {
    let mut command = bare("invoke");
    command
        .args(["hello", "--region", "eu-north-1", "--endpoint", &server.url()])
        .args(arguments)
        .envs(KEYS);
    command
}

/// An example in an environment that says nothing of AWS.
fn bare(example: &str) -> Command {
    let mut command = Command::new(match example {
        "credentials" => env!("CARGO_BIN_EXE_credentials"),
        _ => env!("CARGO_BIN_EXE_invoke"),
    });
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("AWS_") {
            command.env_remove(name);
        }
    }
    command.kill_on_drop(true);
    command
}

async fn output_of(command: &mut Command) -> Output {
    timeout(PATIENCE, command.output()).await.expect("ends in 20 s").unwrap()
}

/// The same with something on standard input.
async fn output_with(command: &mut Command, input: &[u8]) -> Output {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(input).await.unwrap();
    timeout(PATIENCE, child.wait_with_output()).await.expect("ends in 20 s").unwrap()
}

/// Exit code 0 and this answer, and nothing else.
#[track_caller]
fn assert_answer(run: &Output, answer: &[u8]) {
    assert_eq!((run.status.code(), stderr(run)), (Some(0), ""));
    assert!(run.stdout == answer, "{} bytes, not {}", run.stdout.len(), answer.len());
}

/// `message` on standard error, and nothing on standard output.
#[track_caller]
fn assert_failure(run: &Output, code: i32, message: &str) {
    let said = stderr(run);
    assert_eq!(run.status.code(), Some(code), "{said}");
    assert!(said.starts_with("invoke: ") && said.contains(message), "{said}");
    assert_eq!(run.stdout, b"");
}

fn stderr(run: &Output) -> &str {
    std::str::from_utf8(&run.stderr).unwrap()
}

/// 200 with this body.
fn ok(body: impl AsRef<[u8]>) -> Reply {
    Reply::response("200 OK", &[], body)
}

const KEYS: [(&str, &str); 2] =
    [("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE"), ("AWS_SECRET_ACCESS_KEY", "not-a-real-secret")];

/// So that nothing hangs. No test waits for it.
const PATIENCE: Duration = Duration::from_secs(20);
