//! The log of invocations, which has no payload in it.

use std::convert::Infallible;
use std::future::ready;

use bytes::Bytes;
use futures_util::stream;
use presized_lambda_runtime::{Context, ErrorReport, FunctionResponse, json, raw, streaming};
use presized_support::log::Log;
use presized_support::scripted::Reply;

use super::{Api, accepted, event, path};

#[tokio::test]
async fn span_has_lengths_and_the_log_has_no_payload() {
    let log = Log::of_this_thread();
    let headers = [
        ("Lambda-Runtime-Aws-Request-Id", "id-1"),
        ("Lambda-Runtime-Invoked-Function-Arn", "arn:aws:lambda:eu-north-1:1:function:f"),
        ("Lambda-Runtime-Trace-Id", "Root=1-2-3"),
    ];
    let api = Api::new([
        Reply::response("200 OK", &headers, r#""p4yl04d""#),
        // The messages of these errors quote the event.
        event("id-2", r#"{"p4yl04d":1}"#),
        event("id-3", r#""fail""#),
    ]);
    let function = json(async |event: String, _: Context| match &*event {
        "fail" => Err(ErrorReport::new("Failed", "p4yl04d")),
        _ => Ok(event),
    });
    api.run(api.runtime(function).log_error_messages(false)).await.unwrap();

    let log = log.finish();
    let expected = "lambda.invocation{request_id=\"id-1\" \
         function_arn=\"arn:aws:lambda:eu-north-1:1:function:f\" trace_id=\"Root=1-2-3\" \
         event_bytes=9 response_bytes=9}";
    assert!(log.contains(expected), "{log}");
    assert!(log.contains(r#"error_type="Runtime.UnmarshalError""#), "{log}");
    assert!(log.contains(r#"error_type="Failed""#), "{log}");
    assert!(!log.contains("p4yl04d"), "{log}");
}

#[tokio::test]
async fn failed_invocation_is_logged_with_type_and_message() {
    let log = Log::of_this_thread();
    let api = Api::new([event("id-1", "1"), event("id-2", "2"), event("id-3", "3")]);
    let function = async |event: Bytes, _: Context| match &event[..] {
        b"1" => Err("no disk".repeat(4096)),
        b"2" => panic!("a bug"),
        _ => Ok(FunctionResponse::stream(stream::iter([Err::<Bytes, _>("broken pipe")]))),
    };
    api.serve(raw(function)).await;
    let log = log.finish();
    let expected = [
        r#"function failed error_type="Error" error_message="no diskno disk"#,
        r#"function failed error_type="Function.Panic" error_message="a bug""#,
        r#"stream failed error_type="Error" error_message="broken pipe""#,
    ];
    for expected in expected {
        let line = log.lines().find(|line| line.contains(expected));
        let line = line.unwrap_or_else(|| panic!("{expected}: {log}"));
        assert!(line.contains("ERROR") && line.len() < 17 << 10, "{line}");
    }
}

#[tokio::test]
async fn span_of_a_streamed_response_has_the_length_of_all_chunks() {
    let log = Log::of_this_thread();
    let api = Api::new([event("id-1", "")]);
    let chunks = |_: Bytes, _: Context| {
        ready(Ok::<_, Infallible>(stream::iter(["ab", "", "c"].map(Ok::<_, Infallible>))))
    };
    api.serve(streaming(chunks)).await;
    let log = log.finish();
    let expected = "lambda.invocation{request_id=\"id-1\" event_bytes=0 response_bytes=3}";
    assert!(log.contains(expected), "{log}");
}

#[tokio::test]
async fn error_is_logged_with_its_causes() {
    let log = Log::of_this_thread();
    let api =
        Api::replying([event("id-1", "1"), event("id-2", "1")], |request| match path(request) {
            "id-1/response" => Reply::Close("".into()),
            _ => accepted(),
        });
    api.serve(json(async |event: u32, _: Context| Ok::<_, Infallible>(event))).await;
    let log = log.finish();
    let line = log.lines().find(|line| line.contains("response was not delivered"));
    let line = line.expect("one response is not delivered");
    assert!(line.contains("error=connection to the Runtime API broke error.sources=["), "{log}");
}
