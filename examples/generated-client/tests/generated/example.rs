//! Tests of the command `generated-client`.

use std::time::Duration;

use tokio::process::Command;
use tokio::time::timeout;

#[tokio::test]
async fn command_prints_outputs_and_errors() {
    let run = Command::new(env!("CARGO_BIN_EXE_generated-client")).kill_on_drop(true).output();
    let run = timeout(Duration::from_secs(20), run).await.expect("ends in 20 s").unwrap();
    assert!(run.status.success(), "{run:?}");
    assert_eq!(
        String::from_utf8(run.stdout).unwrap(),
        "\
policy of reports: {\"Version\":\"2012-10-17\",\"Statement\":[]}
source for Java: 6291456 bytes
policy of drafts: status 404 Not Found, NoSuchBucketPolicy: The bucket policy does not exist
source for Cobol: status 404 Not Found, NotFoundException: no binding in that language
source for Java, limit 1 MiB: body declares 6291456 bytes, over the limit of 1048576 bytes
"
    );
}
