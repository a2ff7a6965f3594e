//! Requests as a scripted server reads them.

use std::io;

use tokio::io::AsyncReadExt;

use super::Socket;
use crate::chunked;

/// A request as it was read.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// Request line and headers, up to and without the empty line.
    pub head: String,
    /// The content, without the chunked coding.
    pub body: Vec<u8>,
    /// The body as received: chunks with their sizes, and trailers.
    pub wire: Vec<u8>,
    /// The number of the connection, from 0.
    pub connection: usize,
}

impl Recorded {
    /// Returns the path and query of the request line.
    pub fn target(&self) -> &str {
        self.head.split(' ').nth(1).unwrap_or_default()
    }

    /// Returns the value of Content-Length, or 0.
    pub fn content_length(&self) -> usize {
        self.header("content-length").and_then(|value| value.parse().ok()).unwrap_or(0)
    }

    /// Returns the value of a header field.
    pub fn header(&self, name: &str) -> Option<&str> {
        field(self.head.lines().skip(1), name)
    }

    /// Returns the value of a trailer field.
    pub fn trailer(&self, name: &str) -> Option<&str> {
        let trailers = chunked::split(&self.wire)?.trailers;
        field(std::str::from_utf8(trailers).ok()?.lines(), name)
    }
}

/// Returns the head of the next request, or `None` if the client closed the connection. Bytes after
/// the head stay in `read`.
pub(super) async fn next_head<S: Socket>(
    stream: &mut S,
    read: &mut Vec<u8>,
    connection: usize,
) -> io::Result<Option<Recorded>> {
    let head_len = loop {
        if let Some(end) = read.windows(4).position(|window| window == b"\r\n\r\n") {
            break end;
        }
        if stream.read_buf(read).await? == 0 {
            return Ok(None);
        }
    };
    let head = String::from_utf8_lossy(&read[..head_len]).into_owned();
    let rest = read.split_off(head_len + 4);
    *read = rest;
    Ok(Some(Recorded { head, body: Vec::new(), wire: Vec::new(), connection }))
}

/// Reads the body of a request, and returns whether it is complete. Bytes after the request stay in
/// `read`.
pub(super) async fn read_body<S: Socket>(
    stream: &mut S,
    read: &mut Vec<u8>,
    request: &mut Recorded,
) -> io::Result<bool> {
    let is_chunked = request.header("transfer-encoding") == Some("chunked");
    let length = request.content_length();
    let (content, end) = loop {
        let found = if is_chunked {
            chunked::split(read).map(|body| (body.content, read.len() - body.rest.len()))
        } else {
            read.get(..length).map(|body| (body.to_vec(), length))
        };
        match found {
            Some(found) => break found,
            None if stream.read_buf(read).await? == 0 => return Ok(false),
            None => {}
        }
    };
    let rest = read.split_off(end);
    request.wire = std::mem::replace(read, rest);
    request.body = content;
    Ok(true)
}

fn field<'a>(mut lines: impl Iterator<Item = &'a str>, name: &str) -> Option<&'a str> {
    lines.find_map(|line| {
        let (found, value) = line.split_once(':')?;
        found.eq_ignore_ascii_case(name).then(|| value.trim())
    })
}
