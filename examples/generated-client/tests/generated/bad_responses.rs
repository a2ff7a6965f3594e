//! Tests of bad responses: payloads that cannot be read, and error responses that are incomplete.

use bytes::Bytes;
use http::{Request, Response};
use http_body::SizeHint;
use http_body_util::Full;
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use presized::{CollectError, Reader};
use presized_support::chain::messages;
use presized_support::drive::drive;
use presized_support::mock::{Mock, Step, Unpolled};
use presized_support::pattern::Pattern;
use presized_support::server::Server;

use crate::{Framing, LIMIT, response, service};
use generated_client::s3::{self, GetBucketPolicyError, GetBucketPolicyInput};
use generated_client::schemas::{self, GetCodeBindingSourceError, GetCodeBindingSourceOutput};
use generated_client::{BoxError, Config, ErrorResponse, SdkError};

/// Reads a blob with this limit.
fn blob<B: http_body::Body<Error: Into<BoxError>>>(
    response: Response<B>,
    limit: u64,
) -> Result<GetCodeBindingSourceOutput, SdkError<GetCodeBindingSourceError>> {
    drive(schemas::deserialize_get_code_binding_source(response, &Reader::new(limit)))
}

/// Reads text with this limit.
fn text<B: http_body::Body<Error: Into<BoxError>>>(
    response: Response<B>,
    limit: u64,
) -> Result<Option<String>, SdkError<GetBucketPolicyError>> {
    let read = drive(s3::deserialize_get_bucket_policy(response, &Reader::new(limit)));
    read.map(|output| output.policy)
}

#[test]
fn limit_is_inclusive_and_a_longer_payload_is_an_error_with_numbers() {
    let five = |framing: Framing| framing.response(200, &[], "12345");
    for framing in crate::FRAMINGS {
        assert_eq!(text(five(framing), 5).unwrap().as_deref(), Some("12345"));
        assert_eq!(blob(five(framing), 5).unwrap().body.unwrap(), "12345");
    }
    for error in [payload(text(five(Framing::Whole), 4)), payload(blob(five(Framing::Whole), 4))] {
        assert!(error.is_too_large());
        assert!(
            matches!(error, CollectError::DeclaredTooLarge { declared: 5, limit: 4, .. }),
            "{error}"
        );
    }
    let long = || Framing::Bytewise.response(200, &[], "123456789");
    for error in [payload(text(long(), 4)), payload(blob(long(), 4))] {
        assert!(error.is_too_large());
        assert!(matches!(error, CollectError::TooLarge { limit: 4, received: 5, .. }), "{error}");
        assert_eq!(error.into_partial(), "1234");
    }
}

#[test]
fn declared_length_over_limit_is_refused_before_polling() {
    for declared in ["11", "4294967296", "18446744073709551615"] {
        let response =
            || response(200, &[("Content-Length", declared)], Unpolled(SizeHint::default()));
        for error in [payload(text(response(), 10)), payload(blob(response(), 10))] {
            assert!(matches!(error, CollectError::DeclaredTooLarge { limit: 10, .. }), "{error}");
        }
    }
}

#[test]
fn invalid_utf_8_is_an_error_with_the_content() {
    for (bytes, valid) in [(&b"ab\xff"[..], 2), (b"\xc3", 0), (b"abc\xe2\x82", 3)] {
        for frames in [vec![bytes], bytes.chunks(1).collect()] {
            match payload(text(response(200, &[], Mock::of(&frames)), 10)) {
                CollectError::InvalidUtf8 { valid_up_to, partial, .. } => {
                    assert_eq!(valid_up_to, valid);
                    assert_eq!(partial.into_bytes(), bytes);
                }
                other => panic!("{other}"),
            }
            // A blob may have any bytes.
            assert_eq!(
                blob(response(200, &[], Mock::of(frames)), 10).unwrap().body.unwrap(),
                bytes
            );
        }
    }
    // A character may be split between two frames.
    let euro = Mock::of(["\u{20ac}".as_bytes()[..1].to_vec(), "\u{20ac}".as_bytes()[1..].to_vec()]);
    assert_eq!(text(response(200, &[], euro), 10).unwrap().as_deref(), Some("\u{20ac}"));
}

