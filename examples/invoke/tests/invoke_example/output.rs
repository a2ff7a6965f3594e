//! The destination of the response.

use std::fs::{self, File};
use std::path::Path;
use std::process::Stdio;

use presized_support::eventstream::{CHUNK, DONE_ERR, DONE_OK};
use presized_support::scripted::{Reply, Scripted};
use tempfile::TempDir;
use tokio::time::timeout;

use crate::streams::frames;
use crate::{PATIENCE, assert_failure, assert_response, command, invoke, invoke_once, ok};

#[tokio::test]
async fn response_is_written_to_a_file() {
    let directory = TempDir::new().unwrap();
    let file = directory.path().join("response");
    let out = ["--out", file.to_str().unwrap()];
    // Each response replaces the previous one.
    for (reply, arguments, response) in [
        (ok("the first and the longest"), &out[..], "the first and the longest"),
        (ok("second"), &out, "second"),
        (frames(&[CHUNK, CHUNK, DONE_OK]), &["--stream", out[0], out[1]], "abcabc"),
        (ok(""), &out, ""),
    ] {
        assert_response(&invoke_once(reply, arguments).await, b"");
        assert_eq!(fs::read_to_string(&file).unwrap(), response);
    }
    assert_eq!(names(directory.path()), ["response"]);
}

#[tokio::test]
async fn failure_neither_creates_nor_changes_a_file() {
    let directory = TempDir::new().unwrap();
    let path = |name| directory.path().join(name);
    fs::write(path("old"), "as it was").unwrap();
    let failed = [("X-Amz-Function-Error", "Unhandled")];
    let cut = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n12345";
    for (reply, arguments, code) in [
        (Reply::response("200 OK", &failed, "{}"), &["--tail"][..], 1),
        (Reply::Close(cut.into()), &[], 2),
        (ok("12345678"), &["--limit", "7"], 2),
        (Reply::response("403 Forbidden", &[], ""), &[], 2),
        (frames(&[CHUNK]), &["--stream"], 2),
        (frames(&[CHUNK, DONE_ERR]), &["--stream"], 1),
        (frames(&[CHUNK, CHUNK, DONE_OK]), &["--stream", "--limit", "5"], 2),
    ] {
        for name in ["old", "new"] {
            let file = path(name);
            let arguments = [arguments, &["--out", file.to_str().unwrap()]].concat();
            assert_failure(&invoke_once(reply.clone(), &arguments).await, code, "");
        }
        assert_eq!(fs::read_to_string(path("old")).unwrap(), "as it was");
        assert_eq!(names(directory.path()), ["old"], "{arguments:?}");
    }
}

#[cfg(unix)]
#[tokio::test]
async fn file_keeps_its_mode_and_the_links_to_it() {
    use std::os::unix::fs::{PermissionsExt, symlink};

    let directory = TempDir::new().unwrap();
    let [file, link, new] = ["file", "link", "new"].map(|name| directory.path().join(name));
    fs::write(&file, "as it was").unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
    symlink("file", &link).unwrap();

    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_response(&invoke_once(ok("new"), &["--out", link.to_str().unwrap()]).await, b"");
    assert_eq!(fs::read_link(&link).unwrap(), Path::new("file"));
    assert_eq!((&*fs::read(&file).unwrap(), mode(&file)), (&b"new"[..], 0o640));

    // A new file has the default mode.
    fs::write(directory.path().join("any"), "").unwrap();
    assert_response(&invoke_once(ok("new"), &["--out", new.to_str().unwrap()]).await, b"");
    assert_eq!(mode(&new), mode(&directory.path().join("any")));
}

#[tokio::test]
async fn unwritable_file_is_reported_before_the_function_runs() {
    let directory = TempDir::new().unwrap();
    let missing = directory.path().join("missing/response");
    let server = Scripted::in_turn([]);
    for file in [directory.path(), &missing] {
        let run = invoke(&server, &["--out", file.to_str().unwrap()]).await;
        assert_failure(&run, 2, file.to_str().unwrap());
    }
    assert_eq!(server.requests().len(), 0);
}

#[tokio::test]
async fn response_that_cannot_be_written_is_an_error() {
    // A device that is always full. It is standard output here, so that a faulty test cannot replace
    // the device.
    let full = Path::new("/dev/full");
    if full.exists() {
        for (reply, stream) in [(ok("hello"), &[][..]), (frames(&[CHUNK, DONE_OK]), &["--stream"])]
        {
            let server = Scripted::in_turn([reply]);
            let mut command = command(&server, stream);
            command.stdout(File::options().write(true).open(full).unwrap()).stderr(Stdio::piped());
            let child = command.spawn().unwrap();
            let run = timeout(PATIENCE, child.wait_with_output()).await.expect("ends in 20 s");
            assert_failure(&run.unwrap(), 3, "cannot write the response: ");
        }
    }
}

#[cfg(unix)]
#[tokio::test]
async fn pipe_is_written_to_and_not_replaced() {
    use std::os::unix::fs::FileTypeExt;

    use tokio::io::AsyncReadExt;
    use tokio::net::unix::pipe::OpenOptions;

    let directory = TempDir::new().unwrap();
    let pipe = directory.path().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let mut reader = OpenOptions::new().open_receiver(&pipe).unwrap();
    assert_response(&invoke_once(ok("hello"), &["--out", pipe.to_str().unwrap()]).await, b"");
    let mut arrived = Vec::new();
    let read = reader.read_to_end(&mut arrived);
    timeout(PATIENCE, read).await.expect("ends with its writer").unwrap();
    assert_eq!(arrived, b"hello");
    assert!(fs::metadata(&pipe).unwrap().file_type().is_fifo());
}

#[tokio::test]
async fn closed_standard_output_is_not_a_failure() {
    let long = "x".repeat(1 << 20);
    for (reply, stream) in [(ok(long), &[][..]), (frames(&[CHUNK, DONE_OK]), &["--stream"])] {
        let server = Scripted::in_turn([reply]);
        let arguments = [&["--payload", "@-"], stream].concat();
        let mut command = command(&server, &arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        // The example waits for the payload, so the reader is closed before the first write.
        drop(child.stdout.take());
        let run = timeout(PATIENCE, child.wait_with_output()).await.expect("ends in 20 s");
        assert_response(&run.unwrap(), b"");
        assert_eq!(server.requests().len(), 1);
    }
}

fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}
