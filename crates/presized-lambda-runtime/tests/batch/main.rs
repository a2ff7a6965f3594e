//! `batch` with events of queues and streams, run by the emulator.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use presized_lambda_emulator::{Emulator, Function};
use presized_lambda_runtime::{Batch, Context, ErrorReport, Handler, Record, RecordSource, batch};
use serde_json::{Value, json};
use tokio::sync::Barrier;
use tokio::time::timeout;

#[tokio::test]
async fn only_failed_messages_of_a_standard_queue_are_reported() {
    let messages = ["a:ok", "b:error", "c:ok", "d:panic", "e:ok"];
    let (response, seen) = deliver(queue("orders", &messages), 2).await;
    assert_eq!(response, failures(&["b", "d"]));
    let mut seen = seen;
    seen.sort_unstable();
    assert_eq!(seen, messages);
}

#[tokio::test]
async fn groups_of_a_standard_queue_have_no_order() {
    let messages = ["a:error:g", "b:ok:g", "c:ok:g"];
    let (response, seen) = deliver(queue("orders", &messages), 1).await;
    assert_eq!(response, failures(&["a"]));
    assert_eq!(seen.len(), 3);
}

#[tokio::test]
async fn rest_of_a_group_of_a_fifo_queue_fails_unprocessed() {
    let messages =
        ["a:ok:x", "b:ok:y", "c:error:x", "d:ok:y", "e:ok:x", "f:panic:z", "g:ok:y", "h:ok:z"];
    let (response, mut seen) = deliver(queue("orders.fifo", &messages), 2).await;
    assert_eq!(response, failures(&["c", "e", "f", "h"]));
    let of_y: Vec<_> = seen.iter().filter(|content| content.ends_with(":y")).cloned().collect();
    assert_eq!(of_y, ["b:ok:y", "d:ok:y", "g:ok:y"]);
    seen.sort_unstable();
    assert_eq!(seen, ["a:ok:x", "b:ok:y", "c:error:x", "d:ok:y", "f:panic:z", "g:ok:y"]);
}

#[tokio::test]
async fn shard_stops_at_its_first_failure() {
    for outcome in ["error", "panic"] {
        let records = ["1:ok".to_owned(), "2:ok".to_owned(), format!("3:{outcome}"), "4:ok".into()];
        for event in [kinesis(&records), dynamodb(&records)] {
            let (response, seen) = deliver(event, 10).await;
            assert_eq!(response, failures(&["3"]));
            assert_eq!(seen, records[..3]);
        }
    }
}

#[tokio::test]
async fn batch_without_failures_is_empty() {
    let all = ["1:ok".to_owned(), "2:ok".to_owned()];
    let none: [&str; 0] = [];
    for (event, count) in [
        (queue("orders", &["1:ok", "2:ok"]), 2),
        (queue("orders.fifo", &["1:ok:a", "2:ok:a"]), 2),
        (kinesis(&all), 2),
        (dynamodb(&all), 2),
        (queue("orders", &none), 0),
    ] {
        let (response, seen) = deliver(event, 10).await;
        assert_eq!((response, seen.len()), (failures(&[]), count));
    }
}