#[test]
fn payload_shorter_than_declared_is_an_error_and_longer_is_not() {
    let response = |lengths: &[&str]| {
        let headers: Vec<_> = lengths.iter().map(|length| ("Content-Length", *length)).collect();
        response(200, &headers, Mock::of(["123", "45"]))
    };
    for error in [payload(text(response(&["6"]), 100)), payload(blob(response(&["6"]), 100))] {
        assert!(
            matches!(error, CollectError::Incomplete { declared: 6, received: 5, .. }),
            "{error}"
        );
        assert_eq!(error.into_partial(), "12345");
    }
    // The last ones are conflicting or invalid, and so the length is unknown.
    for lengths in [&["5"][..], &["1"], &["0"], &["5", "5"], &["6", "7"], &["+6"], &["6, x"], &[""]]
    {
        assert_eq!(text(response(lengths), 5).unwrap().as_deref(), Some("12345"), "{lengths:?}");
        assert_eq!(blob(response(lengths), 5).unwrap().body.unwrap(), "12345", "{lengths:?}");
    }
}

#[test]
fn error_of_the_body_is_a_source_of_the_error() {
    let body = || Mock::new([Step::Data(Bytes::from_static(b"123")), Step::Fail("reset")]);
    let error = text(response(200, &[], body()), 100).unwrap_err();
    assert_eq!(
        messages(&error),
        ["the payload cannot be read", "body failed: 3 bytes received", "reset"]
    );
    assert_eq!(payload(blob(response(200, &[], body()), 100)).into_partial(), "123");
}

#[test]
fn invalid_json_differs_from_incomplete_payload() {
    for content in ["{", "[]", "{\"greeting\": 1}", "\u{0}"] {
        let response = Framing::Whole.response(200, &[], content);
        let reader = Reader::new(100);
        let read = service::deserialize_http_payload_with_structure(response, &reader);
        let error = drive(read).unwrap_err();
        assert!(matches!(error, SdkError::Deserialize(_)), "{content}: {error:?}");
    }
}

#[test]
fn error_response_is_typed_by_its_head_if_its_body_fails() {
    let named = [("x-amzn-errortype", "NotFoundException"), ("Content-Length", "4000000000")];
    let short = Mock::new([Step::Data(Bytes::from_static(b"{}")), Step::Fail("reset")]);
    let error = blob(response(404, &named, short), 10).unwrap_err();
    assert!(
        matches!(error, SdkError::Service(GetCodeBindingSourceError::NotFound(_))),
        "{error:?}"
    );

    // The limit applies to payloads. An error response has a limit of its own.
    let error = blob(response(404, &named[..1], Mock::of(["{}"])), 0).unwrap_err();
    assert!(
        matches!(error, SdkError::Service(GetCodeBindingSourceError::NotFound(_))),
        "{error:?}"
    );
}

#[test]
fn error_response_shorter_than_declared_has_its_members() {
    let content = r#"{ "code": "NotFoundException", "message": "gone" }"#;
    let response = response(404, &[("Content-Length", "1000")], Mock::of([content]));
    match blob(response, 10) {
        Err(SdkError::Service(GetCodeBindingSourceError::NotFound(error))) => {
            assert_eq!(error.message.as_deref(), Some("gone"));
        }
        other => panic!("{other:?}"),
    }
}

