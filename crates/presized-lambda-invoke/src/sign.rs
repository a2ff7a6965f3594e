//! Signs requests: SigV4, in the `Authorization` header.
//!
//! `aws_sigv4::http_request::sign` derives the key on every call, which takes longer than the
//! signature itself. Here it is kept, for the day and the credentials it is of.

use std::error::Error;
use std::fmt;
use std::mem;
use std::time::{SystemTime, UNIX_EPOCH};

use aws_credential_types::Credentials;
use aws_smithy_types::DateTime;
use aws_smithy_types::date_time::Format;
use http::header::{AUTHORIZATION, CONTENT_TYPE, HOST};
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use sha2::{Digest, Sha256};

use self::key::SigningKey;
use super::canonical::{self, Request};
use super::path::Target;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

mod key;
#[cfg(test)]
mod peer;
#[cfg(test)]
mod suite;
#[cfg(test)]
mod tests;

/// Signs for one region.
pub(super) struct Signer {
    region: String,
    service: &'static str,
    kept: Mutex<Kept>,
}

/// What one signature leaves for the next.
#[derive(Default)]
struct Kept {
    key: Option<Arc<SigningKey>>,
    date: Option<Date>,
    buffer: Vec<u8>,
}

/// A second since 1970, and `X-Amz-Date` in it.
struct Date {
    second: u64,
    header: HeaderValue,
}

impl Signer {
    pub(super) fn new(region: &str) -> Self {
        Self::with_service(region, "lambda")
    }

    fn with_service(region: &str, service: &'static str) -> Self {
        Self { region: region.to_owned(), service, kept: Mutex::default() }
    }

    /// Adds `X-Amz-Date`, `Authorization` and, where there is a token, `X-Amz-Security-Token`; on
    /// the headers of an earlier attempt it replaces them. Of `headers` it signs `Host`,
    /// `Content-Type` and all `X-Amz-*`.
    pub(super) fn sign(
        &self,
        method: &Method,
        target: &Target,
        headers: &mut HeaderMap,
        payload: &PayloadHash,
        credentials: &Credentials,
        now: SystemTime,
    ) -> Result<(), SignError> {
        let request = Request {
            method: method.as_str(),
            path: &target.canonical_path,
            query: target.canonical_query(),
            payload_hash: &payload.0,
        };
        self.sign_request(request, headers, is_signed, credentials, now)
    }

    fn sign_request(
        &self,
        request: Request<'_>,
        headers: &mut HeaderMap,
        is_signed: fn(&HeaderName) -> bool,
        credentials: &Credentials,
        now: SystemTime,
    ) -> Result<(), SignError> {
        let (key, date, mut buffer) = self.prepare(credentials, now)?;
        headers.insert(&X_AMZ_DATE, date.clone());
        match &key.session_token {
            Some(token) => headers.insert(&X_AMZ_SECURITY_TOKEN, token.clone()),
            // Of credentials that an earlier attempt was signed with.
            None => headers.remove(&X_AMZ_SECURITY_TOKEN),
        };
        let signed = canonical::signed_headers(headers, is_signed);

        buffer.clear();
        request.push(headers, &signed, &mut buffer);
        let request_hash = hex_sha256(&buffer);
        buffer.clear();
        canonical::push_string_to_sign(date.as_bytes(), &key.scope, &request_hash, &mut buffer);
        let signature = key.sign(&buffer);

        buffer.clear();
        buffer.extend_from_slice(key.authorization.as_bytes());
        canonical::push_names(&signed, &mut buffer);
        buffer.extend_from_slice(b", Signature=");
        buffer.extend_from_slice(signature.as_bytes());
        // The rest of it is of header names and hex digits.
        let authorization = HeaderValue::from_bytes(&buffer);
        self.lock().buffer = buffer;
        let mut authorization = authorization.map_err(|_| SignError::Credential)?;
        authorization.set_sensitive(true);
        headers.insert(AUTHORIZATION, authorization);
        Ok(())
    }

    /// The key and the date of `now`, and a buffer. A request that is signed meanwhile finds none,
    /// and makes its own.
    fn prepare(
        &self,
        credentials: &Credentials,
        now: SystemTime,
    ) -> Result<(Arc<SigningKey>, HeaderValue, Vec<u8>), SignError> {
        // The service tells a clock before 1970 what it tells any that is wrong.
        let second = now.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        let mut kept = self.lock();
        let date = match &kept.date {
            Some(date) if date.second == second => date.header.clone(),
            _ => {
                let header = x_amz_date(second)?;
                kept.date = Some(Date { second, header: header.clone() });
                header
            }
        };
        let key = match &kept.key {
            Some(key) if key.is_of(credentials, second) => key.clone(),
            _ => {
                // The former one is gone even if there is none after it.
                kept.key = None;
                let key =
                    SigningKey::derive(credentials, second, &date, &self.region, self.service)?;
                kept.key.insert(Arc::new(key)).clone()
            }
        };
        Ok((key, date, mem::take(&mut kept.buffer)))
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        // What is kept is replaced whole, so a panic cannot leave half of it.
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Signer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Signer").field("region", &self.region).finish_non_exhaustive()
    }
}

/// The SHA-256 of a payload, in hex digits: taken once a call, whatever its attempts.
#[derive(Clone)]
pub(super) struct PayloadHash([u8; 64]);

impl PayloadHash {
    pub(super) fn of(payload: &[u8]) -> Self {
        Self(hex_sha256(payload))
    }
}

/// Why a request cannot be signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SignError {
    Credential,
    SessionToken,
    Date,
}

impl fmt::Display for SignError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Credential => {
                "the access key id or the region has characters in it that no header can carry"
            }
            Self::SessionToken => {
                "the session token has characters in it that no header can carry, such as a line end"
            }
            Self::Date => "the clock is at a date that no signature can have",
        })
    }
}

impl Error for SignError {}

/// Not those that a proxy or hyper itself may add or change.
fn is_signed(name: &HeaderName) -> bool {
    *name == HOST || *name == CONTENT_TYPE || name.as_str().starts_with("x-amz-")
}

/// `20150830T123600Z`: ISO 8601 in its basic form.
fn x_amz_date(second: u64) -> Result<HeaderValue, SignError> {
    let second = i64::try_from(second).map_err(|_| SignError::Date)?;
    let mut date =
        DateTime::from_secs(second).fmt(Format::DateTime).map_err(|_| SignError::Date)?;
    date.retain(|c| c != '-' && c != ':');
    HeaderValue::try_from(date).map_err(|_| SignError::Date)
}

fn hex_sha256(data: &[u8]) -> [u8; 64] {
    let digest = Sha256::digest(data);
    let mut digits = [0; 64];
    for (pair, byte) in digits.chunks_exact_mut(2).zip(digest) {
        pair[0] = HEX_DIGITS[usize::from(byte >> 4)];
        pair[1] = HEX_DIGITS[usize::from(byte & 0xf)];
    }
    digits
}

const HEX_DIGITS: &[u8; 16] = b"0123456789abcdef";
static X_AMZ_DATE: HeaderName = HeaderName::from_static("x-amz-date");
static X_AMZ_SECURITY_TOKEN: HeaderName = HeaderName::from_static("x-amz-security-token");
