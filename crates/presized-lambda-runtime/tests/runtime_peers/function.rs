//! The function that the peers run: what it does is in the event.

use std::env;
use std::future::pending;
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::sync::LazyLock;
use std::time::Duration;

use bytes::Bytes;
use futures_util::stream;
use presized_lambda_runtime::{Answer, Context, ErrorReport};
use tokio::sync::Barrier;
use tokio::time::sleep;

/// Whatever is no command comes back.
pub(crate) async fn function(event: Bytes, context: Context) -> Result<Answer, ErrorReport> {
    let text = std::str::from_utf8(&event).unwrap_or_default();
    let (command, argument) = text.split_once(' ').unwrap_or((text, ""));
    match command {
        "answer" => Ok(content(argument.parse()?).into()),
        "context" => Ok(format!("{:?} {:?}", context.function_arn, context.client_context).into()),
        "fail" => Err(ErrorReport::new(FAILURE, MESSAGE)),
        "panic" => panic!("{MESSAGE}"),
        "stream" => Ok(Answer::stream(stream::iter(CHUNKS.map(Ok::<_, ErrorReport>)))),
        "broken" => {
            let end = Err(ErrorReport::new(FAILURE, MESSAGE));
            Ok(Answer::stream(stream::iter(CHUNKS.map(Ok).into_iter().chain([end]))))
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
            answer_by_hand(&context.request_id, "first")?;
            Ok("second".into())
        }
        _ => Ok(event.into()),
    }
}

/// Bytes that are no text.
pub(crate) fn content(length: usize) -> Bytes {
    (0..length).map(|position| (position % 251) as u8).collect()
}

/// Before the runtime does, which has no way to answer twice.
fn answer_by_hand(request_id: &str, answer: &str) -> io::Result<()> {
    let address = env::var("AWS_LAMBDA_RUNTIME_API").map_err(io::Error::other)?;
    let mut stream = TcpStream::connect(&address)?;
    write!(
        stream,
        "POST /2018-06-01/runtime/invocation/{request_id}/response HTTP/1.1\r\n\
         Host: {address}\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{answer}",
        answer.len(),
    )?;
    let mut response = String::new();
    stream.read_to_string(&mut response)?;
    if response.starts_with("HTTP/1.1 202 ") { Ok(()) } else { Err(io::Error::other(response)) }
}

pub(crate) const FAILURE: &str = "Function.NoFruit";

pub(crate) const MESSAGE: &str = "no such fruit";

pub(crate) const CHUNKS: [&str; 3] = ["apple", "\0\0\0\0\0\0\0\0", "pear"];

/// How many meet.
pub(crate) const AT_ONCE: usize = 4;

static MEETING: LazyLock<Barrier> = LazyLock::new(|| Barrier::new(AT_ONCE));
