//! The signing test suite of AWS, which is part of the source of `aws-sigv4`.
//!
//! The tests apply `normalize`, `sign_body` and `omit_session_token` of each context. They ignore
//! `expiration_in_seconds`, which is for signatures in the query.

use std::fs;
use std::path::{Path, PathBuf};

use percent_encoding::percent_decode_str;
use presized_support::sources;
use serde_json::{Value, json};

use super::*;

#[test]
fn cases_of_the_aws_suite_are_signed_as_expected() {
    let sources = sources::directory(env!("CARGO_MANIFEST_DIR"), "aws-sigv4");
    let suite = sources.join("aws-signing-test-suite").join("v4");
    let mut ran = 0;
    for entry in fs::read_dir(suite).expect("the suite is a folder of cases") {
        Case::read(&entry.expect("an entry of the suite").path()).check();
        ran += 1;
    }
    assert!(ran >= 40, "the suite has 40 cases, and {ran} were found");
}

/// A case for a service that encodes paths once, as S3 does. Its path is encoded already, so it is
/// decoded before it is encoded twice.
const ENCODED_ONCE: &str = "get-space-normalized";

struct Case {
    name: String,
    folder: PathBuf,
    context: Value,
    method: String,
    path: String,
    query: String,
    headers: HeaderMap,
    payload: PayloadHash,
}

impl Case {
    fn read(folder: &Path) -> Self {
        let name = folder.file_name().expect("a case has a name").to_string_lossy().into_owned();
        let text = read(folder, "request.txt").expect("a case has a request");
        let (head, body) = text.split_once("\n\n").unwrap_or((&text, ""));
        // A folded line is one line with spaces (RFC 9112, section 5.2).
        let head = head.replace("\n ", "  ");
        let mut lines = head.lines();
        let line = lines.next().expect("a request has a first line");
        let (method, target) = line.split_once(' ').expect("a request has a method");
        let target = target.strip_suffix(" HTTP/1.1").unwrap_or(target);
        let (sent, query) = target.split_once('?').unwrap_or((target, ""));

        let context = context(&name, folder);
        let payload = PayloadHash::of(body.as_bytes());
        let mut headers = HeaderMap::new();
        for line in lines {
            let (name, value) = line.split_once(':').expect("a header has a name");
            headers.append(name.parse::<HeaderName>().expect(name), value.parse().expect(value));
        }
        if flag(&context, "sign_body") {
            let hash = HeaderValue::from_bytes(&payload.0).expect("digits");
            headers.insert("x-amz-content-sha256", hash);
        }
        let path = match (flag(&context, "normalize"), name.as_str()) {
            (true, ENCODED_ONCE) => canonical::path(&decoded(sent)),
            (true, _) => canonical::path(sent),
            (false, _) => canonical::encoded_path(sent),
        };
        let folder = folder.to_owned();
        let (method, query) = (method.to_owned(), canonical_query(query));
        Self { name, folder, context, method, path, query, headers, payload }
    }

    fn check(&self) {
        let expected = read(&self.folder, "header-canonical-request.txt").expect("a request");
        let headers = self.sign(time_in(&expected));
        let mut canonical = Vec::new();
        let signed = canonical::signed_headers(&headers, all_but_the_signature);
        self.request().push(&headers, &signed, &mut canonical);
        assert_eq!(String::from_utf8_lossy(&canonical), expected, "{}", self.name);

        if let Some(expected) = read(&self.folder, "header-string-to-sign.txt") {
            let mut lines = expected.lines().skip(1);
            let (Some(date), Some(scope)) = (lines.next(), lines.next()) else {
                panic!("{}: a string to sign of less than three lines", self.name)
            };
            let mut string = Vec::new();
            let hash = hex_sha256(&canonical);
            canonical::push_string_to_sign(date.as_bytes(), scope, &hash, &mut string);
            assert_eq!(String::from_utf8_lossy(&string), expected, "{}", self.name);
        }

        let expected = read(&self.folder, "header-signed-request.txt").expect("a signed request");
        let headers = self.sign(time_in(&expected));
        let authorization = header_in(&expected, "authorization");
        assert_eq!(headers[AUTHORIZATION], authorization, "{}", self.name);
        if let Some(signature) = read(&self.folder, "header-signature.txt") {
            assert!(authorization.ends_with(&signature), "{}", self.name);
        }
    }

