//! The examples of the Invoke client, run as commands.

#[cfg(unix)]
mod credentials;
mod failures;
mod output;
mod proxies;
mod requests;
mod responses;
mod settings;
mod streams;

use std::process::{Output, Stdio};
use std::time::Duration;

use presized_support::scripted::{Reply, Scripted};
use tokio::io::AsyncWriteExt;
use tokio::process::Command;
use tokio::time::timeout;

/// Runs the example `invoke` against a server.
async fn invoke(server: &Scripted, arguments: &[&str]) -> Output {
    output_of(&mut command(server, arguments)).await
}

/// Runs the example `invoke` against a server with one reply.
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

/// Makes the command of an example in an environment without the variables that it reads.
fn bare(example: &str) -> Command {
    let mut command = Command::new(match example {
        "credentials" => env!("CARGO_BIN_EXE_credentials"),
        _ => env!("CARGO_BIN_EXE_invoke"),
    });
    for (name, _) in std::env::vars_os() {
        let upper = name.to_string_lossy().to_ascii_uppercase();
        if upper.starts_with("AWS_") || upper.ends_with("_PROXY") || upper == "REQUEST_METHOD" {
            command.env_remove(name);
        }
    }
    command.kill_on_drop(true);
    command
}

async fn output_of(command: &mut Command) -> Output {
    timeout(PATIENCE, command.output()).await.expect("ends in 20 s").unwrap()
}

/// Runs a command with this standard input.
async fn output_with(command: &mut Command, input: &[u8]) -> Output {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(input).await.unwrap();
    timeout(PATIENCE, child.wait_with_output()).await.expect("ends in 20 s").unwrap()
}

/// Asserts exit code 0, this response, and an empty standard error.
#[track_caller]
fn assert_response(run: &Output, response: &[u8]) {
    assert_eq!((run.status.code(), stderr(run)), (Some(0), ""));
    assert!(run.stdout == response, "{} bytes, not {}", run.stdout.len(), response.len());
}

/// Asserts this exit code, `message` on standard error, and an empty standard output.
#[track_caller]
fn assert_failure(run: &Output, code: i32, message: &str) {
    let printed = stderr(run);
    assert_eq!(run.status.code(), Some(code), "{printed}");
    assert!(printed.starts_with("invoke: ") && printed.contains(message), "{printed}");
    assert_eq!(run.stdout, b"");
}

fn stderr(run: &Output) -> &str {
    std::str::from_utf8(&run.stderr).unwrap()
}

/// Makes a response with status 200.
fn ok(body: impl AsRef<[u8]>) -> Reply {
    Reply::response("200 OK", &[], body)
}

const KEYS: [(&str, &str); 2] =
    [("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE"), ("AWS_SECRET_ACCESS_KEY", "not-a-real-secret")];

/// A test that hangs fails. No test waits for it.
const PATIENCE: Duration = Duration::from_secs(20);
