//! moto: signatures, before an implementation that is not ours.
//!
//! It answers any function with the payload. The payloads are not empty: instead of an empty
//! one moto hashes the headers, and refuses what botocore signs too.

use std::net::SocketAddr;
use std::process::Command;

use aws_credential_types::Credentials;
use http::header::{AUTHORIZATION, CONTENT_TYPE};
use http::{Request, StatusCode};
use presized_lambda_invoke::{Client, InvocationType};
use presized_support::process::{Process, pinned_peer};

use crate::{REGION, client, plain, refusal, within_time};

const ARN: &str = "arn:aws:lambda:us-east-1:123456789012:function:echo";

#[tokio::test]
async fn every_form_of_a_name_is_signed_as_it_is_sent() {
    within_time(async {
        let Some(moto) = Moto::start().await else { return };
        let client = moto.client(&moto.of_user);
        for name in ["echo", "echo:live", "echo:7", "echo:$LATEST", "123456789012:function:echo"]
            .map(str::to_owned)
            .into_iter()
            .chain(["", ":live", ":7", ":$LATEST"].map(|version| format!("{ARN}{version}")))
        {
            let answer = client.invoke(&name).payload("1").send().await.unwrap();
            assert_eq!((answer.status, &answer.payload[..]), (StatusCode::OK, &b"1"[..]), "{name}");
            assert_eq!(moto.answered(&format!("{name}/invocations"), "200"), 1, "{name}");
        }
        for name in ["echo", ARN] {
            for qualifier in ["live", "7", "$LATEST", "$LATEST.PUBLISHED"] {
                let call = client.invoke(name).qualifier(qualifier).payload("1");
                assert_eq!(call.send().await.unwrap().payload, "1", "{name} {qualifier}");
                let path = format!("{name}/invocations?Qualifier={qualifier}");
                assert_eq!(moto.answered(&path, "200"), 1, "{path}");
            }
        }
    })
    .await;
}

#[tokio::test]
async fn payloads_of_any_length_are_hashed() {
    within_time(async {
        let Some(moto) = Moto::start().await else { return };
        let client = moto.client(&moto.of_user);
        for payload in ["1", "\r\n ", "καλημέρα\0", &"x".repeat(100_000), &"é".repeat(1 << 20)]
        {
            let answer = client.invoke("echo").payload(payload.to_owned()).send().await.unwrap();
            assert!(answer.payload == payload, "{} bytes", payload.len());
            assert_eq!(answer.attempts, 1);
        }
    })
    .await;
}

#[tokio::test]
async fn the_headers_of_a_call_are_signed() {
    within_time(async {
        let Some(moto) = Moto::start().await else { return };
        let client = moto.client(&moto.of_user);
        for (invocation_type, expected) in [
            (InvocationType::RequestResponse, StatusCode::OK),
            (InvocationType::Event, StatusCode::ACCEPTED),
            (InvocationType::DryRun, StatusCode::NO_CONTENT),
        ] {
            let answer = client
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
            assert_eq!((answer.status, answer.attempts), (expected, 1));
            assert!(answer.request_id.is_some());
        }
    })
    .await;
}

#[tokio::test]
async fn temporary_credentials_are_sent_with_their_token() {
    within_time(async {
        let Some(moto) = Moto::start().await else { return };
        let answer = moto.client(&moto.of_role).invoke("echo").payload("1").send().await.unwrap();
        assert_eq!(answer.payload, "1");

        let (key, secret) = (moto.of_role.access_key_id(), moto.of_role.secret_access_key());
        let of_another = Credentials::new(key, secret, Some("another".to_owned()), None, "test");
        let error = moto.client(&of_another).invoke("echo").payload("1").send().await.unwrap_err();
        let refusal = refusal(error);
        assert_eq!(refusal.status, StatusCode::FORBIDDEN);
        assert!(tag(&refusal.body, "Code") == "InvalidClientTokenId", "{refusal:?}");
    })
    .await;
}

#[tokio::test]
async fn what_is_signed_with_a_wrong_secret_is_refused_once() {
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
            // Lambda's own would be JSON; moto has XML for all services.
            let refusal = refusal(error);
            assert_eq!((refusal.status, refusal.code), (StatusCode::FORBIDDEN, None));
            assert_eq!(tag(&refusal.body, "Code"), expected);
            assert_eq!(moto.answered(&format!("{expected}/invocations"), "403"), 1);
        }
    })
    .await;
}

struct Moto {
    process: Process,
    /// They last.
    of_user: Credentials,
    /// They are of a session, with a token.
    of_role: Credentials,
}

impl Moto {
    /// One that verifies signatures, or None where moto is not installed.
    async fn start() -> Option<Self> {
        let program = pinned_peer("moto_server")?;
        let process = Process::start(1, "Running on", |_, ports| {
            let mut command = Command::new(&program);
            command.args(["-H", "127.0.0.1", "-p"]).arg(ports[0].to_string());
            command
        });
        let address = process.address(0);
        // No containers.
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

        // The number of requests that still pass unverified.
        control(address, "reset-auth", "0").await;
        Some(Self { process, of_user, of_role })
    }

    fn client(&self, credentials: &Credentials) -> Client {
        client(self.process.address(0), credentials).build().unwrap()
    }

    /// How many requests of this path it has answered so. It writes the path decoded, and
    /// colours what is no 200.
    fn answered(&self, path: &str, status: &str) -> usize {
        let request = format!("POST /2015-03-31/functions/{path} HTTP/1.1");
        let answer = format!("{status} -");
        let log = self.process.log();
        log.lines().filter(|line| line.contains(&request) && line.ends_with(&answer)).count()
    }
}

async fn control(address: SocketAddr, name: &str, body: &str) {
    let request = Request::post(format!("/moto-api/{name}"));
    let answer = plain::send(address, request, body.to_owned()).await.unwrap();
    assert!(answer.status().is_success(), "{answer:?}");
}

/// A call of the Query API of this service, which the credential scope alone tells.
async fn api(address: SocketAddr, service: &str, form: &str) -> String {
    let scope = format!("Credential=AKIDEXAMPLE/20260101/{REGION}/{service}/aws4_request");
    let request = Request::post("/")
        .header(CONTENT_TYPE, "application/x-www-form-urlencoded")
        .header(AUTHORIZATION, format!("AWS4-HMAC-SHA256 {scope}, SignedHeaders=, Signature="));
    let answer = plain::send(address, request, form.to_owned()).await.unwrap();
    assert!(answer.status().is_success(), "{answer:?}");
    String::from_utf8(answer.into_body().into()).unwrap()
}

async fn allow_all(address: SocketAddr, action: &str) {
    let document = r#"{"Version":"2012-10-17","Statement":{"Effect":"Allow","Action":"lambda:*","Resource":"*"}}"#;
    api(address, "iam", &format!("{action}&PolicyName=all&PolicyDocument={document}")).await;
}

fn credentials(xml: &str, token: Option<String>) -> Credentials {
    let xml = xml.as_bytes();
    Credentials::new(tag(xml, "AccessKeyId"), tag(xml, "SecretAccessKey"), token, None, "moto")
}

/// What is between the first tags of this name.
#[track_caller]
fn tag(xml: &[u8], name: &str) -> String {
    let text = String::from_utf8_lossy(xml);
    let begin = text.split_once(&format!("<{name}>"));
    let content = begin.and_then(|(_, rest)| rest.split_once(&format!("</{name}>")));
    content.unwrap_or_else(|| panic!("no {name} in {text}")).0.to_owned()
}
