//! One record of an event.

use std::fmt;

use bytes::Bytes;
use serde::de::DeserializeOwned;

use crate::ErrorReport;
use crate::json::UNMARSHAL;

/// A message of a queue, or a record of a stream.
///
/// [`batch`](super::batch) calls a function with each. It is not copied out of the event, unless it has
/// escapes or is in base64. So a function that keeps a record keeps the memory of the event.
///
/// # Examples
///
/// ```
/// use presized_lambda_runtime::{Record, RecordSource};
///
/// // A test of a function creates its record.
/// let record = Record::new(RecordSource::Sqs, "id", r#"{"cents":3}"#);
/// let order: std::collections::HashMap<String, u64> = record.parse()?;
/// assert_eq!(order["cents"], 3);
/// # Ok::<_, presized_lambda_runtime::ErrorReport>(())
/// ```
#[derive(Clone)]
#[non_exhaustive]
pub struct Record {
    /// The service that the record comes from.
    pub source: RecordSource,
    /// The id of a message, or the sequence number of a record in its shard.
    pub id: String,
    /// The body of a message, the data of a record of Kinesis, or a whole record of DynamoDB in JSON.
    pub content: Bytes,
    /// The whole record in JSON, with its attributes.
    pub json: Bytes,
}

/// The service that a record comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RecordSource {
    /// A queue of Amazon SQS.
    Sqs,
    /// A stream of Amazon Kinesis Data Streams.
    Kinesis,
    /// The stream of a table of Amazon DynamoDB.
    DynamoDb,
}

impl Record {
    /// Creates a record whose [`json`](Self::json) is an empty object, as a test of a function needs it.
    pub fn new(source: RecordSource, id: impl Into<String>, content: impl Into<Bytes>) -> Self {
        Self { source, id: id.into(), content: content.into(), json: Bytes::from_static(b"{}") }
    }

    /// Parses the content as JSON.
    ///
    /// # Errors
    ///
    /// Returns a report, with which the record can fail, if it is not JSON of this type.
    pub fn parse<T: DeserializeOwned>(&self) -> Result<T, ErrorReport> {
        parse(&self.content)
    }

    /// Parses the whole record, with its attributes. The crate `aws_lambda_events` has types for it.
    ///
    /// # Errors
    ///
    /// Returns a report, with which the record can fail, if it does not have the members of `T`.
    pub fn parse_whole<T: DeserializeOwned>(&self) -> Result<T, ErrorReport> {
        parse(&self.json)
    }
}

fn parse<T: DeserializeOwned>(json: &[u8]) -> Result<T, ErrorReport> {
    serde_json::from_slice(json).map_err(|error| ErrorReport::from_dyn(UNMARSHAL, &error))
}

impl fmt::Debug for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Record")
            .field("source", &self.source)
            .field("id", &self.id)
            .field("content", &format_args!("{} bytes", self.content.len()))
            .finish_non_exhaustive()
    }
}
