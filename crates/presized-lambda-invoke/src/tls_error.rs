use std::fmt;

use super::pem_error::PemError;

/// Why the TLS settings of a client cannot be used.
///
/// A message shows neither a certificate nor a key.
#[derive(Debug)]
pub(super) enum TlsError {
    /// No feature with a provider is enabled, and the process has no default one.
    #[cfg_attr(any(feature = "ring", feature = "aws-lc-rs"), allow(dead_code))]
    NoProvider,
    /// The provider supports no TLS version that rustls does.
    Provider(rustls::Error),
    /// The system roots are not trusted, and there are no others.
    NoRoot,
    /// The system has no root certificate, and there are no others.
    NoSystemRoot(Option<rustls_native_certs::Error>),
    /// The given root certificates are not PEM.
    RootPem(PemError),
    /// A given root certificate cannot be used.
    Root(rustls::Error),
    /// The client certificates are not PEM.
    IdentityPem(PemError),
    /// The private key is not PEM.
    KeyPem(PemError),
    /// The client certificate cannot be used with the private key.
    Identity(rustls::Error),
}

impl fmt::Display for TlsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoProvider => {
                "no TLS provider: enable the feature `ring` or `aws-lc-rs` of \
                 presized-lambda-invoke, or install a default provider of rustls"
            }
            Self::Provider(_) => "the TLS provider supports no usable TLS version",
            Self::NoRoot => {
                "no root certificate is trusted: call root_certificates_pem(), or leave \
                 system_roots() true"
            }
            Self::NoSystemRoot(_) => {
                "this system has no root certificates: install them (most Linux distributions \
                 have a package ca-certificates), set SSL_CERT_FILE, or call \
                 root_certificates_pem()"
            }
            Self::RootPem(_) => "the root certificates are not valid PEM",
            Self::Root(_) => "a root certificate cannot be used",
            Self::IdentityPem(_) => "the client certificate is not valid PEM",
            Self::KeyPem(_) => "the private key of the client certificate is not valid PEM",
            Self::Identity(_) => "the client certificate cannot be used with its private key",
        })
    }
}

impl std::error::Error for TlsError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::NoProvider | Self::NoRoot | Self::NoSystemRoot(None) => None,
            Self::NoSystemRoot(Some(source)) => Some(source),
            Self::Provider(source) | Self::Root(source) | Self::Identity(source) => Some(source),
            Self::RootPem(source) | Self::IdentityPem(source) | Self::KeyPem(source) => {
                Some(source)
            }
        }
    }
}
