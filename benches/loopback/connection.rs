//! The readers, each over a connection that is kept alive from body to body.

use std::ops::Deref;
use std::time::Duration;

use bytes::{BufMut, Bytes};
use http::Method;
use http_body_util::BodyExt;
use presized::{BufferPool, LengthHistory, ResponseExt};
use presized_support::client::{Client, Endpoint, Error};
use presized_support::server::Protocol;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::case::{Errand, Reader};

/// A connection, and the way in which bodies are read from it.
pub(crate) struct Connection {
    reader: Reader,
    path: String,
    transport: Transport,
    /// The memory of the readers that have one for all bodies.
    buffer: Vec<u8>,
    pool: BufferPool,
    history: LengthHistory,
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

/// Of the readers that have a limit: the lengths are those of the benchmark.
const LIMIT: u64 = u64::MAX;

impl Connection {
    pub(crate) async fn open(errand: &Errand) -> Result<Self, Error> {
        let Errand { case, endpoint } = errand;
        let path = case.transport.path(case.length);
        let transport = match case.reader {
            Reader::Reqwest | Reader::ReqwestPresized => {
                Transport::Reqwest { client: reqwest(endpoint)?, url: endpoint.url(&path).parse()? }
            }
            Reader::Read | Reader::ReadInto => {
                let stream = TcpStream::connect(endpoint.address).await?;
                stream.set_nodelay(true)?;
                Transport::Socket { stream, head: Vec::with_capacity(HEAD_MAX) }
            }
            _ => Transport::Hyper(Client::connect(endpoint).await?),
        };
        Ok(Self {
            reader: case.reader,
            path,
            transport,
            buffer: Vec::new(),
            pool: BufferPool::new(128 << 20),
            history: LengthHistory::new(),
        })
    }

    /// Requests one body and reads it.
    pub(crate) async fn read(&mut self) -> Result<Content, Error> {
        Ok(match &mut self.transport {
            Transport::Hyper(client) => {
                let response = client.get(&self.path).await?;
                match self.reader {
                    Reader::Collect => {
                        Content::Bytes(response.into_body().collect().await?.to_bytes())
                    }
                    Reader::IntoBuf => {
                        let mut buffer = std::mem::take(&mut self.buffer);
                        buffer.clear();
                        let presized = response.collect_presized(&Method::GET, LIMIT);
                        presized.append_to(&mut buffer).await?;
                        Content::Vec(buffer)
                    }
                    _ => {
                        let presized = response.collect_presized(&Method::GET, LIMIT);
                        Content::Bytes(match self.reader {
                            Reader::Eager => presized.eager(64 << 20).bytes().await?,
                            // 64 MiB is one reservation for these, too.
                            Reader::Pool => {
                                presized.eager(72 << 20).pool(&self.pool).bytes().await?
                            }
                            Reader::History => {
                                presized.eager(72 << 20).history(&self.history).bytes().await?
                            }
                            Reader::PoolHistory => {
                                let presized = presized.pool(&self.pool).history(&self.history);
                                presized.eager(72 << 20).bytes().await?
                            }
                            _ => presized.bytes().await?,
                        })
                    }
                }
            }
            Transport::Reqwest { client, url } => {
                let response = client.get(url.clone()).send().await?;
                Content::Bytes(match self.reader {
                    Reader::Reqwest => response.bytes().await?,
                    _ => {
                        let response = http::Response::from(response);
                        response.collect_presized(&Method::GET, LIMIT).bytes().await?
                    }
                })
            }
            Transport::Socket { stream, head } => {
                let buffer = std::mem::take(&mut self.buffer);
                Content::Vec(exchange(stream, &self.path, head, buffer).await?)
            }
        })
    }

    /// Frees the content, or keeps its memory for the next.
    pub(crate) fn release(&mut self, content: Content) {
        match content {
            Content::Vec(buffer) if self.reader != Reader::Read => self.buffer = buffer,
            _ => {}
        }
    }

    /// Ends the connection and frees what it holds.
    pub(crate) async fn close(self) {
        match self.transport {
            Transport::Hyper(client) => client.close().await,
            Transport::Reqwest { client, .. } => {
                drop(client);
                // Its connection is a task that cannot be waited for.
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            Transport::Socket { .. } => {}
        }
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

/// More than a head of these servers has.
const HEAD_MAX: usize = 4096;

/// The floor: the head into memory of its own, then read(2) after read(2) to where the
/// content is to be, and nothing else.
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
            return Err("the server hung up".into());
        }
        if let Some(end) = head.windows(4).position(|window| window == b"\r\n\r\n") {
            break end + 4;
        }
    };
    let fields = std::str::from_utf8(&head[..end])?;
    let length = fields.lines().find_map(|line| line.strip_prefix("content-length: "));
    let length = length.ok_or("the server declared no length")?.parse()?;
    content.clear();
    content.reserve_exact(length);
    content.extend_from_slice(&head[end..]);
    while content.len() < length {
        let missing = length - content.len();
        if stream.read_buf(&mut (&mut content).limit(missing)).await? == 0 {
            return Err("the server hung up".into());
        }
    }
    Ok(content)
}
