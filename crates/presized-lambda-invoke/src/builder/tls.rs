use super::ClientBuilder;
use crate::tls_settings::Identity;

impl ClientBuilder {
    /// Sets whether the root certificates of the system are trusted. The default is true.
    ///
    /// With false, only the certificates of
    /// [`root_certificates_pem`](Self::root_certificates_pem) are trusted.
    pub fn system_roots(mut self, trusted: bool) -> Self {
        self.tls.system_roots = trusted;
        self
    }

    /// Adds trusted root certificates: one or more, in PEM.
    ///
    /// [`build`](Self::build) parses the PEM if the endpoint uses https.
    pub fn root_certificates_pem(mut self, pem: impl AsRef<[u8]>) -> Self {
        self.tls.roots.push(pem.as_ref().to_vec());
        self
    }

    /// Sets the certificate that the client presents to a server that asks for one.
    ///
    /// `chain` begins with the client's own certificate, and `private_key` belongs to it. Both are
    /// in PEM. [`build`](Self::build) parses the PEM if the endpoint uses https.
    pub fn client_certificate_pem(
        mut self,
        chain: impl AsRef<[u8]>,
        private_key: impl AsRef<[u8]>,
    ) -> Self {
        self.tls.identity = Some(Identity {
            certificates: chain.as_ref().to_vec(),
            private_key: private_key.as_ref().to_vec(),
        });
        self
    }
}
