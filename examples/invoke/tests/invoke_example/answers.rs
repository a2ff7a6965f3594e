//! What comes of a function that answers, and of one that fails.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use presized_support::scripted::Reply;

use crate::{assert_answer, assert_failure, invoke_once, ok, stderr};

#[tokio::test]
async fn an_answer_goes_to_standard_output_byte_for_byte() {
    let large: Vec<u8> = (0..6 << 20).map(|i: u32| (i % 251) as u8).collect();
    for answer in [&b""[..], b"{}", b"no newline", b"\x00\xff\x1b[31m\n", &large] {
        assert_answer(&invoke_once(ok(answer), &[]).await, answer);
    }
}

#[tokio::test]
async fn the_log_goes_to_standard_error() {
    let reply = |log: &[u8], more: &[_]| {
        let log = STANDARD.encode(log);
        Reply::response("200 OK", &[&[("X-Amz-Log-Result", &*log)], more].concat(), "{}")
    };
    // It begins inside a character.
    let log = b"\xa9 START\nsays \x1b[2J\tEND\n";
    let run = invoke_once(reply(log, &[]), &["--tail"]).await;
    assert_eq!((run.status.code(), &*run.stdout), (Some(0), &b"{}"[..]));
    assert_eq!(stderr(&run), "\u{fffd} START\nsays \\u{1b}[2J\tEND\n");

    // Node.js puts carriage returns between lines of one record.
    let run = invoke_once(reply(b"a\rb\r\nc", &[]), &["--tail"]).await;
    assert_eq!(stderr(&run), "a\nb\nc\n");

    let failed = [("X-Amz-Function-Error", "Unhandled")];
    let run = invoke_once(reply(b"END", &failed), &["--tail"]).await;
    assert_eq!((run.status.code(), &*run.stdout), (Some(1), &b""[..]));
    assert!(stderr(&run).starts_with("END\ninvoke: function failed"), "{}", stderr(&run));
}

#[tokio::test]
async fn a_function_that_fails_is_told_with_its_trace() {
    for (payload, said) in [
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
        assert_eq!(stderr(&run), said);
    }
}

#[tokio::test]
async fn what_is_no_report_of_a_failure_is_not_shown_whole() {
    let headers = [("X-Amz-Function-Error", "Unhandled")];
    let run = invoke_once(Reply::response("200 OK", &headers, "x".repeat(1 << 20)), &[]).await;
    assert_failure(&run, 1, &format!(": \"{}\"\n", "x".repeat(200)));
}

#[tokio::test]
async fn an_answer_over_the_limit_is_refused() {
    let run = invoke_once(ok("12345678"), &["--limit", "7"]).await;
    assert_failure(&run, 2, "declares 8 bytes, over the limit of 7 bytes");

    let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n8\r\n12345678\r\n0\r\n\r\n";
    let run = invoke_once(Reply::Keep(chunked.into()), &["--limit", "7B"]).await;
    assert_failure(&run, 2, "over the limit of 7 bytes: 8 bytes received");

    for limit in ["8", "1KiB", "1MiB", "1GiB"] {
        assert_answer(&invoke_once(ok("12345678"), &["--limit", limit]).await, b"12345678");
    }
}
