//! Finds the source directories of dependencies, which contain test vectors.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// Returns the directory of the package `name`, a dependency of the package in `manifest_directory` with
/// all features.
///
/// # Panics
///
/// Panics if `name` is not a dependency, or if cargo fails.
pub fn directory(manifest_directory: &str, name: &str) -> PathBuf {
    // For this platform only, because the sources for others may not have been fetched.
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
