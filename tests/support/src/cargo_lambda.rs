//! cargo-lambda, a server of the Invoke API and of the Runtime API, both on its only port.

use std::fs;
use std::process::Command;

use crate::process::{Process, pinned_peer};

/// The function of whoever gives it no name.
pub const FUNCTION: &str = "_";

/// What goes before the paths of the Runtime API.
pub const BASE_PATH: &str = "/.rt";

/// Starts it with no function, so that it waits for the runtime of one. None where it is not
/// installed.
///
/// # Panics
///
/// As [`Process::start`].
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
    // It says so just before.
    process.wait_for_port(0);
    Some(process)
}

/// It looks for the functions of a package.
const PACKAGE: &str = r#"
[package]
name = "peers"
edition = "2021"

[workspace]
"#;
