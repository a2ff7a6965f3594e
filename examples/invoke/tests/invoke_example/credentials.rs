//! The example `credentials` with a shell script as its program.

use std::process::Output;

use presized_support::scripted::Scripted;

use crate::{bare, ok, output_of, stderr};

#[tokio::test]
async fn credentials_of_the_program_are_used() {
    let server = Scripted::in_turn([ok("hello")]);
    let written = r#"{"Version": 1, "AccessKeyId": "AKIDEXAMPLE", "SecretAccessKey": "s",
        "SessionToken": "not-a-real-token", "Expiration": "2999-01-01T00:00:00+01:00"}"#;
    let run = credentials(&server, written, 0).await;
    assert_eq!((run.status.code(), &*run.stdout), (Some(0), &b"hello\n"[..]), "{}", stderr(&run));

    let request = &server.requests()[0];
    assert_eq!(request.header("x-amz-security-token"), Some("not-a-real-token"));
    let authorization = request.header("authorization").unwrap();
    assert!(authorization.contains(" Credential=AKIDEXAMPLE/"), "{authorization}");
}

#[tokio::test]
async fn failed_program_is_an_error_without_its_output() {
    let server = Scripted::in_turn([]);
    let secret = r#"{"Version": 1, "AccessKeyId": "AKIDEXAMPLE", "SecretAccessKey": "hush""#;
    for (written, status) in [
        (format!("{secret}}}"), 1),
        (secret.to_owned(), 0),
        (format!(r#"{secret}, "Expiration": "hush"}}"#), 0),
        (secret.replace("1", "2") + "}", 0),
        ("hush".to_owned(), 0),
    ] {
        let run = credentials(&server, &written, status).await;
        assert_eq!((run.status.code(), &*run.stdout), (Some(1), &b""[..]), "{written}");
        assert!(stderr(&run).contains("Credentials"), "{}", stderr(&run));
        assert!(!stderr(&run).contains("hush"), "{}", stderr(&run));
    }
    assert_eq!(server.requests().len(), 0);
}

/// Runs the example with a program that writes `written` and exits with `status`.
async fn credentials(server: &Scripted, written: &str, status: u8) -> Output {
    let script = format!("printf %s '{written}'; exit {status}");
    let mut command = bare("credentials");
    command.args(["hello", "sh", "-c", &script]);
    output_of(command.env("AWS_REGION", "eu-north-1").env("AWS_ENDPOINT_URL", server.url())).await
}
