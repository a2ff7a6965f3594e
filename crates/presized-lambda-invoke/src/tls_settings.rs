//! The TLS settings of a client: trusted root certificates and the client's own certificate.

use std::fmt;
use std::sync::Arc;

use rustls::client::WantsClientCert;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ClientConfig, ConfigBuilder, RootCertStore};

use super::pem_error::PemError;
use super::tls_error::TlsError;

/// The trusted roots of a client, and its own certificate. [`client_config`](Self::client_config)
/// parses the PEM.
#[derive(Clone)]
pub(super) struct TlsSettings {
    /// Whether the root certificates of the system are trusted.
    pub(super) system_roots: bool,
    /// PEM with further root certificates.
    pub(super) roots: Vec<Vec<u8>>,
    pub(super) identity: Option<Identity>,
}

/// The client's own certificate, in PEM.
#[derive(Clone)]
pub(super) struct Identity {
    pub(super) certificates: Vec<u8>,
    pub(super) private_key: Vec<u8>,
}

impl TlsSettings {
    /// Returns the configuration for rustls, without ALPN protocols.
    ///
    /// Reads the root certificates of the system, which takes milliseconds, if they are trusted.
    pub(super) fn client_config(&self) -> Result<ClientConfig, TlsError> {
        let builder = ClientConfig::builder_with_provider(provider()?)
            .with_safe_default_protocol_versions()
            .map_err(TlsError::Provider)?
            .with_root_certificates(self.root_store()?);
        match &self.identity {
            Some(identity) => identity.apply(builder),
            None => Ok(builder.with_no_client_auth()),
        }
    }

    fn root_store(&self) -> Result<RootCertStore, TlsError> {
        let mut store = RootCertStore::empty();
        for pem in &self.roots {
            for certificate in certificates(pem).map_err(TlsError::RootPem)? {
                store.add(certificate).map_err(TlsError::Root)?;
            }
        }
        if self.system_roots {
            let mut found = rustls_native_certs::load_native_certs();
            // Some systems have certificates that rustls does not support. The others are enough.
            store.add_parsable_certificates(found.certs);
            if store.is_empty() {
                return Err(TlsError::NoSystemRoot(found.errors.pop()));
            }
        }
        if store.is_empty() { Err(TlsError::NoRoot) } else { Ok(store) }
    }
}

impl Default for TlsSettings {
    fn default() -> Self {
        Self { system_roots: true, roots: Vec::new(), identity: None }
    }
}

impl fmt::Debug for TlsSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TlsSettings")
            .field("system_roots", &self.system_roots)
            .field("roots", &self.roots.len())
            // Without the private key.
            .field("identity", &self.identity.is_some())
            .finish()
    }
}

impl Identity {
    fn apply(
        &self,
        builder: ConfigBuilder<ClientConfig, WantsClientCert>,
    ) -> Result<ClientConfig, TlsError> {
        let certificates = certificates(&self.certificates).map_err(TlsError::IdentityPem)?;
        let key = PrivateKeyDer::from_pem_slice(&self.private_key)
            .map_err(|error| TlsError::KeyPem(error.into()))?;
        builder.with_client_auth_cert(certificates, key).map_err(TlsError::Identity)
    }
}

/// Returns the default provider of the process if one is installed, and otherwise the provider of
/// an enabled feature. `aws-lc-rs` is preferred to `ring`, which is enabled by default.
fn provider() -> Result<Arc<CryptoProvider>, TlsError> {
    match CryptoProvider::get_default() {
        Some(provider) => Ok(Arc::clone(provider)),
        None => compiled_provider(),
    }
}

#[cfg(feature = "aws-lc-rs")]
fn compiled_provider() -> Result<Arc<CryptoProvider>, TlsError> {
    Ok(Arc::new(rustls::crypto::aws_lc_rs::default_provider()))
}

#[cfg(all(feature = "ring", not(feature = "aws-lc-rs")))]
fn compiled_provider() -> Result<Arc<CryptoProvider>, TlsError> {
    Ok(Arc::new(rustls::crypto::ring::default_provider()))
}

#[cfg(not(any(feature = "ring", feature = "aws-lc-rs")))]
fn compiled_provider() -> Result<Arc<CryptoProvider>, TlsError> {
    Err(TlsError::NoProvider)
}

/// Returns all certificates in `pem`, which must be at least one.
fn certificates(pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, PemError> {
    let certificates: Vec<_> = CertificateDer::pem_slice_iter(pem).collect::<Result<_, _>>()?;
    if certificates.is_empty() {
        return Err(PemError::NoSection);
    }
    Ok(certificates)
}

#[cfg(all(test, any(feature = "ring", feature = "aws-lc-rs")))]
mod tests;
