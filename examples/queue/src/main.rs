//! A function that processes the messages of an Amazon SQS queue, and reports those that failed.
//!
//! It does the job of the example `advanced-sqs-partial-batch-failures` of `lambda_runtime`. The event
//! source mapping of the queue must have `ReportBatchItemFailures`. `examples/function` says how to
//! build the program `bootstrap`.

use presized_lambda_runtime::{Context, Error, ErrorReport, Record, batch, run};
use serde::Deserialize;

#[derive(Deserialize)]
struct Data {
    text: String,
}

async fn process(record: Record, _context: Context) -> Result<(), ErrorReport> {
    let data: Data = record.parse()?;
    tracing::info!(text = data.text, "processing data");
    if data.text == "bad request" {
        return Err(ErrorReport::new("BadRequest", "processing error"));
    }
    Ok(())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    // Lambda adds the time to each line.
    tracing_subscriber::fmt().without_time().with_ansi(false).init();
    run(batch(process)).await
}
