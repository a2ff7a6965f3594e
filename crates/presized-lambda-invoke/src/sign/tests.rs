//! The cache of the signer, and the secrecy of keys.

use std::time::Duration;

use aws_sigv4::sign::v4::{calculate_signature, generate_signing_key};

use super::*;

#[test]
fn key_is_derived_once_for_a_day_and_credentials() {
    let signer = Signer::new("us-east-1");
    let credentials = credentials("secret", None);
    let first = signer.prepare(&credentials, noon()).expect("a key").0;
    for now in [noon(), noon() + Duration::from_secs(1), midnight() - Duration::from_millis(1)] {
        let (key, ..) = signer.prepare(&credentials.clone(), now).expect("a key");
        assert!(Arc::ptr_eq(&first, &key));
    }
    // Equal strings in other memory.
    let (key, ..) = signer.prepare(&self::credentials("secret", None), noon()).expect("a key");
    assert!(Arc::ptr_eq(&first, &key));
}

#[test]
fn key_is_dropped_when_the_day_or_the_credentials_change() {
    let signer = Signer::new("us-east-1");
    let mut former = Arc::downgrade(&signer.prepare(&credentials("a", None), noon()).unwrap().0);
    for (credentials, now) in [
        (credentials("a", None), midnight()),
        (credentials("b", None), midnight()),
        (credentials("b", Some("token")), midnight()),
        (credentials("b", Some("token")), noon()),
    ] {
        let (key, ..) = signer.prepare(&credentials, now).expect("a key");
        assert!(former.upgrade().is_none());
        former = Arc::downgrade(&key);
    }
    let refused = signer.prepare(&credentials("b", Some("line\nend")), noon()).err();
    assert_eq!(refused, Some(SignError::SessionToken));
    assert!(former.upgrade().is_none());
}

#[test]
fn cached_key_gives_the_same_signature_as_a_new_one() {
    let cached = Signer::new("us-east-1");
    for (credentials, now) in [
        (credentials("a", None), noon()),
        (credentials("a", None), noon() + Duration::from_secs(1)),
        (credentials("b", Some("token")), noon() + Duration::from_secs(1)),
        (credentials("a", None), midnight() - Duration::from_nanos(1)),
        (credentials("a", None), midnight()),
    ] {
        let fresh = Signer::new("us-east-1");
        assert_eq!(signed(&cached, &credentials, now), signed(&fresh, &credentials, now));
    }
}

#[test]
fn date_is_formatted_once_a_second() {
    let signer = Signer::new("us-east-1");
    let date = |now| signer.prepare(&credentials("secret", None), now).expect("a key").1;
    let first = date(noon());
    assert_eq!(first, "20150830T120000Z");
    // Clones of a `HeaderValue` share one allocation.
    assert_eq!(
        date(noon() + Duration::from_millis(999)).as_bytes().as_ptr(),
        first.as_bytes().as_ptr()
    );
    assert_eq!(date(noon() + Duration::from_secs(1)), "20150830T120001Z");
    assert_eq!(date(midnight()), "20150831T000000Z");
}

#[test]
fn buffer_is_used_again_for_the_next_signature() {
    let signer = Signer::new("us-east-1");
    let refused = Credentials::new("AK\nID", "secret", None, None, "test");
    signed(&signer, &credentials("secret", None), noon());
    let buffer = |signer: &Signer| signer.lock().buffer.as_ptr();
    let first = buffer(&signer);
    signed(&signer, &credentials("secret", None), noon());
    assert_eq!(buffer(&signer), first);
    let mut headers = HeaderMap::new();
    signer.sign_request(GET, &mut headers, is_signed, &refused, noon()).expect_err("a line end");
    assert_eq!(buffer(&signer), first);
    assert!(signer.lock().buffer.capacity() > 0);
}

#[test]
fn headers_of_an_earlier_attempt_are_replaced() {
    let signer = Signer::new("us-east-1");
    let mut headers = signed(&signer, &credentials("a", Some("token")), noon());
    assert_eq!(headers[&X_AMZ_SECURITY_TOKEN], "token");
    sign(&signer, &mut headers, &credentials("b", None), midnight());
    assert_eq!(headers, signed(&signer, &credentials("b", None), midnight()));
}

