//! The output for a streamed response.

use std::process::Stdio;

use presized_support::eventstream::{CHUNK, DONE_ERR, DONE_OK, EXCEPTION, complete, unhex};
use presized_support::scripted::{Reply, Scripted};
use tokio::io::AsyncReadExt;
use tokio::time::timeout;

use crate::{PATIENCE, assert_response, command, invoke, invoke_once, stderr};

#[tokio::test]
async fn chunks_are_written_to_standard_output() {
    let server = Scripted::in_turn([frames(&[CHUNK, CHUNK, DONE_OK]), frames(&[DONE_OK])]);
    let arguments = ["--stream", "--qualifier", "live", "--payload", "{}"];
    assert_response(&invoke(&server, &arguments).await, b"abcabc");
    assert_response(&invoke(&server, &["--stream"]).await, b"");

    let request = &server.requests()[0];
    let target = "/2021-11-15/functions/hello/response-streaming-invocations?Qualifier=live";
    assert_eq!((request.target(), &*request.body), (target, &b"{}"[..]));
}

#[tokio::test]
async fn chunk_is_written_when_it_arrives() {
    let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    let chunk = unhex(CHUNK);
    let sent = [format!("{head}{:x}\r\n", chunk.len()).as_bytes(), &chunk, b"\r\n"].concat();
    let server = Scripted::in_turn([Reply::Hang(sent.into())]);

    let mut child = command(&server, &["--stream"]).stdout(Stdio::piped()).spawn().unwrap();
    let mut arrived = [0; 3];
    let read = child.stdout.as_mut().unwrap().read_exact(&mut arrived);
    timeout(PATIENCE, read).await.expect("arrives before the end").unwrap();
    assert_eq!(&arrived, b"abc");
    assert!(child.try_wait().unwrap().is_none());
}

#[tokio::test]
async fn stream_without_a_successful_end_is_an_error() {
    for (last, code, printed) in [
        (&[DONE_ERR][..], 1, "invoke: function failed while streaming: Runtime.Broken: x\n"),
        (&[EXCEPTION], 2, "invoke: ServiceException (status 200): x"),
        (
            &[],
            2,
            "invoke: response is incomplete: it ended early after 3 bytes; the function may have \
             run: ",
        ),
    ] {
        let run = invoke_once(frames(&[&[CHUNK], last].concat()), &["--stream"]).await;
        assert_eq!((run.status.code(), &*run.stdout), (Some(code), &b"abc"[..]), "{printed}");
        assert!(stderr(&run).starts_with(printed), "{}", stderr(&run));
    }
}

#[tokio::test]
async fn log_is_printed_at_the_end() {
    // "END\n" in base64.
    for (end, code) in [
        (r#"{"LogResult":"RU5ECg=="}"#, 0),
        (r#"{"ErrorCode":"Broken","LogResult":"RU5ECg=="}"#, 1),
    ] {
        let body = [unhex(CHUNK), complete(end)].concat();
        let server = Scripted::in_turn([Reply::response("200 OK", &[], body)]);
        let run = invoke(&server, &["--stream", "--tail"]).await;
        assert_eq!((run.status.code(), &*run.stdout), (Some(code), &b"abc"[..]), "{end}");
        assert!(stderr(&run).starts_with("END\n"), "{}", stderr(&run));
        assert_eq!(server.requests()[0].header("x-amz-log-type"), Some("Tail"));
    }
}

#[tokio::test]
async fn limit_counts_the_bytes_of_the_function() {
    let reply = || frames(&[CHUNK, CHUNK, DONE_OK]);
    let run = invoke_once(reply(), &["--stream", "--limit", "5"]).await;
    assert_eq!((run.status.code(), &*run.stdout), (Some(2), &b"abc"[..]));
    let printed = "invoke: response exceeds the limit of 5 bytes: 6 bytes received\n";
    assert_eq!(stderr(&run), printed);

    assert_response(&invoke_once(reply(), &["--stream", "--limit", "6"]).await, b"abcabc");
}

/// Makes a response with status 200 and these frames, which are in hex digits.
pub(crate) fn frames(frames: &[&str]) -> Reply {
    let headers = [("Content-Type", "application/vnd.amazon.eventstream")];
    Reply::response("200 OK", &headers, unhex(&frames.concat()))
}