#[tokio::test]
async fn records_are_processed_together_up_to_the_concurrency() {
    let messages: Vec<_> = (0..12).map(|number| format!("{number}:ok")).collect();
    let (together, barrier) = (Arc::new(AtomicUsize::new(0)), Arc::new(Barrier::new(4)));
    let most = Arc::new(AtomicUsize::new(0));
    let function = {
        let most = Arc::clone(&most);
        move |_: Record, _: Context| {
            let (together, barrier, most) =
                (Arc::clone(&together), Arc::clone(&barrier), Arc::clone(&most));
            async move {
                most.fetch_max(together.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                // With fewer than four at a time this waits forever.
                barrier.wait().await;
                together.fetch_sub(1, Ordering::SeqCst);
                Ok::<_, ErrorReport>(())
            }
        }
    };
    let response = invoke(batch(function).concurrency(4), queue("orders", &messages)).await;
    assert_eq!(response, failures(&[]));
    assert_eq!(most.load(Ordering::SeqCst), 4);
}

#[tokio::test]
async fn record_has_its_source_content_and_attributes() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let function = {
        let seen = Arc::clone(&seen);
        move |record: Record, context: Context| {
            assert!(!context.request_id.is_empty());
            let whole: Value = record.parse_whole().unwrap();
            let content = String::from_utf8(record.content.to_vec()).unwrap();
            seen.lock().unwrap().push((record.source, record.id, content, whole));
            async { Ok::<_, ErrorReport>(()) }
        }
    };
    let handler = Arc::new(batch(function));
    let records = ["7:\"\u{e9}\"".to_owned()];
    let events = [queue("orders", &records), kinesis(&records), dynamodb(&records)];
    for event in &events {
        let event = event.to_string().into();
        handler.call(event, context()).await.unwrap();
    }
    let seen = std::mem::take(&mut *seen.lock().unwrap());
    let sources = [RecordSource::Sqs, RecordSource::Kinesis, RecordSource::DynamoDb];
    assert_eq!(seen.len(), sources.len());
    for ((record, event), expected) in seen.into_iter().zip(events).zip(sources) {
        let (source, id, content, whole) = record;
        assert_eq!((source, &*id, &whole), (expected, "7", &event["Records"][0]));
        match source {
            RecordSource::DynamoDb => assert_eq!(content, whole.to_string()),
            _ => assert_eq!(content, records[0]),
        }
    }
}

#[tokio::test]
async fn event_without_valid_records_fails_before_any_is_processed() {
    let mut without_id = queue("orders", &["a:ok", "b:ok"]);
    without_id["Records"][1]["messageId"].take();
    let mut empty_id = queue("orders", &["a:ok", "b:ok"]);
    empty_id["Records"][1]["messageId"] = "".into();
    let mut not_base64 = kinesis(&["1:ok".to_owned(), "2:ok".to_owned()]);
    not_base64["Records"][1]["kinesis"]["data"] = "?".into();
    let mut other = queue("orders", &["a:ok", "b:ok"]);
    other["Records"][1]["eventSource"] = "aws:s3".into();
    let table = [
        (json!({"id": 1}), "missing field `Records`"),
        (without_id, "record 1: id is missing"),
        (empty_id, "record 1: id is missing"),
        (not_base64, "record 1: data is not base64"),
        (other, "record 1: source \"aws:s3\" is not supported"),
    ];
    for (event, expected) in table {
        let (response, seen) = deliver(event, 10).await;
        assert_eq!(response["errorType"], "Runtime.UnmarshalError");
        let message = response["errorMessage"].as_str().unwrap();
        assert!(message.contains(expected), "{message}");
        assert_eq!(seen, [""; 0], "{expected}");
    }
}

/// Sends an event to a function that does as the content of each record says. Returns the response,
/// and the contents in the order in which they were processed.
async fn deliver(event: Value, concurrency: usize) -> (Value, Vec<String>) {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let processed = Arc::clone(&seen);
    let handler = batch(move |record: Record, _: Context| {
        let content = match record.source {
            RecordSource::DynamoDb => {
                record.parse_whole::<Value>().unwrap()["content"].as_str().unwrap().to_owned()
            }
            _ => String::from_utf8(record.content.to_vec()).unwrap(),
        };
        processed.lock().unwrap().push(content.clone());
        async move {
            // Another record may overtake this one where it is allowed to.
            tokio::task::yield_now().await;
            match content.split(':').nth(1) {
                Some("error") => Err(ErrorReport::new("Order.Refused", "no")),
                Some("panic") => panic!("no such order"),
                _ => Ok(()),
            }
        }
    });
    let response = invoke(handler.concurrency(concurrency), event).await;
    let seen = std::mem::take(&mut *seen.lock().unwrap());
    (response, seen)
}

