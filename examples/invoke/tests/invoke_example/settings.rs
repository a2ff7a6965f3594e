//! Missing and invalid settings.

use presized_support::scripted::Scripted;

use crate::{KEYS, assert_failure, assert_response, bare, ok, output_of, stderr};

#[tokio::test]
async fn environment_is_enough() {
    let server = Scripted::in_turn([ok("hello"), ok("hello")]);
    for region in ["AWS_REGION", "AWS_DEFAULT_REGION"] {
        let mut command = bare("invoke");
        command.arg("hello").env(region, "eu-north-1").env("AWS_ENDPOINT_URL", server.url());
        assert_response(&output_of(command.envs(KEYS)).await, b"hello");
    }
}

#[tokio::test]
async fn missing_region_is_reported_with_the_settings() {
    for endpoint in [&[][..], &["--endpoint", "http://127.0.0.1:1"]] {
        let mut command = bare("invoke");
        let run = output_of(command.arg("hello").args(endpoint).envs(KEYS)).await;
        assert_failure(&run, 2, "no region");
        for setting in ["--region", "AWS_REGION"] {
            assert!(stderr(&run).contains(setting), "{}", stderr(&run));
        }
    }
}

#[tokio::test]
async fn missing_credentials_are_reported_with_the_variables() {
    let mut command = bare("invoke");
    let run = output_of(command.args(["hello", "--region", "eu-north-1"])).await;
    assert_failure(&run, 2, "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are not set");
    assert!(stderr(&run).contains("aws configure export-credentials"), "{}", stderr(&run));

    let mut command = bare("invoke");
    command.args(["hello", "--region", "eu-north-1"]).env("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE");
    let run = output_of(&mut command).await;
    assert_failure(&run, 2, "AWS_SECRET_ACCESS_KEY is not set");
}

#[tokio::test]
async fn invalid_endpoint_is_an_error() {
    let mut command = bare("invoke");
    command.args(["hello", "--region", "eu-north-1", "--endpoint", "ftp://127.0.0.1"]);
    assert_failure(&output_of(command.envs(KEYS)).await, 2, "endpoint");
}
