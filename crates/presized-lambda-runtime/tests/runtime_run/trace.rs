//! The trace header of X-Ray, which functions get octet for octet.

use std::convert::Infallible;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use presized_lambda_runtime::{Context, State, raw};
use presized_support::scripted::Reply;
use tokio::sync::Barrier;

use super::{Api, pairs};

/// Trace headers with all fields, with fields of a customer, and with one field only.
const TRACES: [&str; 4] = [
    "Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=1;\
     Lineage=a87bd80c:1|68fd508a:5;Self=1-0-1",
    "Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad9;Sampled=0;Lineage=a:0",
    "Sampled=?; Root=1-5759e988-bd862e3fe1be46a994272795;Customer=a b/c,d",
    "Root=1-5759e988-bd862e3fe1be46a994272796",
];

const IDS: [&str; 4] = ["a", "b", "c", "d"];

fn events() -> Vec<Reply> {
    let event = |(id, trace)| {
        let headers = [("Lambda-Runtime-Aws-Request-Id", id), ("Lambda-Runtime-Trace-Id", trace)];
        Reply::response("200 OK", &headers, "")
    };
    IDS.into_iter().zip(TRACES).map(event).collect()
}

fn responses() -> Vec<(String, String)> {
    let paths = IDS.map(|id| format!("{id}/response"));
    let responses: Vec<_> = paths.iter().map(String::as_str).zip(TRACES).collect();
    pairs(&responses)
}

#[tokio::test]
async fn hook_and_handler_get_the_trace_header_of_their_invocation() {
    let api = Api::new(events());
    let seen = Arc::new(Mutex::new(Vec::new()));
    let by_hook = Arc::clone(&seen);
    let handler = raw(async |_: Bytes, context: Context| {
        Ok::<_, Infallible>(context.trace_id.unwrap_or_default())
    });
    let runtime = api.runtime(handler).on_invocation(move |context| {
        by_hook.lock().unwrap().push(context.trace_id.clone().unwrap_or_default());
    });
    api.run(runtime).await.unwrap();
    assert_eq!(*seen.lock().unwrap(), TRACES);
    assert_eq!(api.posted(), responses());
}

#[tokio::test]
async fn invocations_at_the_same_time_have_their_own_trace_headers() {
    let api = Api::concurrent(2, events());
    // Two invocations wait for each other, so that both are in the process.
    let handler =
        State::new(Barrier::new(2)).raw(async |both: &Barrier, _: Bytes, context: Context| {
            both.wait().await;
            Ok::<_, Infallible>(context.trace_id.unwrap_or_default())
        });
    let mut posted = api.serve(handler).await;
    posted.sort();
    assert_eq!(posted, responses());
}
