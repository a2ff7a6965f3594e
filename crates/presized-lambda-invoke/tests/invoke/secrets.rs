use std::fmt::Write as _;

use aws_credential_types::Credentials;
use aws_credential_types::provider::error::CredentialsError;
use aws_credential_types::provider::{ProvideCredentials, future};
use presized_lambda_invoke::{Client, ErrorKind};
use presized_support::log::Log;
use presized_support::scripted::{Reply, Scripted};

use super::texts::text;
use super::{builder, keys, ok, service_error};

const SECRETS: [&str; 3] = ["s3cr3t-key", "s3ss10n-token", "p4yl04d"];

#[tokio::test]
async fn secrets_and_payloads_are_neither_shown_nor_logged() {
    let log = Log::of_this_thread();
    let failed = [("X-Amz-Function-Error", "Unhandled")];
    let server = Scripted::in_turn([
        ok("p4yl04d"),
        Reply::response("200 OK", &failed, r#"{"answer":"p4yl04d"}"#),
        service_error("503 Unavailable", "AException"),
        service_error("403 Forbidden", "SignatureDoesNotMatch"),
        Reply::Close(Default::default()),
    ]);
    let settings = builder(&server).credentials(Credentials::new(
        "AKIDEXAMPLE",
        "s3cr3t-key",
        Some("s3ss10n-token".to_owned()),
        None,
        "test",
    ));
    let mut shown = format!("{settings:?}");
    let client = settings.build().unwrap();
    write!(shown, "{client:?}").unwrap();
    for _ in 0..4 {
        let call = client.invoke("secret-function").payload("p4yl04d").client_context("p4yl04d");
        write!(shown, "{call:?}").unwrap();
        match call.send().await {
            Ok(invocation) => write!(shown, "{invocation:?}").unwrap(),
            Err(error) => write!(shown, "{error} {error:?}").unwrap(),
        }
    }
    let log = log.finish();

    let token = server.requests()[0].header("x-amz-security-token").map(str::to_owned);
    assert_eq!(token.as_deref(), Some("s3ss10n-token"));
    for secret in SECRETS {
        assert!(!shown.contains(secret), "{secret} in {shown}");
        assert!(!log.contains(secret), "{secret} in {log}");
    }
    // The log has these calls.
    assert!(log.contains("secret-function") && log.contains("SignatureDoesNotMatch"), "{log}");
    assert!(log.contains("attempt=2"), "{log}");
}

#[tokio::test]
async fn refused_endpoint_is_not_shown_with_its_password() {
    let settings = Client::builder()
        .region("us-east-1")
        .credentials(keys("AKIDEXAMPLE", "s3cr3t-key"))
        .endpoint("http://me:p4ssw0rd@127.0.0.1:9000");
    assert!(!format!("{settings:?}").contains("p4ssw0rd"));
    let error = settings.build().unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Config(_)));
    assert!(!format!("{error} {error:?}").contains("p4ssw0rd"), "{error:?}");
}

#[tokio::test]
async fn failed_provider_is_a_credentials_error() {
    #[derive(Debug)]
    struct Failing;

    impl ProvideCredentials for Failing {
        fn provide_credentials<'a>(&'a self) -> future::ProvideCredentials<'a>
        where
            Self: 'a,
        {
            future::ProvideCredentials::ready(Err(CredentialsError::not_loaded("no profile")))
        }
    }

    let server = Scripted::start(|_, _| ok(""));
    let client = builder(&server).credentials(Failing).build().unwrap();
    let error = client.invoke("f").send().await.unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Credentials(_)), "{error:?}");
    assert_eq!(
        text(&error),
        "no credentials are available: credentials provider Failing failed: the credential provider \
         was not enabled: no profile"
    );
    assert_eq!((error.attempts(), error.may_have_run()), (0, false));
    assert_eq!(server.requests().len(), 0);
}
