//! The JSON of buffered responses.

use axum::http::header::{CONTENT_ENCODING, CONTENT_TYPE, SET_COOKIE, VARY};
use axum::response::AppendHeaders;
use bytes::Bytes;

use presized_support::http_events::{
    function_url, http_api, load_balancer, load_balancer_multi_value, rest_api, web_socket,
};

use super::*;

#[tokio::test]
async fn response_has_the_form_that_its_source_understands() {
    let page = || {
        let headers =
            [(SET_COOKIE, "c=1"), (SET_COOKIE, "d=2"), (VARY, "accept"), (VARY, "origin")];
        (axum::http::StatusCode::CREATED, AppendHeaders(headers), "\"q\"\n")
    };
    let version_2 = json!({
        "statusCode": 201,
        "headers": {
            "content-length": "4",
            "content-type": "text/plain; charset=utf-8",
            "vary": "accept, origin",
        },
        "cookies": ["c=1", "d=2"],
        "body": "\"q\"\n",
        "isBase64Encoded": false,
    });
    let several = json!({
        "content-length": ["4"],
        "content-type": ["text/plain; charset=utf-8"],
        "set-cookie": ["c=1", "d=2"],
        "vary": ["accept", "origin"],
    });
    let mut version_1 = json!({ "statusCode": 201, "body": "\"q\"\n", "isBase64Encoded": false });
    version_1["multiValueHeaders"] = several;
    let mut balancer_multi_value = version_1.clone();
    balancer_multi_value["statusDescription"] = "201 Created".into();
    let mut balancer = version_2.clone();
    balancer.as_object_mut().unwrap().remove("cookies");
    balancer["statusDescription"] = "201 Created".into();
    balancer["headers"]["set-cookie"] = "c=1".into();
    let table = [
        (http_api("$default", "/"), &version_2),
        (function_url(), &version_2),
        (rest_api(), &version_1),
        (web_socket(), &version_1),
        (load_balancer(), &balancer),
        (load_balancer_multi_value(), &balancer_multi_value),
    ];
    for (event, expected) in table {
        assert_eq!(invoke(responding(page), &event).await, *expected);
    }
}

#[tokio::test]
async fn body_that_is_not_text_is_sent_in_base64() {
    // Content type, content encoding, body, and the body that is sent.
    let table: [(_, _, &'static [u8], _, bool); 5] = [
        ("text/plain", "", b"abc", "abc", false),
        ("text/plain", "gzip", b"abc", "YWJj", true),
        ("text/plain; charset=iso-8859-1", "", b"\xe9", "6Q==", true),
        ("image/png", "", b"\0\xff\x80", "AP+A", true),
        ("image/png", "", b"", "", false),
    ];
    for (content_type, encoding, body, expected, is_base64) in table {
        let image = move || {
            let mut response = axum::response::Response::new(Body::from(body));
            response.headers_mut().insert(CONTENT_TYPE, content_type.parse().unwrap());
            if !encoding.is_empty() {
                response.headers_mut().insert(CONTENT_ENCODING, encoding.parse().unwrap());
            }
            response
        };
        let response = invoke(responding(image), &rest_api()).await;
        assert_eq!(
            (&response["body"], &response["isBase64Encoded"]),
            (&json!(expected), &json!(is_base64))
        );
    }
}

#[tokio::test]
async fn largest_response_is_sent_and_a_larger_one_fails() {
    const LIMIT: usize = (6 << 20) + 100;
    let headers = r#""headers":{"content-type":"text/plain","content-length":"1234567"}"#;
    let frame = format!(r#"{{"statusCode":200,{headers},"body":"","isBase64Encoded":false}}"#);
    let most = LIMIT - frame.len();
    // A quote takes two bytes.
    for (body, is_sent) in [
        ("x".repeat(most), true),
        ("x".repeat(most + 1), false),
        ("\"".repeat(most / 2), true),
        ("\"".repeat(most / 2 + 1), false),
        ("x".repeat(LIMIT + 1), false),
    ] {
        let body = Bytes::from(body);
        let sent = body.clone();
        let app = Router::new().fallback(async move || ([(CONTENT_TYPE, "text/plain")], sent));
        let response = invoke(http(app), &http_api("$default", "/")).await;
        if is_sent {
            let text = response["body"].as_str().unwrap();
            assert!(text == body, "{} bytes", body.len());
        } else {
            assert_eq!(
                response["errorType"],
                "Function.ResponseSizeTooLarge",
                "{} bytes",
                body.len()
            );
        }
    }
}

#[tokio::test]
async fn header_that_is_not_utf8_fails_by_name() {
    let page = || {
        let mut response = "page".into_response();
        let value = axum::http::HeaderValue::from_bytes(b"\xe9").unwrap();
        response.headers_mut().insert("x-name", value);
        response
    };
    for event in [http_api("$default", "/"), rest_api()] {
        let response = invoke(responding(page), &event).await;
        assert_eq!(response["errorType"], "Runtime.MarshalError");
        assert_eq!(response["errorMessage"], "value of header x-name is not UTF-8");
    }
}

#[tokio::test]
async fn body_that_fails_fails_the_invocation() {
    let broken = || {
        let parts = [Ok(Bytes::from("begin")), Err(std::io::Error::other("disk is gone"))];
        Body::from_stream(futures_util::stream::iter(parts)).into_response()
    };
    let response = invoke(responding(broken), &rest_api()).await;
    assert_eq!(response["errorType"], "Function.ResponseBodyFailed");
    let message = response["errorMessage"].as_str().unwrap();
    assert!(message.contains("disk is gone"), "{message}");
}