async fn invoke<F>(handler: Batch<F>, event: Value) -> Value
where
    Batch<F>: Handler,
{
    let emulator = Emulator::builder().function("batch", Function::new().timeout(PATIENCE)).start();
    let emulator = emulator.await.unwrap();
    emulator.attach("batch", handler).unwrap();
    let client = emulator.client_builder().max_attempts(1).build().unwrap();
    let call = client.invoke("batch").json(&event).send();
    let response = timeout(PATIENCE, call).await.expect("a response in 60 s").unwrap();
    serde_json::from_slice(&response.payload).unwrap()
}

fn context() -> Context {
    let mut context = Context::default();
    context.request_id = "request".to_owned();
    context
}

fn failures(ids: &[&str]) -> Value {
    let ids: Vec<_> = ids.iter().map(|id| HashMap::from([("itemIdentifier", id)])).collect();
    json!({ "batchItemFailures": ids })
}

/// Returns an event of a queue. A message is its id, its outcome and its group.
fn queue(name: &str, messages: &[impl AsRef<str>]) -> Value {
    let record = |message: &str| {
        let mut parts = message.split(':');
        let mut attributes = json!({
            "ApproximateReceiveCount": "1",
            "SentTimestamp": "1545082649183",
            "SenderId": "AIDAIENQZJOLO23YVJ4VO",
            "ApproximateFirstReceiveTimestamp": "1545082649185",
        });
        let id = parts.next();
        if let Some(group) = parts.nth(1) {
            attributes["MessageGroupId"] = group.into();
        }
        json!({
            "messageId": id,
            "receiptHandle": "AQEBwJnKyrHigUMZj6rYigCgxlaS3SLy0a",
            "body": message,
            "attributes": attributes,
            "messageAttributes": {},
            "md5OfBody": "e4e68fb7bd0e697a0ae8f1bb342846b3",
            "eventSource": "aws:sqs",
            "eventSourceARN": format!("arn:aws:sqs:eu-central-1:123456789012:{name}"),
            "awsRegion": "eu-central-1",
        })
    };
    let records: Vec<_> = messages.iter().map(|message| record(message.as_ref())).collect();
    json!({ "Records": records })
}

/// Returns an event of a shard. A record is its sequence number and its outcome.
fn kinesis(records: &[String]) -> Value {
    use base64::Engine;
    let record = |content: &String| {
        json!({
            "kinesis": {
                "kinesisSchemaVersion": "1.0",
                "partitionKey": "1",
                "sequenceNumber": content.split(':').next(),
                "data": base64::engine::general_purpose::STANDARD.encode(content),
                "approximateArrivalTimestamp": 1_545_084_650.987,
            },
            "eventSource": "aws:kinesis",
            "eventVersion": "1.0",
            "eventID": format!("shardId-000000000006:{content}"),
            "eventName": "aws:kinesis:record",
            "invokeIdentityArn": "arn:aws:iam::123456789012:role/lambda-role",
            "awsRegion": "eu-central-1",
            "eventSourceARN": "arn:aws:kinesis:eu-central-1:123456789012:stream/orders",
        })
    };
    json!({ "Records": records.iter().map(record).collect::<Vec<_>>() })
}

/// Returns an event of the stream of a table. A record is its sequence number and its outcome.
fn dynamodb(records: &[String]) -> Value {
    let record = |content: &String| {
        json!({
            "eventID": content,
            "content": content,
            "eventVersion": "1.0",
            "dynamodb": {
                "Keys": { "Id": { "N": "101" } },
                "NewImage": { "Message": { "S": content }, "Id": { "N": "101" } },
                "StreamViewType": "NEW_AND_OLD_IMAGES",
                "SequenceNumber": content.split(':').next(),
                "SizeBytes": 26,
            },
            "awsRegion": "eu-central-1",
            "eventName": "INSERT",
            "eventSourceARN": "arn:aws:dynamodb:eu-central-1:123456789012:table/orders/stream/1",
            "eventSource": "aws:dynamodb",
        })
    };
    json!({ "Records": records.iter().map(record).collect::<Vec<_>>() })
}

const PATIENCE: Duration = Duration::from_secs(60);
