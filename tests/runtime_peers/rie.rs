//! AWS's Runtime Interface Emulator, and what it is called by.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use bytes::Bytes;
use presized::lambda::invoke::Client;
use presized_support::process::{Process, example, pinned_peer, skip};
use tokio::time::sleep;

/// An emulator that runs one function in a process of its own.
pub(crate) struct Rie {
    process: Process,
    client: Client,
}

impl Rie {
    /// Serves one invocation after the other. None where the program is not installed.
    pub(crate) fn start(timeout_seconds: u32) -> Option<Self> {
        Self::start_with(timeout_seconds, &example(BOOTSTRAP))
    }

    /// The same with another function.
    pub(crate) fn start_with(timeout_seconds: u32, bootstrap: &Path) -> Option<Self> {
        let program = pinned_peer(PROGRAM)?;
        // It starts the function for the first invocation.
        let process = Process::start(2, "(rapid) exec", |directory, ports| {
            let mut command = Command::new(&program);
            settings(&mut command, timeout_seconds, ports);
            command.env_remove("AWS_LAMBDA_MAX_CONCURRENCY");
            command.arg(bootstrap).current_dir(directory);
            command
        });
        Some(Self::new(process))
    }

    /// Serves several invocations at the same time.
    ///
    /// It looks for the function in /var/task, and runs it as a user of its own. So it gets a
    /// /var that nobody else sees, and this needs the right to give it one. None where it has
    /// not.
    pub(crate) fn start_concurrent(at_once: usize, timeout_seconds: u32) -> Option<Self> {
        let program = pinned_peer(PROGRAM)?;
        let allowed = Command::new("unshare")
            .args(["--mount", "--", "mount", "-t", "tmpfs", "tmpfs", "/mnt"])
            .output()
            .is_ok_and(|output| output.status.success());
        if !allowed {
            skip("this user may not mount a directory for himself");
            return None;
        }
        // The function is up, in the sense that its process is.
        let process = Process::start(2, "LocalProcessSupervisor.Exec", |directory, ports| {
            let var = directory.join("var");
            fs::create_dir(&var).unwrap();
            let mut command = Command::new("unshare");
            command.args(["--mount", "--", "sh", "-ec", OWN_VAR, "sh"]);
            command.args([&var, &example(BOOTSTRAP), &program]);
            settings(&mut command, timeout_seconds, ports);
            command.env("AWS_LAMBDA_MAX_CONCURRENCY", at_once.to_string());
            command.arg("/var/task/bootstrap");
            command
        });
        Some(Self::new(process))
    }

    /// Blocks until the emulator accepts calls.
    fn new(process: Process) -> Self {
        process.wait_for_port(0);
        let client = crate::client(process.address(0));
        Self { process, client }
    }

    pub(crate) fn client(&self) -> &Client {
        &self.client
    }

    pub(crate) async fn invoke(&self, payload: impl Into<Bytes>) -> Bytes {
        crate::invoke(&self.client, FUNCTION, payload).await
    }

    /// What the emulator and the function have logged, once this is in it.
    pub(crate) async fn log_with(&self, text: &str) -> String {
        loop {
            let log = self.process.log();
            if log.contains(text) {
                return log;
            }
            sleep(Duration::from_millis(5)).await;
        }
    }
}

fn settings(command: &mut Command, timeout_seconds: u32, ports: &[u16]) {
    command.env("AWS_LAMBDA_FUNCTION_TIMEOUT", timeout_seconds.to_string());
    command.args(["--log-level", "info"]);
    command.args(["--runtime-interface-emulator-address", &format!("127.0.0.1:{}", ports[0])]);
    command.args(["--runtime-api-address", &format!("127.0.0.1:{}", ports[1])]);
}

const PROGRAM: &str = "aws-lambda-rie";

/// The example that is the function of most tests.
const BOOTSTRAP: &str = "test_function";

/// The only name that it knows.
pub(crate) const FUNCTION: &str = "function";

/// With a directory, the function and the emulator as arguments, and those of the emulator. All
/// is put under the new /var, because what was in it is out of sight from then on.
const OWN_VAR: &str = r#"
mount -t tmpfs -o mode=755 tmpfs "$1"
mkdir "$1/task"
touch "$1/task/bootstrap" "$1/task/emulator"
mount --bind "$2" "$1/task/bootstrap"
mount --bind "$3" "$1/task/emulator"
mount --rbind "$1" /var
shift 3
cd /
exec /var/task/emulator "$@"
"#;
