//! The Invoke API over loopback: clients with the same keys, and the checks of a server.

use std::net::SocketAddr;

use aws_sdk_lambda::config::{BehaviorVersion, Builder, Credentials, Region};
use aws_smithy_http_client::tls::rustls_provider::CryptoMode;
use aws_smithy_http_client::tls::{Provider, TlsContext, TrustStore};
use presized_support::client::Error;
use serde::{Deserialize, Serialize};

/// The address of a server and its certificate, for its clients.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Endpoint {
    /// The address of the server.
    pub address: SocketAddr,
    /// The certificate of a server that speaks TLS, in PEM.
    pub certificate: Option<String>,
}

impl Endpoint {
    fn url(&self) -> String {
        let scheme = if self.certificate.is_some() { "https" } else { "http" };
        format!("{scheme}://{}", self.address)
    }
}

impl From<SocketAddr> for Endpoint {
    /// Returns the endpoint of a server without TLS.
    fn from(address: SocketAddr) -> Self {
        Self { address, certificate: None }
    }
}

/// Creates a client of the SDK with its defaults, keys and an endpoint.
pub fn sdk(server: impl Into<Endpoint>) -> Result<aws_sdk_lambda::Client, Error> {
    Ok(aws_sdk_lambda::Client::from_conf(sdk_config(&server.into())?.build()))
}

/// Returns the configuration of [`sdk`].
pub fn sdk_config(server: &Endpoint) -> Result<Builder, Error> {
    let config = aws_sdk_lambda::Config::builder()
        .behavior_version(BehaviorVersion::latest())
        .region(Region::new(REGION))
        .credentials_provider(credentials())
        .endpoint_url(server.url());
    let Some(certificate) = &server.certificate else { return Ok(config) };
    // The default client of the SDK, with one more root certificate.
    let trusted = TrustStore::default().with_pem_certificate(certificate.as_bytes());
    let client = aws_smithy_http_client::Builder::new()
        .tls_provider(Provider::Rustls(CryptoMode::AwsLc))
        .tls_context(TlsContext::builder().with_trust_store(trusted).build()?)
        .build_https();
    Ok(config.http_client(client))
}

/// Returns the builder of a client of presized with the same settings.
pub fn presized(server: &Endpoint) -> presized_lambda_invoke::ClientBuilder {
    let client = presized_lambda_invoke::Client::builder()
        .region(REGION)
        .credentials(credentials())
        .endpoint(server.url());
    match &server.certificate {
        Some(certificate) => client.root_certificates_pem(certificate),
        None => client,
    }
}

/// Returns the name of the function that a request to this path calls.
pub fn function_at(path: &str) -> Option<&str> {
    path.strip_prefix("/2015-03-31/functions/")?.strip_suffix("/invocations")
}

/// Returns whether this `Authorization` names the keys of the clients.
pub fn is_signed(authorization: &[u8]) -> bool {
    authorization.starts_with(format!("AWS4-HMAC-SHA256 Credential={ACCESS_KEY}/").as_bytes())
}

fn credentials() -> Credentials {
    Credentials::new(ACCESS_KEY, SECRET_KEY, None, None, "benchmark")
}

const REGION: &str = "eu-central-1";
const ACCESS_KEY: &str = "AKIAIOSFODNN7EXAMPLE";
const SECRET_KEY: &str = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY";