#[test]
fn only_headers_that_a_proxy_does_not_change_are_signed() {
    let signer = Signer::new("us-east-1");
    let headers = signed(&signer, &credentials("secret", Some("token")), noon());
    let authorization = headers[AUTHORIZATION].to_str().expect("text");
    assert!(
        authorization.starts_with(
            "AWS4-HMAC-SHA256 Credential=AKID/20150830/us-east-1/lambda/aws4_request, \
             SignedHeaders=content-type;host;x-amz-date;x-amz-invocation-type;\
             x-amz-security-token, Signature="
        ),
        "{authorization}"
    );
}

/// `aws_sigv4` takes no such value, so the canonical request is written out.
#[test]
fn header_value_that_is_not_utf8_is_signed_byte_for_byte() {
    let mut headers = HeaderMap::new();
    headers.insert("x-raw", HeaderValue::from_bytes(b"\xff  \xe9").expect("a value"));
    sign(&Signer::new("us-east-1"), &mut headers, &credentials("secret", None), noon());
    let hash =
        hex_sha256(b"GET\n/\n\nx-amz-date:20150830T120000Z\nx-raw:\xff \xe9\n\nx-amz-date;x-raw\n");
    let scope = "20150830/us-east-1/lambda/aws4_request";
    let mut text = format!("AWS4-HMAC-SHA256\n20150830T120000Z\n{scope}\n").into_bytes();
    text.extend_from_slice(&hash);
    let key = generate_signing_key("secret", noon(), "us-east-1", "lambda");
    let signature = calculate_signature(key, &text);
    assert_eq!(
        headers[AUTHORIZATION],
        format!(
            "AWS4-HMAC-SHA256 Credential=AKID/{scope}, SignedHeaders=x-amz-date;x-raw, \
             Signature={signature}"
        )
    );
}

#[test]
fn debug_shows_no_secret() {
    let signer = Signer::new("us-east-1");
    let headers = signed(&signer, &credentials("secret", Some("token")), noon());
    assert_eq!(format!("{signer:?}"), r#"Signer { region: "us-east-1", .. }"#);
    let shown = format!("{headers:?}");
    assert_eq!(shown.matches("Sensitive").count(), 2, "{shown}");
    assert!(!shown.contains("token\"}") && !shown.contains("Signature"), "{shown}");
}

#[test]
fn values_that_a_header_cannot_carry_are_refused() {
    let year_10000 = UNIX_EPOCH + Duration::from_secs(253_402_300_800);
    for (key_id, token, now, expected) in [
        ("AK\nID", None, noon(), SignError::Credential),
        ("AKID", Some("tok\nen"), noon(), SignError::SessionToken),
        ("AKID", None, year_10000, SignError::Date),
    ] {
        let token = token.map(str::to_owned);
        let credentials = Credentials::new(key_id, "secret", token, None, "test");
        let (signer, mut headers) = (Signer::new("us-east-1"), HeaderMap::new());
        let refused = signer.sign_request(GET, &mut headers, is_signed, &credentials, now);
        assert_eq!(refused, Err(expected));
        assert!(!headers.contains_key(AUTHORIZATION));
    }
}

#[test]
fn clock_before_1970_signs_with_the_first_second_of_1970() {
    let signer = Signer::new("us-east-1");
    let headers =
        signed(&signer, &credentials("secret", None), UNIX_EPOCH - Duration::from_secs(9));
    assert_eq!(headers[&X_AMZ_DATE], "19700101T000000Z");
}

fn credentials(secret: &str, token: Option<&str>) -> Credentials {
    Credentials::new("AKID", secret, token.map(str::to_owned), None, "test")
}

fn signed(signer: &Signer, credentials: &Credentials, now: SystemTime) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for (name, value) in [
        ("host", "lambda.us-east-1.amazonaws.com"),
        ("user-agent", "test"),
        ("content-type", "application/json"),
        ("x-amz-invocation-type", "Event"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    sign(signer, &mut headers, credentials, now);
    headers
}

fn sign(signer: &Signer, headers: &mut HeaderMap, credentials: &Credentials, now: SystemTime) {
    signer.sign_request(GET, headers, is_signed, credentials, now).expect("can be signed");
}

const GET: CanonicalRequest<'_> =
    CanonicalRequest { method: "GET", path: "/", query: "", payload_hash: b"" };

/// Noon of 2015-08-30.
fn noon() -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(1_440_936_000)
}

/// The end of that day.
fn midnight() -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(1_440_979_200)
}
