//! moto: verifies signatures by an independent implementation.
//!
//! Each function returns its payload. No payload is empty: moto hashes the headers instead of an
//! empty payload, and refuses the signatures of botocore too.

use std::net::SocketAddr;
use std::process::Command;

use aws_credential_types::Credentials;
use http::header::{AUTHORIZATION, CONTENT_TYPE};
use http::{Request, StatusCode};
use presized_lambda_invoke::{Client, InvocationType};
use presized_support::process::{Process, pinned_peer};

use crate::{REGION, client, plain, service_error, within_time};

const ARN: &str = "arn:aws:lambda:us-east-1:123456789012:function:echo";

#[tokio::test]
async fn function_name_of_each_form_is_signed() {
    within_time(async {
        let Some(moto) = Moto::start().await else { return };
        let client = moto.client(&moto.of_user);
        for name in ["echo", "echo:live", "echo:7", "echo:$LATEST", "123456789012:function:echo"]
            .map(str::to_owned)
            .into_iter()
            .chain(["", ":live", ":7", ":$LATEST"].map(|version| format!("{ARN}{version}")))
        {
            let response = client.invoke(&name).payload("1").send().await.unwrap();
            assert_eq!(
                (response.status, &response.payload[..]),
                (StatusCode::OK, &b"1"[..]),
                "{name}"
            );
            assert_eq!(moto.logged(&format!("{name}/invocations"), "200"), 1, "{name}");
        }
        for name in ["echo", ARN] {
            for qualifier in ["live", "7", "$LATEST", "$LATEST.PUBLISHED"] {
                let call = client.invoke(name).qualifier(qualifier).payload("1");
                assert_eq!(call.send().await.unwrap().payload, "1", "{name} {qualifier}");
                let path = format!("{name}/invocations?Qualifier={qualifier}");
                assert_eq!(moto.logged(&path, "200"), 1, "{path}");
            }
        }
    })
    .await;
}

#[tokio::test]
async fn payload_of_any_length_is_hashed() {
    within_time(async {
        let Some(moto) = Moto::start().await else { return };
        let client = moto.client(&moto.of_user);
        for payload in ["1", "\r\n ", "καλημέρα\0", &"x".repeat(100_000), &"é".repeat(1 << 20)]
        {
            let response = client.invoke("echo").payload(payload.to_owned()).send().await.unwrap();
            assert!(response.payload == payload, "{} bytes", payload.len());
            assert_eq!(response.attempts, 1);
        }
    })
    .await;
}

