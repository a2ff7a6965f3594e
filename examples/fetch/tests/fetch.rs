//! Tests of the command `fetch`.

use std::fs;
use std::path::Path;
use std::process::Output;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use presized_support::pattern::is_whole;
use presized_support::server::{Protocol, Server, known, unknown};
use tempfile::TempDir;
use tokio::process::Command;
use tokio::time::timeout;

const MIB: u64 = 1 << 20;

#[tokio::test]
async fn content_goes_to_standard_output_byte_for_byte() {
    let server = Server::start(Protocol::Http1).unwrap();
    for size in [0, 1, MIB, 6 * MIB] {
        for path in [known(size), unknown(size)] {
            let run = fetch(&[&server.endpoint().url(&path)]).await;
            assert_eq!((run.status.code(), stderr(&run)), (Some(0), ""), "{path}");
            assert!(is_whole(&run.stdout, size), "{path}");
        }
    }
}

#[tokio::test]
async fn content_goes_to_a_file() {
    let server = Server::start(Protocol::Http1).unwrap();
    let directory = TempDir::new().unwrap();
    let file = directory.path().join("content");
    // The second content replaces the first.
    for path in [known(6 * MIB), unknown(MIB)] {
        let url = server.endpoint().url(&path);
        let run = fetch(&[&url, "--output", file.to_str().unwrap()]).await;
        assert_eq!((run.status.code(), stderr(&run)), (Some(0), ""), "{path}");
        assert_eq!(run.stdout, b"");
    }
    assert!(is_whole(&fs::read(&file).unwrap(), MIB));
}

#[tokio::test]
async fn https_needs_a_trusted_certificate() {
    let directory = TempDir::new().unwrap();
    let start = |name: &str| {
        let server = Server::start(Protocol::Tls).unwrap();
        let certificate = server.endpoint().certificate.clone().unwrap();
        let file = directory.path().join(name);
        let text = STANDARD.encode(certificate);
        let frame = |word| format!("-----{word} CERTIFICATE-----\n");
        fs::write(&file, format!("{}{text}\n{}", frame("BEGIN"), frame("END"))).unwrap();
        (server, file)
    };
    let (server, trusted) = start("one");
    let (_other, untrusted) = start("other");
    let url = server.endpoint().url(&known(6 * MIB));

    // On Linux the trusted certificates of the system can be set by this variable.
    let run = output_of(command(&[&url]).env("SSL_CERT_FILE", trusted)).await;
    assert_eq!((run.status.code(), stderr(&run)), (Some(0), ""));
    assert!(is_whole(&run.stdout, 6 * MIB));

    let run = output_of(command(&[&url]).env("SSL_CERT_FILE", untrusted)).await;
    assert_failure(&run, 3, "invalid peer certificate");
}

#[tokio::test]
async fn redirects_are_followed() {
    let server = Server::start(Protocol::Http1).unwrap();
    let to = server.endpoint().url(&known(MIB));
    let run = fetch_response(&format!("302 Found\r\nLocation: {to}"), "", &[]).await;
    assert_eq!(run.status.code(), Some(0), "{}", stderr(&run));
    assert!(is_whole(&run.stdout, MIB));
}

#[tokio::test]
async fn content_over_the_limit_is_refused() {
    let server = Server::start(Protocol::Http1).unwrap();
    let declared = server.endpoint().url(&known(MIB + 1));
    let run = fetch(&[&declared, "--limit", "1MiB"]).await;
    let message = "body declares 1048577 bytes, over the limit of 1048576 bytes";
    assert_failure(&run, 5, message);

    let chunked = server.endpoint().url(&unknown(MIB + 1));
    let run = fetch(&[&chunked, "--limit", "1048576"]).await;
    assert_failure(&run, 5, "body is over the limit of 1048576 bytes: 1048577 bytes received");

    for limit in ["1048577", "1025KiB", "2MiB", "1GiB"] {
        let run = fetch(&[&declared, "--limit", limit]).await;
        assert!(is_whole(&run.stdout, MIB + 1), "{limit}: {}", stderr(&run));
    }
}

#[tokio::test]
async fn truncated_content_is_an_error() {
    let run = fetch_response("200 OK\r\nContent-Length: 10", "12345", &[]).await;
    assert_failure(&run, 6, "5 of 10 declared bytes received: ");

    let run = fetch_response("200 OK\r\nTransfer-Encoding: chunked", "5\r\n12345\r\n", &[]).await;
    assert_failure(&run, 6, "5 bytes received: ");
}

#[tokio::test]
async fn failure_creates_and_changes_no_file() {
    let directory = TempDir::new().unwrap();
    let path = |name| directory.path().join(name);
    fs::write(path("old"), "as it was").unwrap();
    for (head, code) in [
        ("200 OK\r\nContent-Length: 10", 6),
        ("200 OK\r\nContent-Length: 999999999", 5),
        ("500 Internal Server Error", 4),
    ] {
        for name in ["old", "new"] {
            let file = path(name);
            let arguments = ["--output", file.to_str().unwrap()];
            let run = fetch_response(head, "12345", &arguments).await;
            assert_failure(&run, code, "");
        }
        assert_eq!(fs::read_to_string(path("old")).unwrap(), "as it was");
        assert!(!path("new").exists());
    }
}

