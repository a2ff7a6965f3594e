//! Responses that do not wait for the payload.

use std::time::Duration;

use bytes::Bytes;
use tokio::io::{self, AsyncReadExt, AsyncWriteExt};

use super::{Recorded, Socket};

/// A response to a request whose payload the server has not read to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Early {
    /// The bytes that are written after 16 KiB of the payload.
    pub response: Bytes,
    /// The end of the connection.
    pub end: End,
}

/// The end of a connection after an early response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// It drops the connection. The kernel resets it, because bytes are unread.
    Reset,
    /// It ends its side of the connection, and resets the connection later.
    HalfClose(Duration),
    /// It reads the rest of the payload later, and waits for the next request.
    Drain(Duration),
}

impl Early {
    /// Makes a response without a body.
    pub fn new(status: &str, code: &str, end: End) -> Self {
        let response = format!(
            "HTTP/1.1 {status}\r\nx-amzn-errortype: {code}\r\nContent-Length: 2\r\n\r\n{{}}"
        );
        Self { response: response.into(), end }
    }
}

/// Sends the response. `read` has the beginning of the payload. Returns whether another request can
/// follow, and the rest of the payload is then read.
pub(super) async fn respond<S: Socket>(
    stream: &mut S,
    request: &Recorded,
    read: &mut Vec<u8>,
    early: Early,
) -> io::Result<bool> {
    while read.len() < READ {
        if stream.read_buf(read).await? == 0 {
            return Ok(false);
        }
    }
    stream.write_all(&early.response).await?;
    stream.flush().await?;
    match early.end {
        End::Reset => Ok(false),
        End::HalfClose(pause) => {
            stream.shutdown().await?;
            tokio::time::sleep(pause).await;
            Ok(false)
        }
        End::Drain(pause) => {
            tokio::time::sleep(pause).await;
            let rest = request.content_length().saturating_sub(read.len());
            read.clear();
            let mut rest = stream.take(rest as u64);
            io::copy(&mut rest, &mut io::sink()).await?;
            Ok(rest.limit() == 0)
        }
    }
}

const READ: usize = 16 << 10;
