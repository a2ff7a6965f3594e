//! AWS's Runtime Interface Emulator, started for a test.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::process::{Process, pinned_peer, skip};

/// Starts the emulator with one function, which serves one invocation after the other. Returns
/// `None` if the emulator is not installed.
///
/// Port 0 is the Invoke API. The only function name is [`FUNCTION`].
pub fn start(timeout_seconds: u32, bootstrap: &Path) -> Option<Process> {
    let program = pinned_peer(PROGRAM)?;
    // The emulator starts the function at the first invocation.
    let process = Process::start(2, "(rapid) exec", |directory, ports| {
        let mut command = Command::new(&program);
        settings(&mut command, timeout_seconds, ports);
        command.env_remove("AWS_LAMBDA_MAX_CONCURRENCY");
        command.arg(bootstrap).current_dir(directory);
        command
    });
    process.wait_for_port(0);
    Some(process)
}

/// Starts the emulator with one function, which serves several invocations at a time. Returns
/// `None` if the emulator is not installed, or if this user may not mount a directory.
///
/// The emulator looks for the function in /var/task, and runs it as a user of its own. It gets a
/// private /var, and this needs the right to mount one.
pub fn start_concurrent(
    concurrency: usize,
    timeout_seconds: u32,
    bootstrap: &Path,
) -> Option<Process> {
    let program = pinned_peer(PROGRAM)?;
    let allowed = Command::new("unshare")
        .args(["--mount", "--", "mount", "-t", "tmpfs", "tmpfs", "/mnt"])
        .output()
        .is_ok_and(|output| output.status.success());
    if !allowed {
        skip("this user may not mount a directory");
        return None;
    }
    // The emulator writes this line when the process of the function runs.
    let process = Process::start(2, "LocalProcessSupervisor.Exec", |directory, ports| {
        let var = directory.join("var");
        fs::create_dir(&var).expect("a new directory");
        let mut command = Command::new("unshare");
        command.args(["--mount", "--", "sh", "-ec", OWN_VAR, "sh"]);
        command.args([var.as_path(), bootstrap, &program]);
        settings(&mut command, timeout_seconds, ports);
        command.env("AWS_LAMBDA_MAX_CONCURRENCY", concurrency.to_string());
        command.arg("/var/task/bootstrap");
        command
    });
    process.wait_for_port(0);
    Some(process)
}

fn settings(command: &mut Command, timeout_seconds: u32, ports: &[u16]) {
    command.env("AWS_LAMBDA_FUNCTION_TIMEOUT", timeout_seconds.to_string());
    command.args(["--log-level", "info"]);
    command.args(["--runtime-interface-emulator-address", &format!("127.0.0.1:{}", ports[0])]);
    command.args(["--runtime-api-address", &format!("127.0.0.1:{}", ports[1])]);
}

/// The only function name that the emulator knows.
pub const FUNCTION: &str = "function";

const PROGRAM: &str = "aws-lambda-rie";

/// Takes a directory, the function, the emulator, and the arguments of the emulator. Everything is
/// put under the new /var, because it hides the content of the old one.
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