#[tokio::test]
async fn headers_of_a_call_are_signed() {
    within_time(async {
        let Some(moto) = Moto::start().await else { return };
        let client = moto.client(&moto.of_user);
        for (invocation_type, expected) in [
            (InvocationType::RequestResponse, StatusCode::OK),
            (InvocationType::Event, StatusCode::ACCEPTED),
            (InvocationType::DryRun, StatusCode::NO_CONTENT),
        ] {
            let response = client
                .invoke("echo")
                .payload("1")
                .invocation_type(invocation_type)
                .tail_log()
                .client_context(r#"{"custom": {"who": "κάποιος"}}"#)
                .tenant_id("tenant 7")
                .durable_execution_name("order-7")
                .send()
                .await
                .unwrap();
            assert_eq!((response.status, response.attempts), (expected, 1));
            assert!(response.request_id.is_some());
        }
    })
    .await;
}

#[tokio::test]
async fn temporary_credentials_are_sent_with_their_session_token() {
    within_time(async {
        let Some(moto) = Moto::start().await else { return };
        let response = moto.client(&moto.of_role).invoke("echo").payload("1").send().await.unwrap();
        assert_eq!(response.payload, "1");

        let (key, secret) = (moto.of_role.access_key_id(), moto.of_role.secret_access_key());
        let wrong_token = Credentials::new(key, secret, Some("another".to_owned()), None, "test");
        let error = moto.client(&wrong_token).invoke("echo").payload("1").send().await.unwrap_err();
        let error = service_error(error);
        assert_eq!(error.status, StatusCode::FORBIDDEN);
        assert!(tag(&error.body, "Code") == "InvalidClientTokenId", "{error:?}");
    })
    .await;
}

#[tokio::test]
async fn wrong_secret_is_refused_without_a_retry() {
    within_time(async {
        let Some(moto) = Moto::start().await else { return };
        let (key, secret) = (moto.of_user.access_key_id(), "not the secret of this key");
        for (key, secret, expected) in [
            (key, secret, "SignatureDoesNotMatch"),
            ("AKIANOBODYHASTHISKEY", secret, "InvalidClientTokenId"),
        ] {
            let credentials = Credentials::new(key, secret, None, None, "test");
            let call = moto.client(&credentials).invoke(expected).payload("1");
            let error = call.send().await.unwrap_err();
            for shown in [error.to_string(), format!("{error:?}")] {
                assert!(!shown.contains(secret), "{shown}");
            }
            // Lambda writes JSON. moto writes XML for all services.
            let error = service_error(error);
            assert_eq!((error.status, error.code), (StatusCode::FORBIDDEN, None));
            assert_eq!(tag(&error.body, "Code"), expected);
            assert_eq!(moto.logged(&format!("{expected}/invocations"), "403"), 1);
        }
    })
    .await;
}

struct Moto {
    process: Process,
    /// Permanent credentials.
    of_user: Credentials,
    /// Temporary credentials with a session token.
    of_role: Credentials,
}

impl Moto {
    /// Starts moto with verification of signatures. Returns `None` if it is not installed.
    async fn start() -> Option<Self> {
        let program = pinned_peer("moto_server")?;
        let process = Process::start(1, "Running on", |_, ports| {
            let mut command = Command::new(&program);
            command.args(["-H", "127.0.0.1", "-p"]).arg(ports[0].to_string());
            command
        });
        let address = process.address(0);
        // moto must not start containers.
        control(address, "config", r#"{"lambda": {"use_docker": false}}"#).await;

        api(address, "iam", "Action=CreateUser&UserName=user").await;
        allow_all(address, "Action=PutUserPolicy&UserName=user").await;
        let key = api(address, "iam", "Action=CreateAccessKey&UserName=user").await;
        let of_user = credentials(&key, None);

        let role = "Action=CreateRole&RoleName=role&AssumeRolePolicyDocument={}";
        let role = tag(api(address, "iam", role).await.as_bytes(), "Arn");
        allow_all(address, "Action=PutRolePolicy&RoleName=role").await;
        let session = format!("Action=AssumeRole&RoleSessionName=session&RoleArn={role}");
        let session = api(address, "sts", &session).await;
        let of_role = credentials(&session, Some(tag(session.as_bytes(), "SessionToken")));

        // The number of requests that are not verified.
        control(address, "reset-auth", "0").await;
        Some(Self { process, of_user, of_role })
    }

    fn client(&self, credentials: &Credentials) -> Client {
        client(self.process.address(0), credentials).build().unwrap()
    }

    /// Returns the number of requests with this path and status in the log. moto logs the decoded
    /// path, and it colours lines with a status other than 200.
    fn logged(&self, path: &str, status: &str) -> usize {
        let request = format!("POST /2015-03-31/functions/{path} HTTP/1.1");
        let end = format!("{status} -");
        let log = self.process.log();
        log.lines().filter(|line| line.contains(&request) && line.ends_with(&end)).count()
    }
}

async fn control(address: SocketAddr, name: &str, body: &str) {
    let request = Request::post(format!("/moto-api/{name}"));
    let response = plain::send(address, request, body.to_owned()).await.unwrap();
    assert!(response.status().is_success(), "{response:?}");
}

/// Calls the Query API of a service, which only the credential scope names.
async fn api(address: SocketAddr, service: &str, form: &str) -> String {
    let scope = format!("Credential=AKIDEXAMPLE/20260101/{REGION}/{service}/aws4_request");
    let request = Request::post("/")
        .header(CONTENT_TYPE, "application/x-www-form-urlencoded")
        .header(AUTHORIZATION, format!("AWS4-HMAC-SHA256 {scope}, SignedHeaders=, Signature="));
    let response = plain::send(address, request, form.to_owned()).await.unwrap();
    assert!(response.status().is_success(), "{response:?}");
    String::from_utf8(response.into_body().into()).unwrap()
}

async fn allow_all(address: SocketAddr, action: &str) {
    let document = r#"{"Version":"2012-10-17","Statement":{"Effect":"Allow","Action":"lambda:*","Resource":"*"}}"#;
    api(address, "iam", &format!("{action}&PolicyName=all&PolicyDocument={document}")).await;
}

fn credentials(xml: &str, token: Option<String>) -> Credentials {
    let xml = xml.as_bytes();
    Credentials::new(tag(xml, "AccessKeyId"), tag(xml, "SecretAccessKey"), token, None, "moto")
}

/// Returns the content of the first element with this name.
#[track_caller]
fn tag(xml: &[u8], name: &str) -> String {
    let text = String::from_utf8_lossy(xml);
    let begin = text.split_once(&format!("<{name}>"));
    let content = begin.and_then(|(_, rest)| rest.split_once(&format!("</{name}>")));
    content.unwrap_or_else(|| panic!("no {name} in {text}")).0.to_owned()
}
