//! A proxy of another project, which Debian has as a package.

use std::fs;
use std::net::{Ipv4Addr, TcpListener};
use std::process::Command;

use presized_lambda_invoke::{Client, ErrorKind};
use presized_support::process::{Process, peer};
use presized_support::scripted::{Reply, Scripted};

use crate::terminator::Terminator;
use crate::{builder, shown};

#[tokio::test]
async fn tunnel_with_credentials_is_opened_once() {
    let Some(proxy) = start() else { return };
    let server = Scripted::start(|_, request| Reply::response("200 OK", &[], &request.body));
    let tls = Terminator::start(server.address(), "http/1.1").await;
    let client = builder()
        .endpoint(format!("https://{}", tls.address))
        .root_certificates_pem(&tls.certificate_pem)
        .proxy(format!("http://{USER}{}", proxy.address(0)))
        .build()
        .unwrap();
    for length in [0, 1, 6 << 20, 2] {
        let payload = vec![b'x'; length];
        let invocation = client.invoke("f").payload(payload.clone()).send().await.unwrap();
        assert!(length == 0 || invocation.payload == payload, "{length} bytes");
        assert_eq!(invocation.attempts, 1);
    }
    assert_eq!(server.requests().len(), 4);
    let line = format!("CONNECT {} HTTP/1.1", tls.address);
    assert_eq!(proxy.log().matches(&line).count(), 1, "{}", proxy.log());
}

#[tokio::test]
async fn request_to_an_http_endpoint_is_forwarded() {
    let Some(proxy) = start() else { return };
    let server = Scripted::start(|_, request| Reply::response("200 OK", &[], &request.body));
    let client = through(&proxy, USER, &server.url());
    let payloads: Vec<_> = (1..50).map(|number: u32| number.to_string()).collect();
    // tinyproxy closes the connection after each response, and does not announce it.
    for payload in &payloads {
        let invocation = client.invoke("f").payload(payload.clone()).send().await.unwrap();
        assert_eq!((invocation.payload.as_ref(), invocation.attempts), (payload.as_bytes(), 1));
    }
    let requests = server.requests();
    assert_eq!(requests.len(), payloads.len());
    for request in requests {
        assert_eq!(request.header("proxy-authorization"), None, "{}", request.head);
        assert!(request.header("via").is_some(), "it came through the proxy");
    }
}

#[tokio::test]
async fn missing_and_wrong_credentials_are_an_error_of_the_proxy() {
    let Some(proxy) = start() else { return };
    let server = Scripted::start(|_, _| Reply::response("200 OK", &[], ""));
    let https = format!("https://{}", server.address());
    for (user, endpoint, expected) in [
        ("", &https, "requires credentials (status 407)"),
        ("", &server.url(), "requires credentials (status 407)"),
        // It means 407. An http endpoint could send 401 itself, and is reported as its sender.
        ("me:an0ther@", &https, "refused the credentials in its URL (status 401)"),
    ] {
        let client = through(&proxy, user, endpoint);
        let error = client.invoke("f").payload("{}").send().await.unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Connect(_)), "{error:?}");
        let shown = shown(&error);
        assert!(shown.contains(&format!("proxy {} {expected}", proxy.address(0))), "{shown}");
        let found = (error.attempts(), error.is_transient(), error.may_have_run());
        assert_eq!(found, (1, false, false), "{shown}");
        assert!(!format!("{shown} {error:?}").contains("an0ther"));
    }
    assert_eq!(server.requests().len(), 0);
}

#[tokio::test]
async fn endpoint_that_the_proxy_cannot_reach_is_an_error_of_the_proxy() {
    let Some(proxy) = start() else { return };
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let endpoint = format!("https://{}", listener.local_addr().unwrap());
    drop(listener);
    let error = through(&proxy, USER, &endpoint).invoke("f").send().await.unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Connect(_)), "{error:?}");
    let expected = format!("proxy {} could not connect to the endpoint", proxy.address(0));
    assert!(shown(&error).contains(&expected), "{}", shown(&error));
    assert_eq!((error.attempts(), error.may_have_run()), (2, false));
}

fn through(proxy: &Process, user: &str, endpoint: &str) -> Client {
    let settings = builder().endpoint(endpoint).max_attempts(2);
    settings.proxy(format!("http://{user}{}", proxy.address(0))).build().unwrap()
}

fn start() -> Option<Process> {
    let program = peer("tinyproxy")?;
    let proxy = Process::start(1, "Accepting connections", |directory, ports| {
        let file = directory.join("tinyproxy.conf");
        fs::write(&file, CONFIG.replace("PORT", &ports[0].to_string())).unwrap();
        let mut command = Command::new(&program);
        command.arg("-d").arg("-c").arg(file);
        command
    });
    Some(proxy)
}

const USER: &str = "me:p4ssw0rd@";

const CONFIG: &str = "
Port PORT
Listen 127.0.0.1
Allow 127.0.0.1
BasicAuth me p4ssw0rd
Timeout 60
LogLevel Info
";
