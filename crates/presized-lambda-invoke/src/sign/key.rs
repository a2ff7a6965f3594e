//! The key that signatures of one day are made with, and what is the same in all of them.

use std::time::{Duration, UNIX_EPOCH};

use aws_credential_types::Credentials;
use aws_sigv4::sign::v4::{calculate_signature, generate_signing_key};
use http::HeaderValue;

use super::SignError;
use crate::canonical::ALGORITHM;

/// Derived from a secret, a day, a region and a service. As secret as what it comes from, so
/// nothing of it is ever shown.
pub(super) struct SigningKey {
    credentials: Credentials,
    day: u64,
    key: Box<[u8]>,
    /// `20150830/us-east-1/lambda/aws4_request`
    pub(super) scope: String,
    /// `Authorization`, up to the list of signed headers.
    pub(super) authorization: String,
    pub(super) session_token: Option<HeaderValue>,
}

impl SigningKey {
    /// `date` is `X-Amz-Date` in that second.
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

    pub(super) fn is_of(&self, credentials: &Credentials, second: u64) -> bool {
        // Clones share one allocation, by which `==` finds them equal without a look at the strings.
        self.day == second / DAY && self.credentials == *credentials
    }

    /// The signature, in hex digits.
    pub(super) fn sign(&self, string_to_sign: &[u8]) -> String {
        calculate_signature(&self.key, string_to_sign)
    }
}

fn sensitive(token: &str) -> Result<HeaderValue, SignError> {
    let mut token = HeaderValue::from_str(token).map_err(|_| SignError::SessionToken)?;
    token.set_sensitive(true);
    Ok(token)
}

/// Of UTC, which has no leap seconds in the time since 1970.
const DAY: u64 = 24 * 60 * 60;
