//! cargo-lambda, started for a test. It serves the Invoke API and the Runtime API on one port.

use std::fs;
use std::process::Command;

use crate::process::{Process, pinned_peer};

/// The name of a function without a name.
pub const FUNCTION: &str = "_";

/// The prefix of the paths of the Runtime API.
pub const BASE_PATH: &str = "/.rt";

/// Starts cargo-lambda without a function, so that it waits for a runtime. Returns `None` if it is not
/// installed.
///
/// # Panics
///
/// Panics if [`Process::start`] does.
pub fn start() -> Option<Process> {
    let program = pinned_peer("cargo-lambda")?;
    let process = Process::start(1, "starting Runtime server", |directory, ports| {
        fs::create_dir(directory.join("src")).expect("an empty directory");
        fs::write(directory.join("src/main.rs"), "fn main() {}").expect("an empty directory");
        fs::write(directory.join("Cargo.toml"), PACKAGE).expect("an empty directory");
        let mut command = Command::new(&program);
        command.args(["lambda", "watch", "--only-lambda-apis", "-A", "127.0.0.1", "-P"]);
        command.arg(ports[0].to_string()).current_dir(directory);
        command
    });
    // It writes the line just before it listens.
    process.wait_for_port(0);
    Some(process)
}

/// The package in whose directory cargo-lambda looks for functions.
const PACKAGE: &str = r#"
[package]
name = "peers"
edition = "2021"

[workspace]
"#;
