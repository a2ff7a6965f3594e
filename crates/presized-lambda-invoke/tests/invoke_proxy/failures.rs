//! A proxy that fails is named in the error, without its password.

use std::net::{Ipv4Addr, TcpListener};
use std::time::Duration;

use presized_lambda_invoke::{Client, ConnectErrorKind, Error};
use presized_support::scripted::{Reply, Scripted};

use crate::{HOST, builder, shown};

#[tokio::test]
async fn refused_tunnel_is_an_error_of_the_proxy() {
    for (user, status, text, attempts) in [
        (USER, 407, "refused the credentials in its URL (status 407): check them", 1),
        ("", 407, "requires credentials (status 407): put them into its URL", 1),
        ("", 403, "refused to connect to the endpoint (status 403): allow the endpoint", 1),
        (USER, 404, "refused to connect to the endpoint (status 404)", 1),
        (USER, 302, "refused to connect to the endpoint (status 302)", 2),
        (USER, 429, "refused to connect to the endpoint (status 429)", 2),
        (USER, 502, "could not connect to the endpoint (status 502): check that it can", 2),
        ("", 503, "could not connect to the endpoint (status 503)", 2),
    ] {
        let body = "the page of a proxy".repeat(1000);
        let proxy =
            Scripted::start(move |_, _| Reply::response(&format!("{status} Refused"), &[], &body));
        let error = failure(client(&format!("{user}{}", proxy.address()))).await;
        assert_proxy_failed(&error, attempts);
        let shown = shown(&error);
        assert!(shown.contains(&format!(": proxy {} {text}", proxy.address())), "{shown}");
        let requests = proxy.requests();
        assert_eq!(requests.len(), usize::try_from(attempts).unwrap(), "{shown}");
        assert!(requests[0].head.starts_with(&format!("CONNECT {HOST}:443 HTTP/1.1")));
    }
}

#[tokio::test]
async fn proxy_that_is_not_there_is_named() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    for (address, cause) in [
        (address.to_string(), "Connection refused"),
        ("proxy.invalid:3128".to_owned(), "dns error"),
    ] {
        for endpoint in [None, Some("http://lambda.invalid")] {
            let mut settings = builder().max_attempts(2).proxy(format!("http://{USER}{address}"));
            if let Some(endpoint) = endpoint {
                settings = settings.endpoint(endpoint);
            }
            let error = failure(settings.build().unwrap()).await;
            assert_proxy_failed(&error, 2);
            let shown = shown(&error);
            let expected = format!(": no connection to the proxy {address}: check its address");
            assert!(shown.contains(&expected) && shown.contains(cause), "{shown}");
        }
    }
}

#[tokio::test]
async fn proxy_that_is_silent_is_named_with_the_connect_timeout() {
    for reply in ["", "HTTP/1.1 200", "HTTP/1.1 200 OK\r\n\r\n"] {
        let proxy = Scripted::start(move |_, _| Reply::Hang(reply.into()));
        let settings = builder().max_attempts(1).connect_timeout(Duration::from_millis(100));
        let client = settings.proxy(format!("http://{USER}{}", proxy.address())).build().unwrap();
        let error = failure(client).await;
        assert_proxy_failed(&error, 1);
        let expected = format!(
            ": no connection through the proxy {} within the connect timeout of 100ms: check",
            proxy.address()
        );
        assert!(shown(&error).contains(&expected), "{}", shown(&error));
    }
}

#[tokio::test]
async fn server_that_is_no_proxy_is_named() {
    let endless = format!("HTTP/1.1 200 OK\r\nx: {}", "y".repeat(10_000));
    for reply in ["", "SSH-2.0-OpenSSH_9.2\r\n", "HTTP/1.1 200 O", "\x15\x03\x03\0\x02", &*endless]
    {
        let reply = reply.to_owned();
        let proxy = Scripted::start(move |_, _| Reply::Close(reply.clone().into()));
        let error = failure(client(&format!("{USER}{}", proxy.address()))).await;
        assert_proxy_failed(&error, 2);
        let expected =
            format!(": no valid response to CONNECT from the proxy {}: check", proxy.address());
        assert!(shown(&error).contains(&expected), "{}", shown(&error));
    }
}

/// Makes a client of AWS through the proxy at this address, which may have credentials.
fn client(proxy: &str) -> Client {
    let settings = builder().max_attempts(2).proxy(format!("http://{proxy}"));
    assert!(!format!("{settings:?}").contains("p4ssw0rd"));
    settings.build().unwrap()
}

async fn failure(client: Client) -> Error {
    assert!(!format!("{client:?}").contains("p4ssw0rd"));
    client.invoke("f").payload("{}").send().await.unwrap_err()
}

#[track_caller]
fn assert_proxy_failed(error: &Error, attempts: u32) {
    let shown = format!("{} {error:?}", shown(error));
    assert_eq!(error.connect_kind(), Some(ConnectErrorKind::Proxy), "{shown}");
    assert_eq!((error.attempts(), error.may_have_run()), (attempts, false), "{shown}");
    assert!(!shown.contains("p4ssw0rd") && !shown.contains("bWU6cDRzc3cwcmQ="), "{shown}");
}

/// `bWU6cDRzc3cwcmQ=` in base64.
const USER: &str = "me:p4ssw0rd@";
