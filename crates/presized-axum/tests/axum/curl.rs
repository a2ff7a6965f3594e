//! Uploads over the limit with curl, which has to see the response.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use axum::Router;
use axum::routing::put;
use presized::Reader;
use presized_axum::PresizedBytes;
use presized_support::process::peer;
use tempfile::NamedTempFile;
use tokio::process::Command;
use tokio::task::JoinSet;

use crate::server::serve;

const LIMIT: u64 = 1 << 20;
const UPLOAD: u64 = 64 << 20;
const UPLOADS: usize = 100;
const AT_A_TIME: usize = 4;

/// The result of one run of curl.
#[derive(Debug)]
struct Outcome {
    exit: Option<i32>,
    /// The body of the response, a line feed, the status and the version.
    output: String,
    /// The heads of the messages.
    log: String,
}

async fn upload(
    curl: PathBuf,
    options: &[&str],
    file: impl AsRef<Path>,
    server: SocketAddr,
) -> Outcome {
    let mut command = Command::new(curl);
    command.args(["--silent", "--show-error", "--verbose", "--max-time", "100"]);
    command.args(["--write-out", "\n%{http_code} %{http_version}"]).args(options);
    command.arg("--upload-file").arg(file.as_ref()).arg(format!("http://{server}/upload"));
    let output = command.kill_on_drop(true).output().await.unwrap();
    Outcome {
        exit: output.status.code(),
        output: String::from_utf8_lossy(&output.stdout).into_owned(),
        log: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// Uploads 64 MiB over a limit of 1 MiB many times. Every curl has to see the response. `continues`
/// says whether the server sends `100 Continue` before it.
async fn refused_uploads_are_seen(options: &'static [&str], version: &str, continues: bool) {
    let Some(curl) = peer("curl") else { return };
    let content = async |PresizedBytes(content): PresizedBytes| content;
    let app = Router::new().route("/upload", put(content)).with_state(Reader::new(LIMIT));
    let server = serve(app).await;
    let file = NamedTempFile::new().unwrap();
    // A sparse file takes no space.
    file.as_file().set_len(UPLOAD).unwrap();
    let mut outcomes = Vec::new();
    let mut running = JoinSet::new();
    for _ in 0..UPLOADS {
        if running.len() == AT_A_TIME {
            outcomes.push(running.join_next().await.unwrap().unwrap());
        }
        let (curl, file) = (curl.clone(), file.path().to_owned());
        running.spawn(async move { upload(curl, options, file, server).await });
    }
    outcomes.extend(running.join_all().await);
    let is_seen = |outcome: &&Outcome| {
        let (text, status) = outcome.output.rsplit_once('\n').unwrap();
        outcome.exit == Some(0)
            && status == format!("413 {version}")
            && text.contains("over the limit of 1048576 bytes")
            && outcome.log.contains("100 Continue") == continues
    };
    let seen = outcomes.iter().filter(is_seen).count();
    let other = outcomes.iter().find(|outcome| !is_seen(outcome));
    assert_eq!(seen, UPLOADS, "{other:?}");
}

const CHUNKED: &str = "Transfer-Encoding: chunked";
const UNEXPECTED: &str = "Expect:";

#[tokio::test]
async fn curl_sees_413_over_http1_before_it_sends_a_declared_length() {
    refused_uploads_are_seen(&["--http1.1"], "1.1", false).await;
}

#[tokio::test]
async fn curl_sees_413_over_http1_while_it_sends_a_declared_length() {
    refused_uploads_are_seen(&["--http1.1", "-H", UNEXPECTED], "1.1", false).await;
}

#[tokio::test]
async fn curl_sees_413_over_http1_while_it_sends_chunks_after_100_continue() {
    refused_uploads_are_seen(&["--http1.1", "-H", CHUNKED], "1.1", true).await;
}

#[tokio::test]
async fn curl_sees_413_over_http1_while_it_sends_chunks() {
    let options = &["--http1.1", "-H", CHUNKED, "-H", UNEXPECTED];
    refused_uploads_are_seen(options, "1.1", false).await;
}

#[tokio::test]
async fn curl_sees_413_over_http2_while_it_sends_a_declared_length() {
    refused_uploads_are_seen(&["--http2-prior-knowledge"], "2", false).await;
}

#[tokio::test]
async fn curl_sees_413_over_http2_with_a_declared_length_and_an_expectation() {
    let options = &["--http2-prior-knowledge", "-H", "Expect: 100-continue"];
    refused_uploads_are_seen(options, "2", false).await;
}

#[tokio::test]
async fn curl_sees_413_over_http2_while_it_sends_an_unknown_length() {
    let options = &["--http2-prior-knowledge", "-H", CHUNKED, "-H", UNEXPECTED];
    refused_uploads_are_seen(options, "2", false).await;
}
