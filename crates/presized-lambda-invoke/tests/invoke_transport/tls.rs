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
async fn server_without_a_trusted_root_gets_no_request() {
    let (server, other) =
        (Server::start(Protocol::Tls).unwrap(), Server::start(Protocol::Tls).unwrap());
    let client = builder(server.endpoint().url(""))
        .root_certificates_pem(other.endpoint().certificate_pem().unwrap())
        .max_attempts(1)
        .build()
        .unwrap();
    let error = client.invoke("f").send().await.unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Connect(_)), "{error:?}");
    assert!(!error.may_have_run());
}
