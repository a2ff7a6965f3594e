//! Without TLS, the proxy reads the requests.

use presized_lambda_invoke::ErrorKind;
use presized_support::scripted::{Reply, Scripted};

use crate::{builder, shown};

#[tokio::test]
async fn request_to_an_http_endpoint_has_an_absolute_uri_and_credentials() {
    let proxy = Scripted::start(|_, _| Reply::response("200 OK", &[], "hello"));
    let client = builder()
        .endpoint("http://lambda.invalid:9000/base")
        .proxy(format!("http://Aladdin:open%20sesame@{}", proxy.address()))
        .build()
        .unwrap();
    for _ in 0..3 {
        let invocation = client.invoke("f").payload("{}").send().await.unwrap();
        assert_eq!(invocation.payload, "hello");
    }
    let requests = proxy.requests();
    assert_eq!(requests.len(), 3);
    for (number, request) in requests.iter().enumerate() {
        let line =
            "POST http://lambda.invalid:9000/base/2015-03-31/functions/f/invocations HTTP/1.1";
        assert_eq!(request.head.lines().next(), Some(line));
        assert_eq!(request.header("host"), Some("lambda.invalid:9000"));
        let credentials = Some("Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==");
        assert_eq!(request.header("proxy-authorization"), credentials);
        let signature = request.header("authorization").unwrap();
        assert!(!signature.contains("proxy-authorization"), "{signature}");
        assert_eq!(request.connection, number, "a proxy may close it after any response");
    }
}

#[tokio::test]
async fn endpoint_without_a_proxy_gets_neither_an_absolute_uri_nor_credentials() {
    let server = Scripted::start(|_, _| Reply::response("200 OK", &[], "hello"));
    let client = builder()
        .endpoint(server.url())
        .proxy("http://Aladdin:open%20sesame@127.0.0.1:1")
        .no_proxy()
        .build()
        .unwrap();
    let invocation = client.invoke("f").send().await.unwrap();
    assert_eq!(invocation.payload, "hello");
    let request = &server.requests()[0];
    assert!(request.head.starts_with("POST /2015-03-31/functions/f/invocations HTTP/1.1"));
    assert_eq!(request.header("proxy-authorization"), None);
}

#[tokio::test]
async fn proxy_that_asks_for_credentials_has_not_forwarded_the_call() {
    let proxy = Scripted::start(|_, _| {
        let challenge = ("Proxy-Authenticate", "Basic realm=\"proxy\"");
        Reply::response("407 Proxy Authentication Required", &[challenge], "who are you?")
    });
    for (user, expected) in [
        ("", "requires credentials (status 407)"),
        ("me:p4ssw0rd@", "refused the credentials in its URL (status 407)"),
    ] {
        let client = builder()
            .endpoint("http://lambda.invalid:9000")
            .proxy(format!("http://{user}{}", proxy.address()))
            .retry_after_send(true)
            .build()
            .unwrap();
        let error = client.invoke("f").send().await.unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Connect(_)), "{error:?}");
        let shown = shown(&error);
        assert!(shown.contains(&format!("proxy {} {expected}", proxy.address())), "{shown}");
        let found = (error.attempts(), error.is_transient(), error.may_have_run());
        assert_eq!(found, (1, false, false), "{shown}");
    }
    assert_eq!(proxy.requests().len(), 2);
}
