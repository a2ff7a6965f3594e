//! The output for a function that succeeds or fails.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use presized_support::scripted::Reply;

use crate::{assert_failure, assert_response, invoke_once, ok, stderr};

#[tokio::test]
async fn response_is_written_to_standard_output_unchanged() {
    let large: Vec<u8> = (0..6 << 20).map(|i: u32| (i % 251) as u8).collect();
    for response in [&b""[..], b"{}", b"no newline", b"\x00\xff\x1b[31m\n", &large] {
        assert_response(&invoke_once(ok(response), &[]).await, response);
    }
}

#[tokio::test]
async fn log_is_written_to_standard_error() {
    let reply = |log: &[u8], more: &[_]| {
        let log = STANDARD.encode(log);
        Reply::response("200 OK", &[&[("X-Amz-Log-Result", &*log)], more].concat(), "{}")
    };
    // It begins within a UTF-8 character.
    let log = b"\xa9 START\nsays \x1b[2J\tEND\n";
    let run = invoke_once(reply(log, &[]), &["--tail"]).await;
    assert_eq!((run.status.code(), &*run.stdout), (Some(0), &b"{}"[..]));
    assert_eq!(stderr(&run), "\u{fffd} START\nsays \\u{1b}[2J\tEND\n");

    // Node.js separates the lines of one log record with carriage returns.
    let run = invoke_once(reply(b"a\rb\r\nc", &[]), &["--tail"]).await;
    assert_eq!(stderr(&run), "a\nb\nc\n");

    let failed = [("X-Amz-Function-Error", "Unhandled")];
    let run = invoke_once(reply(b"END", &failed), &["--tail"]).await;
    assert_eq!((run.status.code(), &*run.stdout), (Some(1), &b""[..]));
    assert!(stderr(&run).starts_with("END\ninvoke: function failed"), "{}", stderr(&run));
}

#[tokio::test]
async fn function_error_is_printed_with_its_stack_trace() {
    for (payload, printed) in [
        (
            r#"{"errorType":"ValueError","errorMessage":"no\u001b[31mne","stackTrace":["  at a\n","  at b"]}"#,
            "invoke: function failed (unhandled): ValueError: no\\u{1b}[31mne\n    at a\n    at b\n",
        ),
        (
            r#"{"errorMessage":"Task timed out after 3.00 seconds"}"#,
            "invoke: function failed (unhandled): Task timed out after 3.00 seconds\n",
        ),
        (r#"["what"]"#, "invoke: function failed (unhandled): \"[\\\"what\\\"]\"\n"),
        ("", "invoke: function failed (unhandled): \"\"\n"),
    ] {
        let headers = [("X-Amz-Function-Error", "Unhandled")];
        let run = invoke_once(Reply::response("200 OK", &headers, payload), &[]).await;
        assert_failure(&run, 1, "");
        assert_eq!(stderr(&run), printed);
    }
}

#[tokio::test]
async fn payload_that_is_not_an_error_report_is_shortened() {
    let headers = [("X-Amz-Function-Error", "Unhandled")];
    let run = invoke_once(Reply::response("200 OK", &headers, "x".repeat(1 << 20)), &[]).await;
    assert_failure(&run, 1, &format!(": \"{}\"\n", "x".repeat(200)));
}

#[tokio::test]
async fn response_over_the_limit_is_refused() {
    let run = invoke_once(ok("12345678"), &["--limit", "7"]).await;
    assert_failure(&run, 2, "declares 8 bytes, over the limit of 7 bytes");

    let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n8\r\n12345678\r\n0\r\n\r\n";
    let run = invoke_once(Reply::Keep(chunked.into()), &["--limit", "7B"]).await;
    assert_failure(&run, 2, "over the limit of 7 bytes: 8 bytes received");

    for limit in ["8", "1KiB", "1MiB", "1GiB"] {
        assert_response(&invoke_once(ok("12345678"), &["--limit", limit]).await, b"12345678");
    }
}
