//! A handler made of a function of one record, for queues and streams.

mod lane;
mod record;

use std::fmt;
use std::future::Future;
use std::sync::Arc;

use bytes::Bytes;
use serde::Serialize;
use tokio::task::JoinSet;
use tracing::Instrument;

use self::lane::Lane;
pub use self::record::{Record, RecordSource};
use super::failure_log::FailureLog;
use super::json::MARSHAL;
use super::panics::caught;
use super::{Context, ErrorReport, FunctionResponse, Handler};

/// Makes a handler of a function of one record, for events of Amazon SQS, Amazon Kinesis and DynamoDB
/// Streams.
///
/// The response names the records that failed, and Lambda sends only these again. This needs
/// `ReportBatchItemFailures` in the function response types of the event source mapping of the
/// [queue](https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-errorhandling.html),
/// [Kinesis stream](https://docs.aws.amazon.com/lambda/latest/dg/services-kinesis-batchfailurereporting.html)
/// or [DynamoDB stream](https://docs.aws.amazon.com/lambda/latest/dg/services-ddb-batchfailurereporting.html).
/// Without it, Lambda ignores the response and **deletes failed messages**.
///
/// | source | order | after a failure |
/// | --- | --- | --- |
/// | standard queue | none: up to [`Batch::concurrency`] records at a time | the other records are processed |
/// | FIFO queue | one record at a time of each message group | the rest of the group is not processed, and fails |
/// | stream | one record at a time | the rest of the batch is not processed; Lambda sends it again from the failed record on |
///
/// An error or a panic fails its record only. It is logged, because no caller receives it. Each record
/// is processed in a task of tokio, within a tracing span `lambda.record`.
///
/// The whole batch fails before a record is processed if the event has no records of these sources, or
/// a record has no id. It fails at the deadline of the invocation too. Lambda then sends all records
/// again, so a function must expect a record twice.
///
/// # Examples
///
/// ```no_run
/// # async fn example() -> Result<(), presized_lambda_runtime::Error> {
/// use presized_lambda_runtime::{Context, ErrorReport, Record, batch, run};
///
/// #[derive(serde::Deserialize)]
/// struct Order {
///     cents: u64,
/// }
///
/// async fn bill(record: Record, _context: Context) -> Result<(), ErrorReport> {
///     let order: Order = record.parse()?;
///     println!("{}: {} cents", record.id, order.cents);
///     Ok(())
/// }
///
/// run(batch(bill).concurrency(4)).await
/// # }
/// ```
pub fn batch<F, Fut, E>(function: F) -> Batch<F>
where
    F: Fn(Record, Context) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<(), E>> + Send + 'static,
    E: Into<ErrorReport> + 'static,
{
    Batch {
        function: Arc::new(function),
        concurrency: CONCURRENCY,
        failure_log: FailureLog { has_messages: true },
    }
}

/// A handler that calls a function for each record. [`batch`] creates it.
pub struct Batch<F> {
    function: Arc<F>,
    concurrency: usize,
    failure_log: FailureLog,
}

impl<F> Batch<F> {
    /// Sets how many records, or message groups, are processed at a time. The default is 10. Zero
    /// counts as one.
    ///
    /// It does not apply to streams, whose records are processed one at a time.
    #[must_use]
    pub fn concurrency(mut self, concurrency: usize) -> Self {
        self.concurrency = concurrency.max(1);
        self
    }

    /// Sets whether the log of a failed record contains the message of its error. The default is
    /// `true`, because the log is the only place to find it.
    ///
    /// Set it to `false` if messages can quote secrets or personal data of records, as those of parsers
    /// do. The type of the error is always logged.
    #[must_use]
    pub fn log_error_messages(mut self, has_messages: bool) -> Self {
        self.failure_log = FailureLog { has_messages };
        self
    }
}

impl<F, Fut, E> Handler for Batch<F>
where
    F: Fn(Record, Context) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<(), E>> + Send + 'static,
    E: Into<ErrorReport> + 'static,
{
    async fn call(&self, event: Bytes, context: Context) -> Result<FunctionResponse, ErrorReport> {
        let mut lanes = lane::of_event(&event)?.into_iter();
        drop(event);
        let mut failures = Vec::new();
        // Dropping it ends the tasks.
        let mut running = JoinSet::new();
        loop {
            for lane in lanes.by_ref().take(self.concurrency - running.len()) {
                let process = Process {
                    function: Arc::clone(&self.function),
                    context: context.clone(),
                    failure_log: self.failure_log,
                };
                running.spawn(process.lane(lane).in_current_span());
            }
            let Some(ended) = running.join_next().await else { break };
            // It is not known which records were processed. Lambda sends all again.
            failures.extend(ended.map_err(|lost| ErrorReport::from_dyn(LOST, &lost))?);
        }
        failures.sort_unstable_by_key(|failure: &Failure| failure.position);
        let response = Failures { batch_item_failures: failures };
        let json = serde_json::to_vec(&response)
            .map_err(|error| ErrorReport::from_dyn(MARSHAL, &error))?;
        Ok(FunctionResponse::json(json))
    }
}

impl<F> fmt::Debug for Batch<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Batch").field("concurrency", &self.concurrency).finish_non_exhaustive()
    }
}

/// The settings of a task that processes records.
struct Process<F> {
    function: Arc<F>,
    context: Context,
    failure_log: FailureLog,
}

impl<F, Fut, E> Process<F>
where
    F: Fn(Record, Context) -> Fut,
    Fut: Future<Output = Result<(), E>>,
    E: Into<ErrorReport>,
{
    /// Processes the records of a lane until one fails. Returns what Lambda must send again.
    async fn lane(self, lane: Lane) -> Vec<Failure> {
        let mut records = lane.records.into_iter();
        let mut failures = Vec::new();
        for (position, record) in records.by_ref() {
            let item_identifier = record.id.clone();
            let span = tracing::info_span!("lambda.record", id = item_identifier);
            if self.record(record).instrument(span).await.is_err() {
                failures.push(Failure { position, item_identifier });
                break;
            }
        }
        // Lambda sends all records of a stream that follow the failed one.
        if !failures.is_empty() && !lane.is_stream {
            failures.extend(
                records.map(|(position, record)| Failure { position, item_identifier: record.id }),
            );
        }
        failures
    }

    /// Processes a record, and logs why it failed.
    async fn record(&self, record: Record) -> Result<(), ErrorReport> {
        let processed = caught(async {
            (self.function)(record, self.context.clone()).await.map_err(Into::into)
        });
        let processed = processed.await.and_then(|returned| returned);
        if let Err(report) = &processed {
            self.failure_log.record(report, "record failed");
        }
        processed
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Failures {
    batch_item_failures: Vec<Failure>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Failure {
    /// The position of the record in the event.
    #[serde(skip)]
    position: usize,
    item_identifier: String,
}

/// The default batch size of SQS.
const CONCURRENCY: usize = 10;

const LOST: &str = "Runtime.RecordLost";