/// These documents would overflow the stack of a parser, or take quadratic time.
#[test]
fn hostile_error_document_is_an_error_without_members() {
    let most = usize::try_from(ErrorResponse::LIMIT).unwrap();
    let nested = |open: &str, close: &str| {
        let depth = most / (open.len() + close.len());
        [open.repeat(depth), close.repeat(depth)].concat()
    };
    let many = |item: fn(usize) -> String| {
        let items = (0..).map(item).take(most).collect::<String>();
        format!("<Error {}/>", &items[..items[..most - 20].rfind(' ').unwrap()])
    };
    let doctype =
        r#"<!DOCTYPE e [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;&a;"><!ENTITY c "&b;&b;">]>"#;
    let documents = [
        nested("<a>", "</a>"),
        "<a>".repeat(most / 3),
        nested("[", "]"),
        nested("{\"code\":", "}"),
        many(|n| format!("a{n}='' ")),
        many(|n| format!("xmlns:a{n}='{n}' ")),
        format!("{doctype}<Error><Code>&c;</Code></Error>"),
        r#"<!DOCTYPE e SYSTEM "file:///etc/passwd"><Error><Code>A</Code></Error>"#.to_owned(),
        format!("<Error><Code>{}</Code></Error>", "&#x41".repeat(10_000)),
    ];
    for document in documents {
        let named = [("x-amzn-errortype", "NotFoundException")];
        let response = || response(404, &named, Mock::of([&document]));
        let Err(SdkError::Service(error)) = text(response(), LIMIT) else {
            panic!("{document:.80}")
        };
        assert_eq!((&error.metadata().code, &error.metadata().message), (&None, &None));
        // The head names the error, whatever the content is.
        let Err(SdkError::Service(error)) = blob(response(), LIMIT) else {
            panic!("{document:.80}")
        };
        assert!(matches!(error, GetCodeBindingSourceError::NotFound(_)), "{document:.80}");
    }
}

#[test]
fn header_field_that_is_not_text_is_ignored_for_the_code() {
    let mut response = Framing::Whole.response(404, &[], r#"{ "code": "NotFoundException" }"#);
    let name = http::HeaderValue::from_bytes(b"Not\xffFound").unwrap();
    response.headers_mut().insert("x-amzn-errortype", name);
    let error = blob(response, 10).unwrap_err();
    assert!(
        matches!(error, SdkError::Service(GetCodeBindingSourceError::NotFound(_))),
        "{error:?}"
    );
}

#[test]
fn endless_error_response_is_read_up_to_its_limit() {
    // 1 TiB, which cannot be read in full.
    for body in [Pattern::of(1 << 40), Pattern::of(1 << 40).of_unknown_length()] {
        let response = response(500, &[("x-amzn-errortype", "FooError")], body);
        let read = drive(ErrorResponse::read(response));
        assert_eq!(read.content.len() as u64, ErrorResponse::LIMIT);
    }
}

#[tokio::test]
async fn wrong_length_on_the_wire_is_an_error() {
    let client = Client::builder(TokioExecutor::new()).build_http::<Full<Bytes>>();
    let transport = move |request: Request<Bytes>| client.request(request.map(Full::new));
    for (head, received) in [
        ("200 OK\r\nContent-Length: 10", "body failed: 5 of 10 declared bytes received"),
        ("200 OK\r\nTransfer-Encoding: chunked", "body failed: 0 bytes received"),
        ("200 OK\r\nContent-Length: 101", "body declares 101 bytes, over the limit of 100 bytes"),
    ] {
        let server = Server::raw(format!("HTTP/1.1 {head}\r\n\r\n12345")).unwrap();
        let endpoint = server.endpoint().url("");
        let s3 = s3::Client::new(Config::new(transport.clone(), endpoint, 100));
        let call = s3.get_bucket_policy(GetBucketPolicyInput::new("bucket"));
        assert_eq!(payload(call.await).to_string(), received, "{head}");
    }
    // Without a length the end of the connection ends the body.
    let server = Server::raw("HTTP/1.1 200 OK\r\n\r\n12345").unwrap();
    let s3 = s3::Client::new(Config::new(transport, server.endpoint().url(""), 100));
    let output = s3.get_bucket_policy(GetBucketPolicyInput::new("bucket")).await.unwrap();
    assert_eq!(output.policy.as_deref(), Some("12345"));
}

#[track_caller]
fn payload<T, E>(read: Result<T, SdkError<E>>) -> CollectError<std::io::Error> {
    match read {
        Err(SdkError::Payload(error)) => error,
        Err(SdkError::Send(error)) => panic!("no response: {error}"),
        Err(_) => panic!("another error"),
        Ok(_) => panic!("no error"),
    }
}
