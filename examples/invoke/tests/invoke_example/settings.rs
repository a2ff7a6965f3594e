//! Missing and invalid settings.

use std::fs;
use std::path::Path;

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

    for name in ["AWS_PROFILE", "AWS_CONTAINER_CREDENTIALS_FULL_URI"] {
        let mut command = bare("invoke");
        command.args(["hello", "--region", "eu-north-1"]).env(name, "http://127.0.0.1:1");
        let run = output_of(&mut command).await;
        assert_failure(&run, 2, &format!("{name} is not read: enable the feature aws-config"));
    }

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

#[tokio::test]
async fn system_without_root_certificates_is_an_error_with_a_remedy() {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let (empty, missing) = (directory.join("no-roots.pem"), directory.join("missing.pem"));
    fs::write(&empty, "").unwrap();
    for roots in [&empty, &missing] {
        let mut command = bare("invoke");
        command.args(["hello", "--region", "eu-north-1"]);
        command.env("SSL_CERT_FILE", roots).env_remove("SSL_CERT_DIR");
        let run = output_of(command.envs(KEYS)).await;
        assert_failure(&run, 2, "this system has no root certificates: install them");
        for remedy in ["set SSL_CERT_FILE", "root_certificates_pem()"] {
            assert!(stderr(&run).contains(remedy), "{}", stderr(&run));
        }
    }
}

#[tokio::test]
async fn trace_is_passed_on_inside_a_function_only() {
    let server = Scripted::start(|_, _| ok("hello"));
    for (function, trace, expected) in [
        ("foo", TRACE, Some(TRACE)),
        ("foo", "first\nsecond", Some("first%0Asecond")),
        ("foo", "", None),
        ("", TRACE, None),
    ] {
        for stream in [&[][..], &["--stream"]] {
            let mut command = bare("invoke");
            command.args(["hello", "--region", "eu-north-1", "--endpoint", &server.url()]);
            command.args(stream).envs(KEYS);
            command.env("AWS_LAMBDA_FUNCTION_NAME", function).env("_X_AMZN_TRACE_ID", trace);
            output_of(&mut command).await;
            let sent = server.requests().pop().unwrap();
            assert_eq!(sent.header("x-amzn-trace-id"), expected, "{function} {trace}");
            let found = sent.head.to_lowercase().matches("x-amzn-trace-id").count();
            assert_eq!(found, usize::from(expected.is_some()), "{}", sent.head);
        }
    }
    assert_eq!(server.requests().len(), 8);
}

const TRACE: &str = "Root=1-5759e988-bd862e3fe1be46a994272793;Parent=3995c3f42cd8ad8;Sampled=1;\
                     Lineage=a87bd80c:1|68fd508a:5|c512fbe3:2";
