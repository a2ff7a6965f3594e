//! The ways to read, each over a connection that is kept alive from body to body.

use std::ops::Deref;
use std::time::Duration;

use bytes::{BufMut, Bytes};
use http::{Method, Response};
use http_body_util::BodyExt;
use presized::{BufferPool, LengthHistory, Reader};
use presized_support::client::{Client, Endpoint, Error};
use presized_support::server::Protocol;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::case::{Job, Way};

/// A connection, and the way in which bodies are read from it.
pub(crate) struct Connection {
    way: Way,
    path: String,
    transport: Transport,
    /// The memory of the ways that have one buffer for all bodies.
    buffer: Vec<u8>,
    reader: Reader,
}

enum Transport {
    Hyper(Client),
    Reqwest { client: reqwest::Client, url: reqwest::Url },
    Socket { stream: TcpStream, head: Vec<u8> },
}

/// The content of one body.
pub(crate) enum Content {
    Bytes(Bytes),
    Vec(Vec<u8>),
}

impl Deref for Content {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Bytes(content) => content,
            Self::Vec(content) => content,
        }
    }
}

impl Connection {
    pub(crate) async fn open(job: &Job) -> Result<Self, Error> {
        let Job { case, endpoint } = job;
        let path = case.transport.path(case.length);
        let transport = match case.way {
            Way::Reqwest | Way::ReqwestPresized => {
                Transport::Reqwest { client: reqwest(endpoint)?, url: endpoint.url(&path).parse()? }
            }
            Way::Read | Way::ReadInto => {
                let stream = TcpStream::connect(endpoint.address).await?;
                stream.set_nodelay(true)?;
                Transport::Socket { stream, head: Vec::with_capacity(HEAD_MAX) }
            }
            _ => Transport::Hyper(Client::connect(endpoint).await?),
        };
        let (way, buffer, reader) = (case.way, Vec::new(), reader(case.way));
        Ok(Self { way, path, transport, buffer, reader })
    }

    /// Requests one body and reads it.
    pub(crate) async fn read(&mut self) -> Result<Content, Error> {
        Ok(match &mut self.transport {
            Transport::Hyper(client) => {
                let response = client.get(&self.path).await?;
                match self.way {
                    Way::Collect => {
                        Content::Bytes(response.into_body().collect().await?.to_bytes())
                    }
                    Way::AppendTo => {
                        let mut buffer = std::mem::take(&mut self.buffer);
                        buffer.clear();
                        let collect = self.reader.response(&Method::GET, response);
                        collect.append_to(&mut buffer).await?;
                        Content::Vec(buffer)
                    }
                    _ => {
                        Content::Bytes(self.reader.response(&Method::GET, response).bytes().await?)
                    }
                }
            }
            Transport::Reqwest { client, url } => {
                let response = client.get(url.clone()).send().await?;
                Content::Bytes(match self.way {
                    Way::Reqwest => response.bytes().await?,
                    _ => {
                        let response = Response::from(response);
                        self.reader.response(&Method::GET, response).bytes().await?
                    }
                })
            }
            Transport::Socket { stream, head } => {
                let buffer = std::mem::take(&mut self.buffer);
                Content::Vec(exchange(stream, &self.path, head, buffer).await?)
            }
        })
    }

    /// Frees the content, or keeps its memory for the next body.
    pub(crate) fn release(&mut self, content: Content) {
        match content {
            Content::Vec(buffer) if self.way != Way::Read => self.buffer = buffer,
            _ => {}
        }
    }

    /// Closes the connection and frees its memory.
    pub(crate) async fn close(self) {
        match self.transport {
            Transport::Hyper(client) => client.close().await,
            Transport::Reqwest { client, .. } => {
                drop(client);
                // Its connection is a task that cannot be awaited.
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            Transport::Socket { .. } => {}
        }
    }
}

fn reader(way: Way) -> Reader {
    let (pool, history) = (BufferPool::new(128 << 20), LengthHistory::new());
    // The server is trusted: the benchmark chooses the lengths.
    let reader = Reader::new(u64::MAX);
    // With 72 MiB a body of 64 MiB is one reservation.
    let eager = reader.clone().eager(72 << 20);
    match way {
        Way::Eager => reader.eager(64 << 20),
        Way::Pool => eager.pool(&pool),
        Way::History => eager.history(&history),
        Way::PoolHistory => eager.pool(&pool).history(&history),
        _ => reader,
    }
}

fn reqwest(endpoint: &Endpoint) -> Result<reqwest::Client, Error> {
    let mut builder =
        reqwest::Client::builder().no_proxy().tls_backend_preconfigured(endpoint.tls()?);
    if endpoint.protocol == Protocol::Http2 {
        builder = builder.http2_prior_knowledge();
    }
    Ok(builder.build()?)
}

/// The capacity for a response head, which is larger than any head of these servers.
const HEAD_MAX: usize = 4096;

/// The lower bound: reads the head into memory of its own, and the content with read(2) calls
/// into its final place.
async fn exchange(
    stream: &mut TcpStream,
    path: &str,
    head: &mut Vec<u8>,
    mut content: Vec<u8>,
) -> Result<Vec<u8>, Error> {
    stream.write_all(format!("GET {path} HTTP/1.1\r\nhost: localhost\r\n\r\n").as_bytes()).await?;
    head.clear();
    let end = loop {
        if stream.read_buf(&mut head.limit(HEAD_MAX)).await? == 0 {
            return Err("the server closed the connection".into());
        }
        if let Some(end) = head.windows(4).position(|window| window == b"\r\n\r\n") {
            break end + 4;
        }
    };
    let fields = std::str::from_utf8(&head[..end])?;
    let length = fields.lines().find_map(|line| line.strip_prefix("content-length: "));
    let length = length.ok_or("the response has no content-length")?.parse()?;
    content.clear();
    content.reserve_exact(length);
    content.extend_from_slice(&head[end..]);
    while content.len() < length {
        let missing = length - content.len();
        if stream.read_buf(&mut (&mut content).limit(missing)).await? == 0 {
            return Err("the server closed the connection".into());
        }
    }
    Ok(content)
}
