use http::Response;

use super::*;

fn parsed(status: u16, headers: &[(&str, &str)], body: &'static str) -> ServiceError {
    let mut response = Response::builder().status(status);
    for (name, value) in headers {
        response = response.header(*name, *value);
    }
    let (head, ()) = response.body(()).unwrap().into_parts();
    ServiceError::parse(&head, Bytes::from_static(body.as_bytes()))
}

#[test]
fn code_and_message_are_found_in_headers_and_body() {
    let header = |value| [("x-amzn-ErrorType", value)];
    for (headers, body, code, message) in [
        (&header("A")[..], "{}", Some("A"), None),
        (&header("A:http://internal/"), r#"{"message":"m"}"#, Some("A"), Some("m")),
        (&header("ns#A:x"), r#"{"Message":"M"}"#, Some("A"), Some("M")),
        (&header("A"), r#"{"__type":"B","code":"C"}"#, Some("A"), None),
        (&[], r#"{"__type":"ns.x#B","Type":"User","message":"m"}"#, Some("B"), Some("m")),
        (&[], r#"{"code":"C","message":null,"Message":"M"}"#, Some("C"), Some("M")),
        (&[], r#"{"message":"m"}"#, None, Some("m")),
        (&[], "<html>Bad Gateway</html>", None, None),
        (&[], r#"{"message":"cut he"#, None, None),
        (&[], r#"{"message":7}"#, None, None),
        (&[], "", None, None),
        (&header(""), r#"{"code":"C"}"#, None, None),
    ] {
        let error = parsed(400, headers, body);
        let case = format!("{headers:?} {body}");
        assert_eq!((error.code.as_deref(), error.message.as_deref()), (code, message), "{case}");
    }
}

#[test]
fn retry_after_is_parsed_from_seconds_or_a_date() {
    for (value, expected) in [
        ("0", Some(0)),
        ("3", Some(3)),
        (" 3 ", Some(3)),
        ("99999999999999999999999", Some(u64::MAX)),
        ("Sun, 06 Nov 1994 08:49:37 GMT", Some(0)),
        ("-1", None),
        ("soon", None),
        ("", None),
    ] {
        let error = parsed(429, &[("retry-after", value)], "{}");
        assert_eq!(error.retry_after, expected.map(Duration::from_secs), "{value:?}");
    }
    let far = parsed(429, &[("retry-after", "Tue, 31 Dec 2999 23:59:59 GMT")], "{}");
    assert!(far.retry_after > Some(Duration::from_secs(3600)), "{far:?}");
}

#[test]
fn transient_error_cannot_have_run_the_function() {
    for (status, code, transient, may_have_run) in [
        (429, "TooManyRequestsException", true, false),
        (500, "ServiceException", true, false),
        // Another server of the same API, for a function that failed.
        (500, "", false, true),
        (500, "InternalServerError", false, true),
        (503, "ServiceUnavailableException", true, false),
        (503, "ServiceUnavailable", true, false),
        (502, "EC2ThrottledException", true, false),
        (502, "EC2AccessDeniedException", false, false),
        (500, "CodeArtifactUserFailedException", false, false),
        (502, "KMSDisabledException", false, false),
        (502, "InvalidZipFileException", false, false),
        // A gateway between the client and Lambda.
        (502, "", false, true),
        (502, "BAD_GATEWAY", false, true),
        (503, "", false, true),
        (503, "UNAVAILABLE", false, true),
        (504, "", false, true),
        (400, "InvalidParameterValueException", false, false),
        (403, "AccessDeniedException", false, false),
        (404, "ResourceNotFoundException", false, false),
        (410, "EFSIOException", false, true),
        (413, "RequestEntityTooLargeException", false, false),
    ] {
        let error = parsed(status, &[("x-amzn-errortype", code)], "{}");
        let found = (error.is_transient(), error.may_have_run());
        assert_eq!(found, (transient, may_have_run), "{status} {code}");
    }
}

#[test]
fn function_that_is_not_ready_has_not_run_whatever_the_status() {
    for status in [408, 409, 429, 500, 502, 503, 504] {
        for (codes, transient) in [(&NOT_READY[..], true), (&PERMANENT, false)] {
            for code in codes {
                let error = parsed(status, &[("x-amzn-errortype", code)], "{}");
                // A permanent code of Lambda does not come with these.
                if !transient && matches!(status, 429 | 504) {
                    continue;
                }
                let found = (error.is_transient(), error.may_have_run());
                assert_eq!(found, (transient, false), "{status} {code}");
            }
        }
    }
}

#[test]
fn display_and_debug_show_no_body() {
    let error = parsed(
        429,
        &[("x-amzn-errortype", "TooManyRequestsException"), ("x-amzn-requestid", "r-1")],
        r#"{"Reason":"ReservedFunctionConcurrentInvocationLimitExceeded","message":"Rate Exceeded."}"#,
    );
    assert!(error.is_throttling());
    assert_eq!(
        error.to_string(),
        "TooManyRequestsException (status 429, reason \
         ReservedFunctionConcurrentInvocationLimitExceeded, request r-1): Rate Exceeded."
    );
    assert!(format!("{error:?}").contains("body: 89 bytes"), "{error:?}");
}

#[test]
fn display_shows_the_beginning_of_the_body_of_a_gateway() {
    // Its 200th byte is within a character.
    let long = format!("a{}", "\u{e4}".repeat(500)).leak();
    for (status, body, expected) in [
        (
            502,
            "<html>\r\n<h1>502 Bad Gateway</h1>nginx",
            r#": response body begins with "<html>\r\n<h1>502 Bad Gateway</h1>nginx""#,
        ),
        (503, "upstream \"f\"", r#": response body begins with "upstream \"f\"""#),
        (
            400,
            "HTTP request to an HTTPS server\n",
            r#": response body begins with "HTTP request to an HTTPS server""#,
        ),
        (504, r#"{"message":"Endpoint request timed out"}"#, ": Endpoint request timed out"),
        (502, "", ""),
        // The body may be the payload of a failed function.
        (500, r#"{"errorMessage":"secret"}"#, ""),
    ] {
        let shown = parsed(status, &[], body).to_string();
        assert_eq!(shown, format!("service error (status {status}){expected}"));
    }
    let shown = parsed(502, &[], long).to_string();
    assert_eq!(shown.matches('\u{e4}').count(), 99);
    assert!(!shown.contains('\u{fffd}'), "{shown}");
}
