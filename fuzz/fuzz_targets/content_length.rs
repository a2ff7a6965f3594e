//! Reads the head of a message against a naive reading of RFC 9110 §8.6 and RFC 9112
//! §6.3, which goes by the digits as text and never by a number.
//!
//! The input is text: a line with method and status, then one line a field. `L5` is
//! `Content-Length: 5`, `E…` is Content-Encoding and `T…` is Transfer-Encoding.

#![no_main]

use std::collections::BTreeSet;

use http::header::{CONTENT_ENCODING, CONTENT_LENGTH, TRANSFER_ENCODING};
use http::{HeaderName, HeaderValue, Method, Response, StatusCode};
use libfuzzer_sys::fuzz_target;
use presized::ContentLength;

fuzz_target!(|input: &[u8]| {
    let mut lines = input.split(|&byte| byte == b'\n');
    let Some((method, status)) = lines.next().and_then(start) else { return };
    let fields: Vec<_> = lines.filter_map(field).collect();

    let mut response = Response::new(());
    *response.status_mut() = status;
    response.headers_mut().extend(fields.iter().map(|(name, value)| (name.clone(), value.clone())));
    let (head, ()) = response.into_parts();

    let expected = read_fields(&fields);
    assert_eq!(ContentLength::from_headers(&head.headers), expected);
    let expected = match (&method, status.as_u16()) {
        (&Method::HEAD, _) | (_, 100..=199 | 204 | 304) => ContentLength::Exact(0),
        (&Method::CONNECT, 200..=299) => ContentLength::Unknown,
        _ => expected,
    };
    let found = ContentLength::of_response(&method, &head);
    assert_eq!(found, expected);
    let value = match found {
        ContentLength::Exact(number) | ContentLength::Hint(number) => Some(number),
        ContentLength::Unknown | ContentLength::Invalid => None,
    };
    assert_eq!(found.value(), value);
});

fn start(line: &[u8]) -> Option<(Method, StatusCode)> {
    let (method, status) = line.split_at(line.iter().position(|&byte| byte == b' ')?);
    Some((Method::from_bytes(method).ok()?, StatusCode::from_bytes(&status[1..]).ok()?))
}

fn field(line: &[u8]) -> Option<(HeaderName, HeaderValue)> {
    let (letter, value) = line.split_first()?;
    let name = match letter {
        b'L' => CONTENT_LENGTH,
        b'E' => CONTENT_ENCODING,
        b'T' => TRANSFER_ENCODING,
        _ => return None,
    };
    Some((name, HeaderValue::from_bytes(value).ok()?))
}

fn read_fields(fields: &[(HeaderName, HeaderValue)]) -> ContentLength {
    if fields.iter().any(|(name, _)| name == TRANSFER_ENCODING) {
        return ContentLength::Unknown;
    }
    let lengths: BTreeSet<_> =
        members(fields, &CONTENT_LENGTH).into_iter().map(|text| decimal(&text)).collect();
    let length = match lengths.into_iter().collect::<Vec<_>>().as_slice() {
        [] => return ContentLength::Unknown,
        [Some(digits)] if fits(digits) => digits.parse().expect("checked to fit"),
        // Too large for every limit below.
        [Some(_)] => u64::MAX,
        _ => return ContentLength::Invalid,
    };
    let codings = members(fields, &CONTENT_ENCODING);
    if codings.iter().all(|coding| ["", "identity"].contains(&&*coding.to_lowercase())) {
        ContentLength::Exact(length)
    } else {
        ContentLength::Hint(length)
    }
}

/// What is between the commas, with a letter for each byte.
fn members(fields: &[(HeaderName, HeaderValue)], name: &HeaderName) -> Vec<String> {
    let values = fields.iter().filter(|(found, _)| found == name);
    let texts = values.map(|(_, value)| value.as_bytes().iter().map(|&byte| char::from(byte)));
    texts
        .flat_map(|text| text.collect::<String>().split(',').map(str::to_owned).collect::<Vec<_>>())
        .map(|member| member.trim_matches([' ', '\t']).to_owned())
        .collect()
}

/// A length without leading zeros, if it is one.
fn decimal(text: &str) -> Option<String> {
    if text.is_empty() || !text.chars().all(|letter| letter.is_ascii_digit()) {
        return None;
    }
    let digits = text.trim_start_matches('0');
    Some(if digits.is_empty() { "0" } else { digits }.to_owned())
}

/// Whether a length without leading zeros fits into a `u64`.
fn fits(digits: &str) -> bool {
    let most = u64::MAX.to_string();
    // Of two numbers of one length the greater is the later in the alphabet.
    digits.len() < most.len() || digits.len() == most.len() && digits <= most.as_str()
}
