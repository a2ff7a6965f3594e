use presized_lambda_invoke::ErrorKind;
use presized_support::server::{Protocol, Server};

use super::builder;

#[tokio::test]
async fn server_with_a_trusted_root_is_accepted() {
    let server = Server::start(Protocol::Tls).unwrap();
    let client = builder(server.endpoint().url(""))
        .root_certificates_pem(server.endpoint().certificate_pem().unwrap())
        .build()
        .unwrap();
    // The server has no functions.
    let error = client.invoke("f").send().await.unwrap_err();
    assert_eq!(error.as_service_error().unwrap().status, 404);
}

#[tokio::test]
async fn server_without_a_trusted_root_gets_no_request_and_is_not_called_again() {
    let server = Server::start(Protocol::Tls).unwrap();
    let key = rcgen::KeyPair::generate().unwrap();
    let mut params = rcgen::CertificateParams::new([]).unwrap();
    let same_name = params.self_signed(&key).unwrap();
    params.distinguished_name.push(rcgen::DnType::CommonName, "another");
    let other_name = params.self_signed(&key).unwrap();
    for (root, reason) in [(same_name, "BadSignature"), (other_name, "UnknownIssuer")] {
        let client = builder(server.endpoint().url("")).root_certificates_pem(root.pem());
        let error = client.build().unwrap().invoke("f").send().await.unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Connect(_)), "{error:?}");
        let found = (error.attempts(), error.is_transient(), error.may_have_run());
        assert_eq!(found, (1, false, false), "{error:?}");
        let chain = chain(&error);
        assert!(chain.contains("call root_certificates_pem() to trust its root: "), "{chain}");
        assert!(chain.ends_with(&format!("invalid peer certificate: {reason}")), "{chain}");
    }
}

#[tokio::test]
async fn https_to_a_port_without_tls_says_so_and_is_not_retried() {
    let server = Server::start(Protocol::Http1).unwrap();
    let client = builder(format!("https://{}", server.endpoint().address))
        .root_certificates_pem(rcgen::generate_simple_self_signed([]).unwrap().cert.pem())
        .build()
        .unwrap();
    let error = client.invoke("f").send().await.unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Connect(_)), "{error:?}");
    assert_eq!((error.attempts(), error.is_transient(), error.may_have_run()), (1, false, false));
    let chain = chain(&error);
    assert!(chain.contains(": server does not speak TLS at this port: use http in"), "{chain}");
}

#[tokio::test]
async fn http_to_a_port_with_tls_says_so() {
    let server = Server::start(Protocol::Tls).unwrap();
    let client = builder(format!("http://{}", server.endpoint().address)).build().unwrap();
    let error = client.invoke("f").send().await.unwrap_err();
    let chain = chain(&error);
    assert!(chain.contains("if the server expects TLS, use https in the endpoint URL"), "{chain}");
}

/// Returns an error and its causes, as a log shows them.
fn chain(error: &dyn std::error::Error) -> String {
    let mut shown = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        shown += &format!(": {error}");
        source = error.source();
    }
    shown
}
