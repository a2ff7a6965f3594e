//! The output for a call that fails.

use presized_support::scripted::{Reply, Scripted};

use crate::{KEYS, assert_failure, bare, invoke, invoke_once, output_of, stderr};

#[tokio::test]
async fn service_error_is_printed() {
    let headers = [("x-amzn-ErrorType", "ResourceNotFoundException:"), ("x-amzn-RequestId", "r-1")];
    let body = r#"{"Message":"Function not found: \u001b]0;hello"}"#;
    let run = invoke_once(Reply::response("404 Not Found", &headers, body), &[]).await;
    let message = "ResourceNotFoundException (status 404, request r-1): \
                   Function not found: \\u{1b}]0;hello";
    assert_failure(&run, 2, message);
    assert_eq!(stderr(&run).lines().count(), 1);
}

#[tokio::test]
async fn message_tells_whether_the_function_may_have_run() {
    let cut = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n12345";
    let run = invoke_once(Reply::Close(cut.into()), &[]).await;
    assert_failure(&run, 2, "the connection was closed after 5 of 10 bytes");
    assert!(stderr(&run).contains("the function may have run"), "{}", stderr(&run));

    // No server listens on port 1.
    let mut command = bare("invoke");
    command.args(["hello", "--region", "eu-north-1", "--endpoint", "http://127.0.0.1:1"]);
    let run = output_of(command.envs(KEYS)).await;
    assert_failure(&run, 2, "connection failed");
    assert!(!stderr(&run).contains("may have run"), "{}", stderr(&run));
}

#[tokio::test]
async fn call_ends_at_its_timeout() {
    for arguments in [&["--timeout", "1"][..], &["--timeout", "1", "--stream"]] {
        let run = invoke_once(Reply::Hang("".into()), arguments).await;
        assert_failure(&run, 2, "timed out after 1");
    }
}

#[tokio::test]
async fn call_with_wrong_arguments_is_not_made() {
    let server = Scripted::in_turn([]);
    for arguments in [
        &["another"][..],
        &["--limit"],
        &["--limit", "-1"],
        &["--limit", "1.5MiB"],
        &["--limit", "1MB"],
        &["--limit", "17179869184GiB"],
        &["--timeout", "0"],
        &["--timeout", "soon"],
        &["--no-such-option"],
    ] {
        let run = invoke(&server, arguments).await;
        assert_eq!((run.status.code(), &*run.stdout), (Some(2), &b""[..]), "{arguments:?}");
        assert!(stderr(&run).contains("--help"), "{arguments:?}: {}", stderr(&run));
    }
    assert_failure(&invoke(&server, &["--payload", "@/no/such/file"]).await, 2, "/no/such/file: ");
    assert_eq!(server.requests().len(), 0);

    let help = invoke(&server, &["--help"]).await;
    assert_eq!(help.status.code(), Some(0));
    assert!(String::from_utf8_lossy(&help.stdout).contains("Exit codes:"));
}
