//! The example `aws_config`, as a command.

use std::fs;
use std::path::Path;
use std::process::Output;
use std::time::Duration;

use presized_support::process::example;
use presized_support::scripted::{Reply, Scripted};
use tokio::process::Command;
use tokio::time::timeout;

#[tokio::test]
async fn a_profile_gives_the_region_the_credentials_and_the_endpoint_of_lambda() {
    let server = Scripted::in_turn([Reply::response("200 OK", &[], "\"hello\"")]);
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("aws_config");
    let profile = "\
        region = eu-north-1\n\
        aws_access_key_id = AKIDEXAMPLE\n\
        aws_secret_access_key = not-a-real-secret\n\
        aws_session_token = not-a-real-token\n";
    let services = format!(
        "services = local\n[services local]\nlambda =\n  endpoint_url = {}\n",
        server.url()
    );
    fs::write(&file, format!("[profile other]\n[profile example]\n{profile}{services}")).unwrap();

    let mut command = Command::new(example("aws_config"));
    command
        .args(["hello", "\"you\""])
        .env_clear()
        .env("AWS_CONFIG_FILE", &file)
        .env("AWS_SHARED_CREDENTIALS_FILE", file.with_extension("missing"))
        .env("AWS_PROFILE", "example");
    let run = output_of(&mut command).await;

    let said = String::from_utf8_lossy(&run.stderr);
    assert_eq!((run.status.code(), &*run.stdout), (Some(0), &b"\"hello\"\n"[..]), "{said}");
    let requests = server.requests();
    assert_eq!(requests.len(), 1);
    assert_eq!(requests[0].body, b"\"you\"");
    assert_eq!(requests[0].header("x-amz-security-token"), Some("not-a-real-token"));
    let authorization = requests[0].header("authorization").unwrap();
    assert!(authorization.contains(" Credential=AKIDEXAMPLE/"), "{authorization}");
    assert!(authorization.contains("/eu-north-1/lambda/aws4_request"), "{authorization}");
}

#[tokio::test]
async fn a_container_gives_the_credentials_and_the_environment_the_trace() {
    let expiration = "2999-01-01T00:00:00Z";
    let keys = format!(
        r#"{{"AccessKeyId":"AKIDCONTAINER","SecretAccessKey":"not-a-real-secret","Token":"not-a-real-token","Expiration":"{expiration}"}}"#
    );
    let container = Scripted::in_turn([Reply::response("200 OK", &[], keys)]);
    let lambda = Scripted::in_turn([Reply::response("200 OK", &[], "\"hello\"")]);
    let mut command = Command::new(example("aws_config"));
    command
        .args(["hello", "\"you\""])
        .env_clear()
        .env("AWS_CONFIG_FILE", "missing")
        .env("AWS_SHARED_CREDENTIALS_FILE", "missing")
        .env("AWS_REGION", "eu-north-1")
        .env("AWS_CONTAINER_CREDENTIALS_FULL_URI", format!("{}/keys", container.url()))
        .env("AWS_CONTAINER_AUTHORIZATION_TOKEN", "not-a-real-pass")
        .env("AWS_LAMBDA_FUNCTION_NAME", "front")
        .env("_X_AMZN_TRACE_ID", "Root=1-2-3")
        .env("AWS_ENDPOINT_URL_LAMBDA", lambda.url());
    let run = output_of(&mut command).await;

    let said = String::from_utf8_lossy(&run.stderr);
    assert_eq!((run.status.code(), &*run.stdout), (Some(0), &b"\"hello\"\n"[..]), "{said}");
    let asked = container.requests();
    assert_eq!((asked.len(), asked[0].target()), (1, "/keys"));
    assert_eq!(asked[0].header("authorization"), Some("not-a-real-pass"));
    let requests = lambda.requests();
    assert_eq!(requests.len(), 1);
    assert_eq!(requests[0].header("x-amz-security-token"), Some("not-a-real-token"));
    assert_eq!(requests[0].header("x-amzn-trace-id"), Some("Root=1-2-3"));
    let authorization = requests[0].header("authorization").unwrap();
    assert!(authorization.contains(" Credential=AKIDCONTAINER/"), "{authorization}");
    assert!(authorization.contains("/eu-north-1/lambda/aws4_request"), "{authorization}");
}

async fn output_of(command: &mut Command) -> Output {
    let output = command.kill_on_drop(true).output();
    timeout(Duration::from_secs(20), output).await.expect("ends in 20 s").unwrap()
}
