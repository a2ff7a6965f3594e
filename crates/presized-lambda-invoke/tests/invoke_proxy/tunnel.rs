use presized_lambda_emulator::{Emulator, Function};
use presized_lambda_invoke::HttpVersion;
use presized_lambda_runtime::{Context, ErrorReport, raw};
use presized_support::relay::Relay;
use presized_support::scripted::{Reply, Scripted};
use tokio::task::JoinSet;

use crate::terminator::Terminator;
use crate::{HOST, builder, shown};

#[tokio::test]
async fn one_tunnel_with_credentials_serves_many_calls() {
    let server = Scripted::start(|_, _| Reply::response("200 OK", &[], "hello"));
    let tls = Terminator::start(server.address(), "http/1.1").await;
    let proxy = Relay::start(tls.address);
    let client = builder()
        .root_certificates_pem(&tls.certificate_pem)
        .proxy(format!("http://Aladdin:open%20sesame@{}", proxy.address()))
        .build()
        .unwrap();
    for _ in 0..20 {
        let invocation = client.invoke("f").payload("{}").send().await.unwrap();
        assert_eq!((invocation.payload.as_ref(), invocation.attempts), (&b"hello"[..], 1));
    }
    let expected = format!(
        "CONNECT {HOST}:443 HTTP/1.1\r\nHost: {HOST}:443\r\n\
         Proxy-Authorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==\r\n\r\n"
    );
    assert_eq!(proxy.heads(), [expected]);
    let requests = server.requests();
    assert_eq!(requests.len(), 20);
    for request in requests {
        assert_eq!(request.connection, 0);
        assert!(request.head.starts_with("POST /2015-03-31/functions/f/invocations HTTP/1.1"));
        assert_eq!(request.header("host"), Some(HOST));
        assert_eq!(request.header("proxy-authorization"), None, "it is for the proxy only");
    }
}

#[tokio::test]
async fn http2_is_agreed_on_through_a_tunnel() {
    async fn echo(event: bytes::Bytes, _: Context) -> Result<bytes::Bytes, ErrorReport> {
        Ok(event)
    }
    let emulator = Emulator::builder().function("echo", Function::new()).start().await.unwrap();
    emulator.attach("echo", raw(echo)).unwrap();
    let plain = emulator.url().strip_prefix("http://").unwrap().parse().unwrap();
    let tls = Terminator::start(plain, "h2").await;
    let proxy = Relay::start(tls.address);
    for version in [HttpVersion::Negotiated, HttpVersion::Http2] {
        let client = builder()
            .root_certificates_pem(&tls.certificate_pem)
            .http_version(version)
            .proxy(format!("http://{}", proxy.address()))
            .build()
            .unwrap();
        let first = client.invoke("echo").payload("0").send().await.unwrap();
        assert_eq!(first.payload, "0");
        let mut calls = JoinSet::new();
        for number in 1..50_u32 {
            let call = client.invoke("echo").json(&number);
            calls.spawn(async move { (number, call.send().await) });
        }
        for (number, call) in calls.join_all().await {
            assert_eq!(call.unwrap().json::<u32>().unwrap(), number);
        }
    }
    let head = format!("CONNECT {HOST}:443 HTTP/1.1\r\nHost: {HOST}:443\r\n\r\n");
    assert_eq!(proxy.heads(), [head.clone(), head], "one tunnel for each client");
}

#[tokio::test]
async fn endpoint_without_a_trusted_root_is_refused_through_a_tunnel() {
    let server = Scripted::start(|_, _| Reply::response("200 OK", &[], "hello"));
    let tls = Terminator::start(server.address(), "http/1.1").await;
    let proxy = Relay::start(tls.address);
    let other = rcgen::generate_simple_self_signed([HOST.to_owned()]).unwrap();
    let client = builder()
        .system_roots(false)
        .root_certificates_pem(other.cert.pem())
        .proxy(format!("http://{}", proxy.address()))
        .build()
        .unwrap();
    let error = client.invoke("f").send().await.unwrap_err();
    assert!(shown(&error).contains("call root_certificates_pem()"), "{}", shown(&error));
    assert_eq!((error.attempts(), server.requests().len()), (1, 0));
}