    fn sign(&self, now: SystemTime) -> HeaderMap {
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let keys = &self.context["credentials"];
        let credentials = Credentials::new(
            text(&keys["access_key_id"]).expect("a key id"),
            text(&keys["secret_access_key"]).expect("a secret"),
            // An omitted token is added after the request is signed.
            text(&keys["token"]).filter(|_| !flag(&self.context, "omit_session_token")),
            None,
            "suite",
        );
        let region = self.context["region"].as_str().expect("a region");
        let service = self.context["service"].as_str().expect("a service").to_owned().leak();
        let mut headers = self.headers.clone();
        Signer::with_service(region, service)
            .sign_request(self.request(), &mut headers, all_but_the_signature, &credentials, now)
            .expect("a request that can be signed");
        headers
    }

    fn request(&self) -> CanonicalRequest<'_> {
        CanonicalRequest {
            method: &self.method,
            path: &self.path,
            query: &self.query,
            payload_hash: &self.payload.0,
        }
    }
}

fn all_but_the_signature(name: &HeaderName) -> bool {
    *name != AUTHORIZATION
}

/// Returns the context of a case. Two cases have no context file: the values of one are in the
/// tests of `aws-sigv4`, and the values of the other in its signed request.
fn context(case: &str, folder: &Path) -> Value {
    let (key_id, secret, region, service) = match case {
        "double-encode-path" => {
            ("ANOTREAL", "notrealrnrELgWzOk3IfjzDKtFBhDby", "us-east-1", "service")
        }
        "double-url-encode" => {
            ("AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", "us-east-2", "lambda")
        }
        _ => {
            let context = read(folder, "context.json").expect("a case has a context");
            let context: Value = serde_json::from_str(&context).expect("the context is JSON");
            for flag in context.as_object().expect("an object").keys() {
                assert!(KNOWN.contains(&flag.as_str()), "{case} has the unknown {flag}");
            }
            return context;
        }
    };
    json!({
        "credentials": {"access_key_id": key_id, "secret_access_key": secret},
        "region": region,
        "service": service,
        "normalize": true,
    })
}

const KNOWN: [&str; 8] = [
    "credentials",
    "expiration_in_seconds",
    "normalize",
    "omit_session_token",
    "region",
    "service",
    "sign_body",
    "timestamp",
];

fn flag(context: &Value, name: &str) -> bool {
    context.get(name).is_some_and(|flag| flag.as_bool().expect("a flag is true or false"))
}

fn canonical_query(sent: &str) -> String {
    let parameters: Vec<_> = sent
        .split('&')
        .filter(|parameter| !parameter.is_empty())
        .map(|parameter| parameter.split_once('=').unwrap_or((parameter, "")))
        .map(|(name, value)| (decoded(name), decoded(value)))
        .collect();
    let mut borrowed: Vec<_> =
        parameters.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let mut query = String::new();
    canonical::push_query(&mut borrowed, &mut query);
    query
}

fn decoded(text: &str) -> String {
    percent_decode_str(text).decode_utf8().expect("the suite is UTF-8").into_owned()
}

/// Returns the date of a message. It equals the timestamp of the context, except in one case
/// without a context, whose two files have different dates.
fn time_in(message: &str) -> SystemTime {
    let date = header_in(message, "x-amz-date");
    let (day, time) = date.split_once('T').expect("a date and a time");
    let extended = format!(
        "{}-{}-{}T{}:{}:{}Z",
        &day[..4],
        &day[4..6],
        &day[6..],
        &time[..2],
        &time[2..4],
        &time[4..6]
    );
    let date = DateTime::from_str(&extended, Format::DateTime).expect("a date");
    date.try_into().expect("a date since 1970")
}

fn header_in<'a>(message: &'a str, name: &str) -> &'a str {
    message
        .lines()
        .filter_map(|line| line.split_once(':'))
        .find(|(line, _)| line.eq_ignore_ascii_case(name))
        .map(|(_, value)| value.trim())
        .expect(name)
}

fn read(folder: &Path, file: &str) -> Option<String> {
    let text = fs::read_to_string(folder.join(file)).ok()?;
    Some(text.replace("\r\n", "\n").trim().to_owned())
}
