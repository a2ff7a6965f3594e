//! The TLS provider of a client whose process has a default one.

use std::sync::atomic::{AtomicUsize, Ordering};

use aws_credential_types::Credentials;
use presized_lambda_invoke::Client;
use presized_support::server::{Protocol, Server};
use rustls::crypto::{CryptoProvider, GetRandomFailed, SecureRandom, ring};

/// Counts the requests for random numbers of ring.
#[derive(Debug)]
struct Counted;

static FILLED: AtomicUsize = AtomicUsize::new(0);

impl SecureRandom for Counted {
    fn fill(&self, buffer: &mut [u8]) -> Result<(), GetRandomFailed> {
        FILLED.fetch_add(1, Ordering::Relaxed);
        ring::default_provider().secure_random.fill(buffer)
    }
}

#[tokio::test]
async fn default_provider_of_the_process_is_used_before_that_of_a_feature() {
    let provider = CryptoProvider { secure_random: &Counted, ..ring::default_provider() };
    provider.install_default().expect("the only provider of this process");
    let server = Server::start(Protocol::Tls).unwrap();
    let client = Client::builder()
        .region("us-east-1")
        .endpoint(server.endpoint().url(""))
        .credentials(Credentials::new("AKIDEXAMPLE", "not-a-real-secret", None, None, "test"))
        .system_roots(false)
        .root_certificates_pem(server.endpoint().certificate_pem().unwrap())
        .build()
        .unwrap();
    let error = client.invoke("f").send().await.unwrap_err();
    assert_eq!(error.as_service_error().expect("a response over TLS").status, 404);
    assert_ne!(FILLED.load(Ordering::Relaxed), 0);
}
