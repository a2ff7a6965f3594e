//! Where the sources of the dependencies are, for the test vectors that lie beside them.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// The directory of the package `name`, which the package in `manifest_directory` depends on
/// with all its features.
///
/// # Panics
///
/// Where it does not, and where cargo does not run.
pub fn directory(manifest_directory: &str, name: &str) -> PathBuf {
    // Of this platform alone: sources for others need not have been fetched.
    let version = cargo(&["-vV"], manifest_directory);
    let host = version.lines().find_map(|line| line.strip_prefix("host: ")).expect("a host");
    let metadata = cargo(
        &[
            "metadata",
            "--format-version=1",
            "--locked",
            "--all-features",
            "--filter-platform",
            host,
        ],
        manifest_directory,
    );
    let metadata: Value = serde_json::from_str(&metadata).expect("cargo writes JSON");
    let packages = metadata["packages"].as_array().expect("a list of packages");
    let package = packages.iter().find(|package| package["name"] == name);
    let manifest = package.and_then(|package| package["manifest_path"].as_str());
    let manifest = manifest.unwrap_or_else(|| panic!("{name} is not a dependency"));
    Path::new(manifest).with_file_name("")
}

fn cargo(arguments: &[&str], directory: &str) -> String {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo).args(arguments).current_dir(directory).output();
    let output = output.expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("cargo writes UTF-8")
}
