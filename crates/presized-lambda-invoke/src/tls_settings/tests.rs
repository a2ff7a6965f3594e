use std::error::Error;

use rcgen::{CertificateParams, CertifiedKey, KeyPair};
use rustls::pki_types::ServerName;
use rustls::server::WebPkiClientVerifier;
use rustls::{ClientConnection, ServerConfig, ServerConnection};

use super::*;

fn certified() -> CertifiedKey<KeyPair> {
    let signing_key = KeyPair::generate().unwrap();
    let params = CertificateParams::new(["localhost".to_owned()]).unwrap();
    let cert = params.self_signed(&signing_key).unwrap();
    CertifiedKey { cert, signing_key }
}

fn trusting(roots: &[&CertifiedKey<KeyPair>]) -> TlsSettings {
    let roots = roots.iter().map(|root| root.cert.pem().into_bytes()).collect();
    TlsSettings { system_roots: false, roots, identity: None }
}

/// The configuration of a server that presents `certified`, and that requires a certificate of
/// the client if there are `client_roots`.
fn server(certified: &CertifiedKey<KeyPair>, client_roots: Option<RootCertStore>) -> ServerConfig {
    let provider = provider().unwrap();
    let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .unwrap();
    let builder = match client_roots {
        None => builder.with_no_client_auth(),
        Some(roots) => builder.with_client_cert_verifier(
            WebPkiClientVerifier::builder_with_provider(roots.into(), provider).build().unwrap(),
        ),
    };
    let key = PrivateKeyDer::try_from(certified.signing_key.serialize_der()).unwrap();
    builder.with_single_cert(vec![certified.cert.der().clone()], key).unwrap()
}

/// Shakes hands in memory.
fn handshake(client: ClientConfig, server: ServerConfig) -> Result<(), rustls::Error> {
    let name = ServerName::try_from("localhost").unwrap();
    let mut client = ClientConnection::new(Arc::new(client), name)?;
    let mut server = ServerConnection::new(Arc::new(server))?;
    while client.is_handshaking() || server.is_handshaking() {
        let mut sent = Vec::new();
        while client.wants_write() {
            client.write_tls(&mut sent).unwrap();
        }
        let mut unread = &sent[..];
        while !unread.is_empty() {
            server.read_tls(&mut unread).unwrap();
            server.process_new_packets()?;
        }
        sent.clear();
        while server.wants_write() {
            server.write_tls(&mut sent).unwrap();
        }
        let mut unread = &sent[..];
        while !unread.is_empty() {
            client.read_tls(&mut unread).unwrap();
            client.process_new_packets()?;
        }
    }
    Ok(())
}

#[test]
fn server_is_trusted_only_with_a_given_root() {
    let (known, other, unknown) = (certified(), certified(), certified());
    for with_system_roots in [false, true] {
        let mut settings = trusting(&[&other, &known]);
        settings.system_roots = with_system_roots;
        let config = settings.client_config().unwrap();
        assert_eq!(handshake(config.clone(), server(&known, None)), Ok(()));
        assert!(handshake(config, server(&unknown, None)).is_err());
    }
}

#[test]
fn one_pem_may_have_several_roots() {
    let (first, second) = (certified(), certified());
    let mut settings = trusting(&[]);
    settings.roots.push([first.cert.pem(), second.cert.pem()].concat().into_bytes());
    let config = settings.client_config().unwrap();
    for certified in [first, second] {
        assert_eq!(handshake(config.clone(), server(&certified, None)), Ok(()));
    }
}

#[test]
fn client_certificate_is_presented_to_a_server_that_requires_one() {
    let (of_server, of_client) = (certified(), certified());
    let mut client_roots = RootCertStore::empty();
    client_roots.add(of_client.cert.der().clone()).unwrap();
    let mut settings = trusting(&[&of_server]);
    let without = settings.client_config().unwrap();
    assert!(handshake(without, server(&of_server, Some(client_roots.clone()))).is_err());
    settings.identity = Some(Identity {
        certificates: of_client.cert.pem().into_bytes(),
        private_key: of_client.signing_key.serialize_pem().into_bytes(),
    });
    let with = settings.client_config().unwrap();
    assert_eq!(handshake(with, server(&of_server, Some(client_roots))), Ok(()));
}

#[test]
fn settings_that_cannot_be_used_are_named_in_the_error() {
    let (certified, other) = (certified(), certified());
    let certificate = certified.cert.pem();
    let cut = "-----BEGIN CERTIFICATE-----\nMIIB";
    let no_certificate = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n";
    let key = certified.signing_key.serialize_pem();
    for (roots, identity, message, has_source) in [
        (
            None,
            None,
            "no root certificate is trusted: call root_certificates_pem(), or leave \
             system_roots() true",
            false,
        ),
        (Some("no PEM"), None, "the root certificates are not valid PEM", true),
        (Some(cut), None, "the root certificates are not valid PEM", true),
        (Some(no_certificate), None, "a root certificate cannot be used", true),
        (Some(&*certificate), Some(("", &*key)), "the client certificate is not valid PEM", true),
        (
            Some(&*certificate),
            Some((&*certificate, &*certificate)),
            "the private key of the client certificate is not valid PEM",
            true,
        ),
        (
            Some(&*certificate),
            Some((&*certificate, &*other.signing_key.serialize_pem())),
            "the client certificate cannot be used with its private key",
            true,
        ),
    ] {
        let settings = TlsSettings {
            system_roots: false,
            roots: roots.into_iter().map(|pem: &str| pem.as_bytes().to_vec()).collect(),
            identity: identity.map(|(certificates, key): (&str, &str)| Identity {
                certificates: certificates.as_bytes().to_vec(),
                private_key: key.as_bytes().to_vec(),
            }),
        };
        let error = settings.client_config().unwrap_err();
        assert_eq!(error.to_string(), message);
        assert_eq!(error.source().is_some(), has_source, "{message}");
    }
}

/// The line breaks of PEM are lost in some environment variables and secret stores.
#[test]
fn error_of_pem_without_line_breaks_quotes_no_private_key() {
    let certified = certified();
    let certificate = certified.cert.pem();
    let key = certified.signing_key.serialize_pem();
    let secret = key.lines().nth(1).unwrap();
    let no_end = "PEM has a section without a line for its END marker";
    let no_begin = "PEM has a BEGIN marker that is not a line of its own";
    for (key, reason) in [
        (key.replace('\n', " "), no_end),
        (key.replace('\n', "\\n"), no_begin),
        (key.replace("-----\n", "-----"), no_begin),
    ] {
        let mut settings = trusting(&[&certified]);
        settings.identity = Some(Identity {
            certificates: certificate.clone().into_bytes(),
            private_key: key.into_bytes(),
        });
        let error = settings.client_config().unwrap_err();
        let source = error.source().unwrap();
        assert_eq!(source.to_string(), reason);
        for shown in [format!("{error:?}"), format!("{error}: {source}")] {
            assert!(!shown.contains(secret), "{shown}");
            // As the bytes of a `Vec`.
            let bytes = format!("{:?}", secret.as_bytes());
            assert!(!shown.contains(bytes.trim_matches(['[', ']'])), "{shown}");
        }
    }
}

#[test]
fn debug_shows_no_private_key() {
    let certified = certified();
    let mut settings = trusting(&[&certified]);
    settings.identity = Some(Identity {
        certificates: certified.cert.pem().into_bytes(),
        private_key: certified.signing_key.serialize_pem().into_bytes(),
    });
    assert_eq!(
        format!("{settings:?}"),
        "TlsSettings { system_roots: false, roots: 1, identity: true }"
    );
}
