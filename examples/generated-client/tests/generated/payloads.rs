//! Smithy's protocol tests of `@httpPayload`, on the response side.

use presized::Reader;
use presized_support::drive::drive;

use crate::service::{self, StringEnum, UnhandledError};
use crate::{FRAMINGS, Framing, LIMIT};
use generated_client::SdkError;

/// An operation of the protocol tests.
#[derive(Clone, Copy, Debug)]
enum Operation {
    PayloadTraits,
    StringPayload,
    EnumPayload,
    PayloadWithStructure,
    GreetingWithErrors,
}

/// The members of an output that are present.
type Params = Vec<(&'static str, String)>;

impl Operation {
    fn read(self, framing: Framing, headers: &[(&str, &str)], content: &str) -> Params {
        let response = framing.response(200, headers, content);
        let reader = Reader::new(LIMIT);
        let members = match self {
            Self::PayloadTraits => {
                let read = service::deserialize_http_payload_traits(response, &reader);
                let output = done(drive(read));
                let blob = output.blob.map(|blob| String::from_utf8(blob.into()).unwrap());
                vec![("foo", output.foo), ("blob", blob)]
            }
            Self::StringPayload => {
                let read = service::deserialize_http_string_payload(response, &reader);
                vec![("payload", done(drive(read)).payload)]
            }
            Self::EnumPayload => {
                let read = service::deserialize_http_enum_payload(response, &reader);
                let payload = done(drive(read)).payload.map(|payload| match payload {
                    StringEnum::V => "V".to_owned(),
                    StringEnum::Unknown(value) => format!("unknown: {value}"),
                });
                vec![("payload", payload)]
            }
            Self::PayloadWithStructure => {
                let read = service::deserialize_http_payload_with_structure(response, &reader);
                let nested = done(drive(read)).nested;
                let (greeting, name) =
                    nested.map(|nested| (nested.greeting, nested.name)).unwrap_or_default();
                vec![("nested.greeting", greeting), ("nested.name", name)]
            }
            Self::GreetingWithErrors => {
                let read = service::deserialize_greeting_with_errors(response);
                vec![("greeting", drive(read).unwrap().greeting)]
            }
        };
        members.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
    }
}

fn done<T>(read: Result<T, SdkError<UnhandledError>>) -> T {
    read.unwrap_or_else(|error| panic!("{error:?}"))
}

#[test]
fn protocol_tests_of_payloads_pass() {
    use Operation::*;
    type Pairs = &'static [(&'static str, &'static str)];
    let table: [(&str, Operation, Pairs, &str, Pairs); 9] = [
        (
            "RestJsonHttpPayloadTraitsWithBlob",
            PayloadTraits,
            &[("X-Foo", "Foo")],
            "blobby blob blob",
            &[("foo", "Foo"), ("blob", "blobby blob blob")],
        ),
        (
            "RestJsonHttpPayloadTraitsWithNoBlobBody",
            PayloadTraits,
            &[("X-Foo", "Foo")],
            "",
            &[("foo", "Foo")],
        ),
        (
            "RestJsonHttpPayloadTraitsWithMediaTypeWithBlob",
            PayloadTraits,
            &[("X-Foo", "Foo"), ("Content-Type", "text/plain")],
            "blobby blob blob",
            &[("foo", "Foo"), ("blob", "blobby blob blob")],
        ),
        (
            "RestJsonStringPayloadResponse",
            StringPayload,
            &[("Content-Type", "text/plain")],
            "rawstring",
            &[("payload", "rawstring")],
        ),
        (
            "RestJsonEnumPayloadResponse",
            EnumPayload,
            &[("Content-Type", "text/plain")],
            "enumvalue",
            &[("payload", "V")],
        ),
        (
            "RestJsonHttpPayloadWithStructure",
            PayloadWithStructure,
            &[("Content-Type", "application/json")],
            "{\n    \"greeting\": \"hello\",\n    \"name\": \"Phreddy\"\n}",
            &[("nested.greeting", "hello"), ("nested.name", "Phreddy")],
        ),
        (
            "RestJsonGreetingWithErrors",
            GreetingWithErrors,
            &[("X-Greeting", "Hello")],
            "{}",
            &[("greeting", "Hello")],
        ),
        (
            "RestJsonGreetingWithErrorsNoPayload",
            GreetingWithErrors,
            &[("X-Greeting", "Hello")],
            "",
            &[("greeting", "Hello")],
        ),
        // Not a test of Smithy's: a service may add values to an enum.
        ("a value of a later model", EnumPayload, &[], "other", &[("payload", "unknown: other")]),
    ];
    for (id, operation, headers, content, expected) in table {
        for framing in FRAMINGS {
            let params = operation.read(framing, headers, content);
            let params: Vec<_> =
                params.iter().map(|(name, value)| (*name, value.as_str())).collect();
            assert_eq!(params, expected, "{id}, {framing:?}");
        }
    }
}

#[test]
fn empty_payload_is_an_absent_member() {
    for operation in
        [Operation::StringPayload, Operation::EnumPayload, Operation::PayloadWithStructure]
    {
        for framing in FRAMINGS {
            assert_eq!(operation.read(framing, &[], ""), [], "{operation:?}, {framing:?}");
        }
    }
}