#[tokio::test]
async fn error_status_shows_the_beginning_of_the_content() {
    let content = "no \u{1b}[31msuch\u{1b}[0m file\n1";
    let run = fetch_response("404 Not Found\r\nContent-Length: 24", content, &[]).await;
    // The terminal gets no control sequence.
    let message = r#"status 404 Not Found: "no \u{1b}[31msuch\u{1b}[0m file\n1""#;
    assert_failure(&run, 4, message);

    let run = fetch_response("503 Service Unavailable", &"long ".repeat(1000), &[]).await;
    assert_failure(&run, 4, "status 503 Service Unavailable: \"long long ");
    assert!(stderr(&run).len() < 300);

    let run = fetch_response("502 Bad Gateway\r\nContent-Length: 10", "12345", &[]).await;
    assert_failure(&run, 4, "status 502 Bad Gateway: \"12345\"");
}

#[tokio::test]
async fn missing_response_is_an_error() {
    // No server listens on port 1.
    assert_failure(&fetch(&["http://127.0.0.1:1/"]).await, 3, "Connection refused");
    assert_failure(&fetch_response("302 Found\r\nLocation: /", "", &[]).await, 3, "redirect");
    assert_failure(&fetch_response("no status", "", &[]).await, 3, "no response: ");
}

#[tokio::test]
async fn content_that_cannot_be_written_is_an_error() {
    let server = Server::start(Protocol::Http1).unwrap();
    let directory = TempDir::new().unwrap();
    let url = server.endpoint().url(&known(MIB));
    let run = fetch(&[&url, "--output", directory.path().to_str().unwrap()]).await;
    assert_failure(&run, 1, "cannot write the content: ");

    // A device that is always full. It must not be removed.
    let full = Path::new("/dev/full");
    if full.exists() {
        let run = fetch(&[&url, "--output", "/dev/full"]).await;
        assert_failure(&run, 1, "cannot write the content: ");
        assert!(full.exists());
    }
}

#[tokio::test]
async fn wrong_arguments_have_an_exit_code_of_their_own() {
    for arguments in [
        &[][..],
        &["not a URL"],
        &["file:///etc/hostname"],
        &["http://127.0.0.1:1/", "http://127.0.0.1:1/"],
        &["http://127.0.0.1:1/", "--limit"],
        &["http://127.0.0.1:1/", "--limit", "-1"],
        &["http://127.0.0.1:1/", "--limit", "1.5MiB"],
        &["http://127.0.0.1:1/", "--limit", "1MB"],
        &["http://127.0.0.1:1/", "--limit", "MiB"],
        &["http://127.0.0.1:1/", "--limit", "18446744073709551616"],
        &["http://127.0.0.1:1/", "--limit", "17179869184GiB"],
        &["http://127.0.0.1:1/", "--no-such-option"],
    ] {
        let run = fetch(arguments).await;
        assert_eq!((run.status.code(), &*run.stdout), (Some(2), &b""[..]), "{arguments:?}");
        assert!(stderr(&run).contains("--help"), "{arguments:?}: {}", stderr(&run));
    }
    let help = fetch(&["--help"]).await;
    assert_eq!(help.status.code(), Some(0));
    assert!(String::from_utf8_lossy(&help.stdout).contains("Exit codes:"));
}

/// Runs `fetch` against a server that sends this head and this body, and closes the connection.
async fn fetch_response(head: &str, body: &str, arguments: &[&str]) -> Output {
    let server = Server::raw(format!("HTTP/1.1 {head}\r\n\r\n{body}")).unwrap();
    fetch(&[&[&*server.endpoint().url("/")], arguments].concat()).await
}

async fn fetch(arguments: &[&str]) -> Output {
    output_of(&mut command(arguments)).await
}

fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fetch"));
    // A proxy of the environment does not lead to loopback.
    command.args(arguments).env("NO_PROXY", "*").kill_on_drop(true);
    command
}

async fn output_of(command: &mut Command) -> Output {
    timeout(Duration::from_secs(20), command.output()).await.expect("ends in 20 s").unwrap()
}

/// Asserts one line on standard error that contains `message`, and no standard output.
#[track_caller]
fn assert_failure(run: &Output, code: i32, message: &str) {
    let line = stderr(run);
    assert_eq!(run.status.code(), Some(code), "{line}");
    assert!(line.starts_with("fetch: ") && line.contains(message), "{line}");
    assert_eq!(line.lines().count(), 1, "{line}");
    assert_eq!(run.stdout, b"");
}

fn stderr(run: &Output) -> &str {
    std::str::from_utf8(&run.stderr).unwrap()
}
