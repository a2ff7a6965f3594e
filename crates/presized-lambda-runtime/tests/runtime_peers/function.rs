//! The function that the peers run. The event tells it what to do.

use std::env;
use std::future::pending;
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::sync::LazyLock;
use std::time::Duration;

use bytes::Bytes;
use futures_util::stream;
use presized_lambda_runtime::{Context, ErrorReport, FunctionResponse};
use tokio::sync::Barrier;
use tokio::time::sleep;

/// Returns the event if it is no command.
pub(crate) async fn function(
    event: Bytes,
    context: Context,
) -> Result<FunctionResponse, ErrorReport> {
    let text = std::str::from_utf8(&event).unwrap_or_default();
    let (command, argument) = text.split_once(' ').unwrap_or((text, ""));
    match command {
        "respond" => Ok(content(argument.parse()?).into()),
        "context" => Ok(format!("{:?} {:?}", context.function_arn, context.client_context).into()),
        "fail" => Err(ErrorReport::new(FAILURE, MESSAGE)),
        "panic" => panic!("{MESSAGE}"),
        "stream" => Ok(FunctionResponse::stream(stream::iter(CHUNKS.map(Ok::<_, ErrorReport>)))),
        "broken" => {
            let end = Err(ErrorReport::new(FAILURE, MESSAGE));
            Ok(FunctionResponse::stream(stream::iter(CHUNKS.map(Ok).into_iter().chain([end]))))
        }
        "hang" => pending().await,
        "late" => {
            sleep(Duration::from_millis(argument.parse()?)).await;
            Ok("late".into())
        }
        "meet" => {
            MEETING.wait().await;
            Ok(event.into())
        }
        "twice" => {
            respond_by_hand(&context.request_id, "first")?;
            Ok("second".into())
        }
        _ => Ok(event.into()),
    }
}

/// Returns bytes that are not UTF-8.
pub(crate) fn content(length: usize) -> Bytes {
    (0..length).map(|position| (position % 251) as u8).collect()
}

/// Sends a response before the runtime does, which cannot respond twice.
fn respond_by_hand(request_id: &str, response: &str) -> io::Result<()> {
    let address = env::var("AWS_LAMBDA_RUNTIME_API").map_err(io::Error::other)?;
    let mut stream = TcpStream::connect(&address)?;
    write!(
        stream,
        "POST /2018-06-01/runtime/invocation/{request_id}/response HTTP/1.1\r\n\
         Host: {address}\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{response}",
        response.len(),
    )?;
    let mut reply = String::new();
    stream.read_to_string(&mut reply)?;
    if reply.starts_with("HTTP/1.1 202 ") { Ok(()) } else { Err(io::Error::other(reply)) }
}

pub(crate) const FAILURE: &str = "Function.NoFruit";

pub(crate) const MESSAGE: &str = "no such fruit";

pub(crate) const CHUNKS: [&str; 3] = ["apple", "\0\0\0\0\0\0\0\0", "pear"];

/// The number of concurrent calls that `meet` waits for.
pub(crate) const CONCURRENCY: usize = 4;

static MEETING: LazyLock<Barrier> = LazyLock::new(|| Barrier::new(CONCURRENCY));
