use std::error::Error;

use super::*;
use crate::endpoint::EndpointSettings;

#[test]
fn environment_selects_the_proxy_of_the_scheme() {
    for (endpoint, variables, expected) in [
        (HTTPS, &[][..], None),
        (HTTPS, &[("HTTPS_PROXY", "http://a:1")], Some("a:1")),
        (HTTPS, &[("https_proxy", "http://a:1")], Some("a:1")),
        (HTTPS, &[("HTTPS_PROXY", "http://a:1"), ("https_proxy", "http://b:2")], Some("a:1")),
        (HTTPS, &[("HTTPS_PROXY", " \n"), ("https_proxy", "http://b:2")], Some("b:2")),
        (HTTPS, &[("HTTPS_PROXY", ""), ("ALL_PROXY", "http://c:3")], Some("c:3")),
        (HTTPS, &[("HTTP_PROXY", "http://a:1")], None),
        (HTTP, &[("HTTP_PROXY", "http://a:1")], Some("a:1")),
        (HTTP, &[("http_proxy", "http://a:1")], Some("a:1")),
        (HTTP, &[("HTTPS_PROXY", "http://a:1")], None),
        (HTTP, &[("ALL_PROXY", "http://c:3"), ("http_proxy", "http://a:1")], Some("a:1")),
        (HTTP, &[("all_proxy", "http://c:3")], Some("c:3")),
        (HTTPS, &[("ALL_PROXY", "http://c:3"), ("all_proxy", "http://d:4")], Some("c:3")),
    ] {
        assert_eq!(from_env(endpoint, variables).as_deref(), expected, "{endpoint} {variables:?}");
    }
}

#[test]
fn no_proxy_excludes_hosts() {
    for (endpoint, excluded, expected) in [
        (HTTPS, "lambda.us-east-1.amazonaws.com", None),
        (HTTPS, "localhost, .amazonaws.com", None),
        (HTTPS, "AmazonAWS.com", None),
        (HTTPS, "*", None),
        (HTTPS, " ", Some("a:1")),
        (HTTPS, "lambda.eu-west-1.amazonaws.com", Some("a:1")),
        (HTTPS, "aws.com", Some("a:1")),
        ("http://127.0.0.1:9000", "127.0.0.1", None),
        ("http://127.0.0.1:9000", "127.0.0.0/8", None),
        ("http://127.0.0.1:9000", "localhost", Some("a:1")),
        ("http://localhost:9000", "localhost", None),
        ("http://[::1]:9000", "::1", None),
        ("http://[::1]:9000", "[::1]", None),
        ("http://[::1]:9000", "[::1]:9000", None),
        ("http://[::1]:9000", "[::1]:9001", Some("a:1")),
        ("http://[fd00::1]:9000", "fd00::/8", None),
        ("http://127.0.0.1:9000", "127.0.0.1:9000", None),
        ("http://127.0.0.1:9000", "127.0.0.1:80", Some("a:1")),
        ("http://127.0.0.1:9000", "127.0.0.1:", Some("a:1")),
        ("http://localhost:9000", "127.0.0.1 localhost", None),
        ("http://localhost", "localhost:80", None),
        (HTTPS, "lambda.us-east-1.amazonaws.com:443", None),
        (HTTPS, ".amazonaws.com:443", None),
        (HTTPS, ".amazonaws.com:80", Some("a:1")),
        (HTTPS, "*:443", None),
        (HTTPS, "*.amazonaws.com", None),
        (HTTPS, "*aws.com", Some("a:1")),
        (HTTPS, "amazonaws.com.", None),
        (HTTPS, "localhost\t*.amazonaws.com", None),
        (HTTPS, ".", Some("a:1")),
        (HTTPS, ",, ,:,[],*.,::", Some("a:1")),
    ] {
        for name in ["NO_PROXY", "no_proxy"] {
            let variables = [("ALL_PROXY", "http://a:1"), (name, excluded)];
            assert_eq!(
                from_env(endpoint, &variables).as_deref(),
                expected,
                "{endpoint} {excluded}"
            );
        }
    }
}

/// The header `Proxy` of a request is HTTP_PROXY there.
#[test]
fn http_proxy_is_ignored_in_cgi() {
    let cgi = ("REQUEST_METHOD", "GET");
    for (endpoint, variables, expected) in [
        (HTTP, &[cgi, ("HTTP_PROXY", "http://a:1"), ("http_proxy", "http://b:2")][..], None),
        (HTTP, &[cgi, ("HTTP_PROXY", "http://a:1"), ("ALL_PROXY", "http://c:3")], Some("c:3")),
        (HTTPS, &[cgi, ("HTTPS_PROXY", "http://a:1")], Some("a:1")),
    ] {
        assert_eq!(from_env(endpoint, variables).as_deref(), expected, "{endpoint} {variables:?}");
    }
}

#[test]
fn setting_precedes_the_environment() {
    let variables = [("ALL_PROXY", "http://a:1"), ("NO_PROXY", "*")];
    let set = ProxySetting::Url("http://b:2".to_owned());
    for endpoint in [HTTP, HTTPS] {
        assert_eq!(resolve(&set, endpoint, &variables).unwrap().unwrap().to_string(), "b:2");
        let resolved = resolve(&ProxySetting::Direct, endpoint, &variables[..1]);
        assert!(resolved.unwrap().is_none());
    }
}

