//! Smithy's protocol tests of errors, and other error responses of a service.

use http::StatusCode;
use presized_support::drive::drive;

use crate::service::{
    self, ComplexError, ComplexNestedErrorData, GreetingWithErrorsError, InvalidGreeting,
};
use crate::{FRAMINGS, Framing, LIMIT};
use generated_client::s3::{self, GetBucketPolicyError};
use generated_client::schemas::{self, GetCodeBindingSourceError};
use generated_client::{ErrorMetadata, SdkError};

type Headers = &'static [(&'static str, &'static str)];

const JSON: Headers = &[("Content-Type", "application/json")];

fn greeting_with_errors(
    framing: Framing,
    status: u16,
    headers: Headers,
    content: &str,
) -> GreetingWithErrorsError {
    let response = framing.response(status, headers, content);
    match drive(service::deserialize_greeting_with_errors(response)) {
        Err(SdkError::Service(error)) => error,
        other => panic!("{other:?}"),
    }
}

macro_rules! uri {
    () => {
        "http://internal.amazon.com/coral/com.amazon.coral.validate/"
    };
}

#[test]
fn protocol_tests_of_errors_pass() {
    let table: [(&str, u16, Headers, &str, GreetingWithErrorsError); 12] = [
        (
            "RestJsonInvalidGreetingError",
            400,
            &[("Content-Type", "application/json"), ("X-Amzn-Errortype", "InvalidGreeting")],
            r#"{ "Message": "Hi" }"#,
            GreetingWithErrorsError::Invalid(InvalidGreeting { message: Some("Hi".to_owned()) }),
        ),
        (
            "RestJsonComplexErrorWithNoMessage",
            403,
            &[
                ("Content-Type", "application/json"),
                ("X-Header", "Header"),
                ("X-Amzn-Errortype", "ComplexError"),
            ],
            r#"{ "TopLevel": "Top level", "Nested": { "Fooooo": "bar" } }"#,
            GreetingWithErrorsError::Complex(ComplexError {
                header: Some("Header".to_owned()),
                top_level: Some("Top level".to_owned()),
                nested: Some(ComplexNestedErrorData { foo: Some("bar".to_owned()) }),
            }),
        ),
        (
            "RestJsonEmptyComplexErrorWithNoMessage",
            403,
            &[("Content-Type", "application/json"), ("X-Amzn-Errortype", "ComplexError")],
            "{}",
            GreetingWithErrorsError::Complex(ComplexError::default()),
        ),
        (
            "RestJsonFooErrorUsingXAmznErrorType",
            500,
            &[("X-Amzn-Errortype", "FooError")],
            "",
            GreetingWithErrorsError::Foo,
        ),
        (
            "RestJsonFooErrorUsingXAmznErrorTypeWithUri",
            500,
            &[("X-Amzn-Errortype", concat!("FooError:", uri!()))],
            "",
            GreetingWithErrorsError::Foo,
        ),
        (
            "RestJsonFooErrorUsingXAmznErrorTypeWithUriAndNamespace",
            500,
            &[("X-Amzn-Errortype", concat!("aws.protocoltests.restjson#FooError:", uri!()))],
            "",
            GreetingWithErrorsError::Foo,
        ),
        (
            "RestJsonFooErrorUsingCode",
            500,
            JSON,
            r#"{ "code": "FooError" }"#,
            GreetingWithErrorsError::Foo,
        ),
        (
            "RestJsonFooErrorUsingCodeAndNamespace",
            500,
            JSON,
            r#"{ "code": "aws.protocoltests.restjson#FooError" }"#,
            GreetingWithErrorsError::Foo,
        ),
        (
            "RestJsonFooErrorUsingCodeUriAndNamespace",
            500,
            JSON,
            concat!(r#"{ "code": "aws.protocoltests.restjson#FooError:"#, uri!(), r#"" }"#),
            GreetingWithErrorsError::Foo,
        ),
        (
            "RestJsonFooErrorWithDunderType",
            500,
            JSON,
            r#"{ "__type": "FooError" }"#,
            GreetingWithErrorsError::Foo,
        ),
        (
            "RestJsonFooErrorWithDunderTypeAndNamespace",
            500,
            JSON,
            r#"{ "__type": "aws.protocoltests.restjson#FooError" }"#,
            GreetingWithErrorsError::Foo,
        ),
        (
            "RestJsonFooErrorWithDunderTypeUriAndNamespace",
            500,
            JSON,
            concat!(r#"{ "__type": "aws.protocoltests.restjson#FooError:"#, uri!(), r#"" }"#),
            GreetingWithErrorsError::Foo,
        ),
    ];
    for (id, status, headers, content, expected) in table {
        for framing in FRAMINGS {
            let error = greeting_with_errors(framing, status, headers, content);
            assert_eq!(error, expected, "{id}, {framing:?}");
        }
    }
}

#[test]
fn error_response_without_known_code_is_unhandled_with_its_status() {
    let table: [(Headers, &str, Option<&str>, Option<&str>); 9] = [
        (&[], "", None, None),
        (&[], "<html>not JSON</html>", None, None),
        (&[], r#"{ "code": "FooErr"#, None, None),
        (&[], r#"["FooError"]"#, None, None),
        (&[], r#"{ "code": 500, "message": ["not text"] }"#, None, None),
        (JSON, r#"{ "code": "BarError", "message": "no bar" }"#, Some("BarError"), Some("no bar")),
        // The header field comes first, and is empty here.
        (&[("X-Amzn-Errortype", "")], r#"{ "code": "BarError" }"#, Some("BarError"), None),
        (&[("X-Amzn-Errortype", "BarError")], r#"{ "code": "FooError" }"#, Some("BarError"), None),
        (&[("X-Amzn-Errortype", "BarError:urn:x#FooError")], "", Some("BarError"), None),
    ];
    for (headers, content, code, message) in table {
        for framing in FRAMINGS {
            let error = greeting_with_errors(framing, 502, headers, content);
            let expected = metadata(502, code, message);
            assert_eq!(error, GreetingWithErrorsError::Unhandled(expected), "{content}");
        }
    }
}

#[test]
fn each_code_of_get_code_binding_source_has_its_variant() {
    use GetCodeBindingSourceError::*;
    type Variant = fn(ErrorMetadata) -> GetCodeBindingSourceError;
    let table: [(u16, &str, Variant); 8] = [
        (400, "BadRequestException", BadRequest),
        (401, "UnauthorizedException", Unauthorized),
        (403, "ForbiddenException", Forbidden),
        (404, "NotFoundException", NotFound),
        (429, "TooManyRequestsException", TooManyRequests),
        (500, "InternalServerErrorException", InternalServerError),
        (503, "ServiceUnavailableException", ServiceUnavailable),
        (403, "ExpiredTokenException", Unhandled),
    ];
    for (status, name, variant) in table {
        for framing in FRAMINGS {
            let headers = [("x-amzn-errortype", name)];
            let content = r#"{ "Code": "Some", "Message": "said so" }"#;
            let response = framing.response(status, &headers, content);
            let reader = presized::Reader::new(LIMIT);
            let read = schemas::deserialize_get_code_binding_source(response, &reader);
            let Err(SdkError::Service(error)) = drive(read) else { panic!("{name}") };
            assert_eq!(error, variant(metadata(status, Some(name), Some("said so"))));
            assert!(error.to_string().ends_with(&format!("{name}: said so")), "{error}");
        }
    }
}

#[test]
fn errors_of_s3_are_read_from_xml() {
    let table: [(&str, &str, Option<&str>, Option<&str>); 9] = [
        (
            "S3OperationNoErrorWrappingResponse",
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
             <Error>\n\t<Type>Sender</Type>\n\t<Code>NoSuchBucket</Code>\n</Error>",
            Some("NoSuchBucket"),
            None,
        ),
        (
            "of any service, wrapped",
            "<ErrorResponse><Error><Code>Denied</Code></Error>\
             <RequestId>1</RequestId></ErrorResponse>",
            Some("Denied"),
            None,
        ),
        (
            "in a namespace, with entities",
            "<s:Error xmlns:s=\"urn:s\"><s:Code>A</s:Code>\
             <s:Message>a &lt;b&gt; &amp; c</s:Message></s:Error>",
            Some("A"),
            Some("a <b> & c"),
        ),
        (
            "a code that is somewhere else",
            "<Error><Detail><Code>No</Code></Detail></Error>",
            None,
            None,
        ),
        ("a code that is empty", "<Error><Code/></Error>", None, None),
        ("nothing, as for HEAD and 304", "", None, None),
        ("of a proxy", "<html><body>Bad Gateway</body></html>", None, None),
        ("cut short", "<Error><Code>NoSuchBucket</Code>", None, None),
        (
            "entities that grow",
            "<!DOCTYPE e [<!ENTITY a \"aaaaaaaa\"><!ENTITY b \"&a;&a;&a;\">]>\
             <Error><Code>&b;</Code></Error>",
            None,
            None,
        ),
    ];
    for (what, content, code, message) in table {
        for framing in FRAMINGS {
            let response = framing.response(400, &[("Content-Type", "application/xml")], content);
            let reader = presized::Reader::new(LIMIT);
            let read = s3::deserialize_get_bucket_policy(response, &reader);
            let Err(SdkError::Service(error)) = drive(read) else { panic!("{what}") };
            let expected = metadata(400, code, message);
            assert_eq!(error, GetBucketPolicyError::Unhandled(expected), "{what}");
        }
    }
}

fn metadata(status: u16, code: Option<&str>, message: Option<&str>) -> ErrorMetadata {
    ErrorMetadata {
        status: StatusCode::from_u16(status).unwrap(),
        code: code.map(str::to_owned),
        message: message.map(str::to_owned),
    }
}
