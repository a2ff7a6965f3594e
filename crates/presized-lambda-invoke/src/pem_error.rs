use std::fmt;

use rustls::pki_types::pem;

/// Why a certificate or a private key cannot be read from PEM.
///
/// It replaces the error of the parser, whose message can quote the input: a private key whose line
/// breaks are lost is quoted as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PemError {
    NoSection,
    NoBegin,
    NoEnd,
    NotBase64,
    Other,
}

impl From<pem::Error> for PemError {
    fn from(error: pem::Error) -> Self {
        match error {
            pem::Error::NoItemsFound => Self::NoSection,
            pem::Error::IllegalSectionStart { .. } => Self::NoBegin,
            pem::Error::MissingSectionEnd { .. } => Self::NoEnd,
            pem::Error::Base64Decode(_) => Self::NotBase64,
            _ => Self::Other,
        }
    }
}

impl fmt::Display for PemError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoSection => "PEM has no section of this kind",
            Self::NoBegin => "PEM has a BEGIN marker that is not a line of its own",
            Self::NoEnd => "PEM has a section without a line for its END marker",
            Self::NotBase64 => "PEM has a section that is not valid base64",
            Self::Other => "PEM cannot be parsed",
        })
    }
}

impl std::error::Error for PemError {}