#[test]
fn url_gives_address_and_basic_credentials() {
    for (url, address, authorization) in [
        ("http://proxy.example.com:3128", "proxy.example.com:3128", None),
        ("http://proxy.example.com", "proxy.example.com:80", None),
        ("http://proxy.example.com:8080/", "proxy.example.com:8080", None),
        ("proxy.example.com:3128", "proxy.example.com:3128", None),
        ("http://[::1]:3128", "[::1]:3128", None),
        ("http://Aladdin:open%20sesame@a:1", "a:1", Some("Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==")),
        ("http://Aladdin@a:1", "a:1", Some("Basic QWxhZGRpbjo=")),
        ("HTTP://Aladdin:@a:1", "a:1", Some("Basic QWxhZGRpbjo=")),
        ("http://Aladdin:%C3%A4%0D%0A%3a@a:1", "a:1", Some("Basic QWxhZGRpbjrDpA0KOg==")),
        ("Aladdin:open%20sesame@a:1", "a:1", Some("Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==")),
    ] {
        let proxy = Proxy::parse(url).unwrap();
        assert_eq!(proxy.to_string(), address, "{url}");
        let found = proxy.authorization().map(|value| value.to_str().unwrap());
        assert_eq!(found, authorization, "{url}");
        let shown = format!("{proxy:?} {proxy}");
        assert!(!shown.contains("Aladdin") && !shown.contains("Basic"), "{shown}");
    }
}

#[test]
fn proxy_that_cannot_be_used_is_named_without_its_password() {
    let syntax = "URL must look like http://user:password@host:port, and special characters of the \
                  user and the password must be percent-encoded in UTF-8";
    let scheme = "URL must begin with http://, because a proxy over TLS or SOCKS is not supported";
    for (url, reason) in [
        ("http://me:p4ss@w0rd@proxy:3128", syntax),
        ("http://me:p4ss/w0rd@proxy:3128", syntax),
        ("http://me:1/p4ssw0rd@proxy:3128", syntax),
        ("http://me:p4ss#w0rd@proxy:3128", syntax),
        ("http://me:1?p4ssw0rd@proxy:3128", syntax),
        ("http://me:p4ssw0rd@proxy:99999", syntax),
        ("http://me:p4ssw0rd@proxy:+80", syntax),
        ("http://me:p4ssw0rd@:3128", syntax),
        ("http://me:p4ss w0rd@proxy:3128", syntax),
        ("http://me:p4sswörd@proxy:3128", syntax),
        ("http://me:p4ss%F6w0rd@proxy:3128", syntax),
        ("http://m%FF:p4ssw0rd@proxy:3128", syntax),
        ("http://%F6p4ssw0rd@proxy:3128", syntax),
        ("http://me:p4ssw0rd@proxy:3128/path", syntax),
        ("http://", syntax),
        ("https://me:p4ssw0rd@proxy:3128", scheme),
        ("socks5://me:p4ssw0rd@proxy:1080", scheme),
        ("ftp://me:p4ssw0rd@proxy", scheme),
    ] {
        for name in ["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy", "proxy()"] {
            let setting = match name {
                "proxy()" => ProxySetting::Url(url.to_owned()),
                _ => ProxySetting::Environment,
            };
            let error = resolve(&setting, HTTPS, &[(name, url)]).unwrap_err();
            assert_eq!(error.to_string(), format!("proxy of {name} cannot be used"), "{url}");
            assert_eq!(error.source().unwrap().to_string(), reason, "{url}");
            let shown = format!("{error:?}");
            assert!(!shown.contains("p4ss") && !shown.contains("w0rd"), "{shown}");
        }
        let excluded = [("HTTPS_PROXY", url), ("NO_PROXY", "amazonaws.com")];
        assert!(resolve(&ProxySetting::Environment, HTTPS, &excluded).unwrap().is_none());
    }
}

#[test]
fn http2_without_tls_does_not_pass_a_proxy() {
    let variables = [("HTTP_PROXY", "http://a:1")];
    let found = |url, version, variables: &[_]| {
        ProxySetting::Environment.resolve(&endpoint(url), version, &|name| value(name, variables))
    };
    let error = found(HTTP, HttpVersion::Http2, &variables).unwrap_err();
    assert_eq!(error.to_string(), "proxy of HTTP_PROXY cannot be used");
    assert!(error.source().unwrap().to_string().starts_with("HTTP/2 without TLS cannot pass"));
    let excluded = [variables[0], ("NO_PROXY", "*")];
    assert!(found(HTTP, HttpVersion::Http2, &excluded).unwrap().is_none());
    for version in [HttpVersion::Negotiated, HttpVersion::Http1] {
        assert!(found(HTTP, version, &variables).unwrap().is_some());
    }
    let variables = [("HTTPS_PROXY", "http://a:1")];
    assert!(found(HTTPS, HttpVersion::Http2, &variables).unwrap().is_some());
}

/// Returns the address of the proxy that the environment names.
fn from_env(endpoint: &str, variables: &[(&str, &str)]) -> Option<String> {
    let proxy = resolve(&ProxySetting::Environment, endpoint, variables).unwrap();
    proxy.map(|proxy| proxy.to_string())
}

fn resolve(
    setting: &ProxySetting,
    url: &str,
    variables: &[(&str, &str)],
) -> Result<Option<Proxy>, ProxySettingError> {
    let lookup = |name: &str| value(name, variables);
    setting.resolve(&endpoint(url), HttpVersion::Negotiated, &lookup)
}

fn endpoint(url: &str) -> Endpoint {
    let settings =
        EndpointSettings { endpoint: Some(("endpoint()", url)), ..EndpointSettings::default() };
    Endpoint::resolve(&settings, &|_| None).unwrap()
}

fn value(name: &str, variables: &[(&str, &str)]) -> Option<String> {
    let found = variables.iter().find(|(other, _)| *other == name);
    found.map(|(_, value)| (*value).to_owned())
}

const HTTPS: &str = "https://lambda.us-east-1.amazonaws.com";
const HTTP: &str = "http://lambda.example.com:9000";
