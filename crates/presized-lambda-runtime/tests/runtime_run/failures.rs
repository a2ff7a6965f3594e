//! A failed invocation, and the next one, which succeeds.

use std::convert::Infallible;
use std::future::ready;
use std::io;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use futures_util::stream;
use http::Response;
use presized_lambda_runtime::{
    Context, Handler, RuntimeClient, http_streaming, json, raw, streaming,
};
use presized_support::scripted::Recorded;
use serde::ser::{Error as _, Serialize, Serializer};
use serde_json::Value;

use super::{Api, event, path};

/// Serves `bad` and then `good`, and returns the request that was posted for `bad`.
async fn first_of_two(bad: &str, good: &str, handler: impl Handler) -> Recorded {
    let api = Api::new([event("bad", bad), event("good", good)]);
    let posted = api.serve(handler).await;
    assert_eq!(posted.len(), 2, "{posted:?}");
    assert_eq!(posted[1].0, "good/response");
    api.server.requests().swap_remove(1)
}

/// Returns the type in the header, and the type and the message in the body.
fn reported(request: &Recorded) -> (Option<&str>, String, String) {
    assert_eq!(path(request), "bad/error");
    let body: Value = serde_json::from_slice(&request.body).unwrap();
    let member = |name: &str| body[name].as_str().unwrap().to_owned();
    let header = request.header("lambda-runtime-function-error-type");
    (header, member("errorType"), member("errorMessage"))
}

fn report<'a>(
    header: &'a str,
    error_type: &str,
    message: &str,
) -> (Option<&'a str>, String, String) {
    (Some(header), error_type.to_owned(), message.to_owned())
}

#[tokio::test]
async fn error_of_the_function_is_reported() {
    let fails = async |event: Bytes, _: Context| match &event[..] {
        b"bad" => Err(io::Error::other("no disk")),
        _ => Ok(event),
    };
    let posted = first_of_two("bad", "good", raw(fails)).await;
    assert_eq!(reported(&posted), report("Function.Error", "Error", "no disk"));
}

#[tokio::test]
async fn panic_of_the_function_is_reported() {
    let panics = async |event: Bytes, _: Context| {
        assert_ne!(event, "bad", "a bug of the function");
        Ok::<_, Infallible>(event)
    };
    let posted = first_of_two("bad", "good", raw(panics)).await;
    let (header, error_type, message) = reported(&posted);
    assert_eq!((header, &*error_type), (Some("Function.Panic"), "Function.Panic"));
    assert!(message.contains("a bug of the function"), "{message}");

    // A panic before the future is reported too.
    let panics = |event: Bytes, _: Context| match &event[..] {
        b"bad" => panic!("at once"),
        _ => ready(Ok::<_, Infallible>(event)),
    };
    let posted = first_of_two("bad", "good", raw(panics)).await;
    assert_eq!(reported(&posted), report("Function.Panic", "Function.Panic", "at once"));
}

#[tokio::test]
async fn event_that_is_not_the_expected_json_is_reported() {
    let count = async |numbers: Vec<u32>, _: Context| Ok::<_, Infallible>(numbers.len());
    for bad in [r#"{"x":"#, "", "[1,", "[-1]", "[1] 2"] {
        let posted = first_of_two(bad, "[1]", json(count)).await;
        let message = serde_json::from_str::<Vec<u32>>(bad).unwrap_err().to_string();
        let expected = report("Runtime.UnmarshalError", "Runtime.UnmarshalError", &message);
        assert_eq!(reported(&posted), expected, "{bad:?}");
    }
}

/// A value that serde cannot write if `is_bad`.
struct MaybeUnwritable {
    is_bad: bool,
}

impl Serialize for MaybeUnwritable {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.is_bad { Err(S::Error::custom("no JSON")) } else { serializer.serialize_unit() }
    }
}

#[tokio::test]
async fn response_that_cannot_be_written_as_json_is_reported() {
    let function = async |is_bad: bool, _: Context| Ok::<_, Infallible>(MaybeUnwritable { is_bad });
    let posted = first_of_two("true", "false", json(function)).await;
    let expected = report("Runtime.MarshalError", "Runtime.MarshalError", "no JSON");
    assert_eq!(reported(&posted), expected);
}

#[tokio::test]
async fn event_over_the_limit_is_reported_with_its_length() {
    let api = Api::new([event("bad", "12345"), event("good", "1234")]);
    let address = api.server.address().to_string();
    let client = RuntimeClient::builder().endpoint(address).reader(4).build().unwrap();
    let echo = raw(async |event: Bytes, _: Context| Ok::<_, Infallible>(event));
    api.run(api.runtime(echo).client(client)).await.unwrap();
    let requests = api.server.requests();
    let message = "event cannot be read: body declares 5 bytes, over the limit of 4 bytes";
    let expected = report("Runtime.EventTooLarge", "Runtime.EventTooLarge", message);
    assert_eq!(reported(&requests[1]), expected);
    assert_eq!(path(&requests[3]), "good/response");
}

#[tokio::test]
async fn header_that_is_not_utf8_is_reported() {
    let page = |event: Bytes, _: Context| {
        let body = stream::iter([Ok::<_, io::Error>(Bytes::from("page"))]);
        ready(Response::builder().header("x-name", &event[..]).body(body))
    };
    // The same letter in Latin-1 and in UTF-8.
    let api = Api::new([event("bad", b"\xe9"), event("good", b"\xc3\xa9")]);
    let posted = api.serve(http_streaming(page)).await;
    let requests = api.server.requests();
    assert_eq!(reported(&requests[1]).0, Some("Runtime.InvalidHttpPrelude"));
    let prelude = "{\"statusCode\":200,\"headers\":{\"x-name\":\"\u{e9}\"},\"cookies\":[]}";
    assert_eq!(posted[1].1, format!("{prelude}\0\0\0\0\0\0\0\0page"));
}

#[tokio::test]
async fn failure_after_the_first_chunk_of_a_stream_ends_it_with_trailers() {
    type Chunk = fn() -> io::Result<Bytes>;
    let table: [(Chunk, _, _); 2] = [
        (|| Err(io::Error::other("no disk")), "Function.Error", "no disk"),
        (|| panic!("a bug"), "Function.Panic", "a bug"),
    ];
    for (fail, error_type, message) in table {
        let fails = move |event: Bytes, _: Context| {
            let chunks = [true, event != "bad"].map(|good| {
                move || {
                    if good { Ok(Bytes::from("a")) } else { fail() }
                }
            });
            ready(Ok::<_, Infallible>(stream::iter(chunks.into_iter().map(|chunk| chunk()))))
        };
        let posted = first_of_two("bad", "good", streaming(fails)).await;
        let wire = std::str::from_utf8(&posted.wire).unwrap();
        assert!(wire.starts_with("1\r\na\r\n0\r\nlambda-runtime-function-error-type: "), "{wire}");
        assert_eq!(posted.trailer("Lambda-Runtime-Function-Error-Type"), Some(error_type));
        let body = posted.trailer("Lambda-Runtime-Function-Error-Body").unwrap();
        let body: Value = serde_json::from_slice(&STANDARD.decode(body).unwrap()).unwrap();
        assert_eq!(body["errorMessage"], message);
    }
}
