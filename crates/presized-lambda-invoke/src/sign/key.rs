//! The signing key of one day, and the parts that all signatures of that day share.

use std::time::{Duration, UNIX_EPOCH};

use aws_credential_types::Credentials;
use aws_sigv4::sign::v4::{calculate_signature, generate_signing_key};
use http::HeaderValue;

use super::SignError;
use crate::canonical::ALGORITHM;

/// A key that is derived from a secret access key, a day, a region and a service.
///
/// It is secret too, so it does not implement `Debug`.
pub(super) struct SigningKey {
    credentials: Credentials,
    day: u64,
    key: Box<[u8]>,
    /// The credential scope, such as `20150830/us-east-1/lambda/aws4_request`.
    pub(super) scope: String,
    /// The value of `Authorization` before the list of signed headers.
    pub(super) authorization: String,
    pub(super) session_token: Option<HeaderValue>,
}

impl SigningKey {
    /// Derives the key for the day of `second`. `date` is the value of `X-Amz-Date` in that second.
    pub(super) fn derive(
        credentials: &Credentials,
        second: u64,
        date: &HeaderValue,
        region: &str,
        service: &str,
    ) -> Result<Self, SignError> {
        let session_token = credentials.session_token().map(sensitive).transpose()?;
        let day = date.to_str().ok().and_then(|date| date.get(..8)).ok_or(SignError::Date)?;
        let scope = format!("{day}/{region}/{service}/aws4_request");
        let key_id = credentials.access_key_id();
        let authorization = format!("{ALGORITHM} Credential={key_id}/{scope}, SignedHeaders=");
        let time = UNIX_EPOCH + Duration::from_secs(second);
        let key = generate_signing_key(credentials.secret_access_key(), time, region, service);
        Ok(Self {
            credentials: credentials.clone(),
            day: second / DAY,
            key: key.as_ref().into(),
            scope,
            authorization,
            session_token,
        })
    }

    /// Returns whether the key belongs to `credentials` and the day of `second`.
    pub(super) fn is_of(&self, credentials: &Credentials, second: u64) -> bool {
        // Clones share one allocation, so that `==` does not compare the strings.
        self.day == second / DAY && self.credentials == *credentials
    }

    /// Returns the signature in hex digits.
    pub(super) fn sign(&self, string_to_sign: &[u8]) -> String {
        calculate_signature(&self.key, string_to_sign)
    }
}

fn sensitive(token: &str) -> Result<HeaderValue, SignError> {
    let mut token = HeaderValue::from_str(token).map_err(|_| SignError::SessionToken)?;
    token.set_sensitive(true);
    Ok(token)
}

/// The seconds of a day. Unix time has no leap seconds.
const DAY: u64 = 24 * 60 * 60;
