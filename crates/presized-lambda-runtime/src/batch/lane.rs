//! Records that are processed one after the other.

use std::collections::HashMap;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::{Record, RecordSource};
use crate::ErrorReport;
use crate::json::UNMARSHAL;
use crate::text::Text;

/// Records that are processed in their order until one fails, each with its position in the event.
#[derive(Debug, Default)]
pub(super) struct Lane {
    pub(super) records: Vec<(usize, Record)>,
    /// `true` if the records are from one shard of a stream.
    pub(super) is_stream: bool,
}

/// Returns the lanes of an event: a shard, the message groups of a FIFO queue, or each message of a
/// standard queue.
///
/// # Errors
///
/// Returns a report if the event has a record of another source, or one without an id.
pub(super) fn of_event(event: &Bytes) -> Result<Vec<Lane>, ErrorReport> {
    let Event { records } =
        serde_json::from_slice(event).map_err(|error| ErrorReport::from_dyn(UNMARSHAL, &error))?;
    let mut lanes: Vec<Lane> = Vec::new();
    let mut groups = HashMap::new();
    for (position, json) in records.into_iter().enumerate() {
        let (record, group) = of_record(event, json).map_err(|message| {
            ErrorReport::new(UNMARSHAL, format!("record {position}: {message}"))
        })?;
        let next = lanes.len();
        let lane = group.map_or(next, |group| *groups.entry(group).or_insert(next));
        if lane == next {
            let is_stream = record.source != RecordSource::Sqs;
            lanes.push(Lane { records: Vec::new(), is_stream });
        }
        lanes[lane].records.push((position, record));
    }
    Ok(lanes)
}

/// Returns a record, and the name of its group if the records of a group have an order.
fn of_record(event: &Bytes, json: &RawValue) -> Result<(Record, Option<String>), String> {
    let members: Members<'_> =
        serde_json::from_str(json.get()).map_err(|error| error.to_string())?;
    let json = event.slice_ref(json.get().as_bytes());
    let (source, id, content, group) = match &*members.event_source {
        "aws:sqs" => {
            let arn = members.event_source_arn.unwrap_or_default();
            // Messages of a standard queue can have a group too, which has no order.
            let group = members.attributes.and_then(|attributes| attributes.message_group_id);
            let group = arn.ends_with(".fifo").then(|| group.unwrap_or_default().to_string());
            let content = members.body.unwrap_or_default().into_bytes(event);
            (RecordSource::Sqs, members.message_id, content, group)
        }
        "aws:kinesis" => {
            let data = members.kinesis.ok_or("kinesis is missing")?;
            let content = STANDARD.decode(data.data.as_bytes());
            let content = content.map_err(|error| format!("data is not base64: {error}"))?;
            (RecordSource::Kinesis, data.sequence_number, content.into(), Some(String::new()))
        }
        "aws:dynamodb" => {
            let change = members.dynamodb.ok_or("dynamodb is missing")?;
            (RecordSource::DynamoDb, change.sequence_number, json.clone(), Some(String::new()))
        }
        other => {
            return Err(format!("source {other:?} is not supported: use SQS, Kinesis or DynamoDB"));
        }
    };
    // Lambda takes an empty id for a response that it cannot read.
    let id = id.filter(|id| !id.is_empty()).ok_or("id is missing")?.to_string();
    Ok((Record { source, id, content, json }, group))
}

#[derive(Deserialize)]
struct Event<'a> {
    #[serde(rename = "Records", borrow)]
    records: Vec<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", bound(deserialize = "'de: 'a"))]
struct Members<'a> {
    event_source: Text<'a>,
    #[serde(rename = "eventSourceARN")]
    event_source_arn: Option<Text<'a>>,
    message_id: Option<Text<'a>>,
    body: Option<Text<'a>>,
    attributes: Option<Attributes<'a>>,
    kinesis: Option<Data<'a>>,
    dynamodb: Option<Change<'a>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase", bound(deserialize = "'de: 'a"))]
struct Attributes<'a> {
    message_group_id: Option<Text<'a>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", bound(deserialize = "'de: 'a"))]
struct Data<'a> {
    sequence_number: Option<Text<'a>>,
    data: Text<'a>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase", bound(deserialize = "'de: 'a"))]
struct Change<'a> {
    sequence_number: Option<Text<'a>>,
}
