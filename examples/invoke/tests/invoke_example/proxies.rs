//! HTTP proxies in the environment.

use presized_support::scripted::{Reply, Scripted};

use crate::{KEYS, assert_failure, assert_response, bare, ok, output_of, stderr};

/// The proxy refuses, so that no packet leaves this machine.
#[tokio::test]
async fn proxy_of_the_environment_is_asked_for_a_tunnel_to_lambda() {
    for (name, other) in [
        ("HTTPS_PROXY", ("NO_PROXY", "localhost,127.0.0.1")),
        ("https_proxy", ("no_proxy", "lambda.eu-north-1.amazonaws.com")),
        ("ALL_PROXY", ("HTTP_PROXY", "http://proxy.invalid")),
        ("all_proxy", ("http_proxy", "http://proxy.invalid")),
    ] {
        let proxy = Scripted::start(|_, _| Reply::response("403 Forbidden", &[], ""));
        let mut command = bare("invoke");
        command.args(["hello", "--region", "us-east-1"]).envs(KEYS).envs([other]);
        command.env(name, format!("http://me:p4ssw0rd@{}", proxy.address()));
        let run = output_of(&mut command).await;
        assert!(stderr(&run).contains(&format!("proxy {} refused", proxy.address())), "{run:?}");
        assert!(!stderr(&run).contains("p4ssw0rd"), "{run:?}");
        let heads: Vec<_> = proxy.requests().into_iter().map(|request| request.head).collect();
        let host = "lambda.us-east-1.amazonaws.com:443";
        let credentials = "Proxy-Authorization: Basic bWU6cDRzc3cwcmQ=";
        let expected = format!("CONNECT {host} HTTP/1.1\r\nHost: {host}\r\n{credentials}");
        assert_eq!(heads, [expected], "{name}");
    }
}

#[tokio::test]
async fn local_endpoint_in_no_proxy_is_called_directly() {
    for name in ["NO_PROXY", "no_proxy"] {
        let server = Scripted::in_turn([ok("hello")]);
        let proxy = Scripted::in_turn([]);
        let mut command = crate::command(&server, &[]);
        command.env("HTTP_PROXY", proxy.url()).env(name, "localhost,127.0.0.1");
        assert_response(&output_of(&mut command).await, b"hello");
        assert_eq!(proxy.requests().len(), 0);
    }
}

#[tokio::test]
async fn http_proxy_of_a_request_to_cgi_is_not_used() {
    let server = Scripted::in_turn([ok("hello")]);
    let proxy = Scripted::in_turn([]);
    let mut command = crate::command(&server, &[]);
    command.env("HTTP_PROXY", proxy.url()).env("REQUEST_METHOD", "GET");
    assert_response(&output_of(&mut command).await, b"hello");
    assert_eq!(proxy.requests().len(), 0);
}

#[tokio::test]
async fn invalid_proxy_is_named_by_its_variable_and_without_its_password() {
    let mut command = bare("invoke");
    command.args(["hello", "--region", "us-east-1"]).envs(KEYS);
    let run = output_of(command.env("https_proxy", "socks5://me:p4ssw0rd@127.0.0.1:1")).await;
    assert_failure(&run, 2, "https_proxy");
    assert!(!stderr(&run).contains("p4ssw0rd"), "{run:?}");
}
