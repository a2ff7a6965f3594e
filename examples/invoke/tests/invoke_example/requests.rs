//! The requests of the example.

use std::fs;

use presized_support::scripted::{Recorded, Reply, Scripted};
use tempfile::TempDir;

use crate::{assert_response, command, invoke, ok, output_with};

#[tokio::test]
async fn payload_is_text_a_file_or_standard_input() {
    let server = Scripted::in_turn([ok("1"), ok("2"), ok("3"), ok("4")]);
    let directory = TempDir::new().unwrap();
    let file = directory.path().join("payload");
    fs::write(&file, b"\x00\xff@file").unwrap();
    let large = vec![b'x'; 1 << 20];

    assert_response(&invoke(&server, &[]).await, b"1");
    assert_response(&invoke(&server, &["--payload", r#"{"a": "@"}"#]).await, b"2");
    let at_file = format!("@{}", file.to_str().unwrap());
    assert_response(&invoke(&server, &["--payload", &at_file]).await, b"3");
    let mut command = command(&server, &["--payload", "@-"]);
    assert_response(&output_with(&mut command, &large).await, b"4");

    let sent: Vec<_> = server.requests().into_iter().map(|request| request.body).collect();
    assert_eq!(sent, [&b""[..], br#"{"a": "@"}"#, b"\x00\xff@file", &large]);
}

#[tokio::test]
async fn arguments_are_sent_in_the_request() {
    let server = Scripted::start(|_, request: &Recorded| match request.target() {
        "/2015-03-31/functions/hello/invocations" => ok("plain"),
        "/2015-03-31/functions/hello/invocations?Qualifier=%24LATEST" => ok("qualified"),
        other => Reply::response("404 Not Found", &[], other),
    });
    assert_response(&invoke(&server, &[]).await, b"plain");
    let arguments = ["--qualifier", "$LATEST", "--tail"];
    assert_response(&invoke(&server, &arguments).await, b"qualified");

    let requests = server.requests();
    let log_type: Vec<_> =
        requests.iter().map(|request| request.header("x-amz-log-type")).collect();
    assert_eq!(log_type, [None, Some("Tail")]);
    let authorization = requests[0].header("authorization").unwrap();
    assert!(authorization.contains("/eu-north-1/lambda/aws4_request"), "{authorization}");
    let agent = requests[0].header("user-agent").unwrap();
    assert!(agent.starts_with("presized-invoke/"), "{agent}");
}
