//! The three ways to read a response body that are compared.

use std::fmt;
use std::str::FromStr;

use bytes::Bytes;
use http::{Method, Response};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use presized::{BufferPool, Reader};

use crate::Error;

/// The longest body that is accepted, in bytes.
const LIMIT: u64 = 64 << 20;

/// The most memory that the pool keeps while no body uses it, in bytes.
const IDLE: u64 = 64 << 20;

/// A way to read a response body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    Collect,
    Presized,
    Pooled,
}

/// Reads the whole body of the response to a GET request: with presized if there is a reader.
pub(crate) async fn read(
    reader: Option<&Reader>,
    response: Response<Incoming>,
) -> Result<Bytes, Error> {
    Ok(match reader {
        Some(reader) => reader.response(&Method::GET, response).await?,
        None => response.into_body().collect().await?.to_bytes(),
    })
}

impl Way {
    pub(crate) const ALL: [Self; 3] = [Self::Collect, Self::Presized, Self::Pooled];

    /// Returns the reader that all bodies of a client share, or `None` for a way without presized.
    pub(crate) fn reader(self) -> Option<Reader> {
        match self {
            Self::Collect => None,
            Self::Presized => Some(Reader::new(LIMIT)),
            Self::Pooled => Some(Reader::new(LIMIT).pool(&BufferPool::new(IDLE))),
        }
    }
}

impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Collect => "collect().to_bytes()",
            Self::Presized => "presized",
            Self::Pooled => "presized + pool",
        })
    }
}

impl FromStr for Way {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        let way = Self::ALL.into_iter().find(|way| way.to_string() == name);
        way.ok_or_else(|| format!("unknown way to read: {name}").into())
    }
}

#[cfg(test)]
mod tests {
    use tokio::runtime;

    use super::*;
    use crate::client::Client;
    use crate::content::Content;
    use crate::server::{self, Served};

    #[test]
    fn every_way_reads_what_the_server_sent() -> Result<(), Error> {
        let server = server::start()?;
        let runtime = runtime::Builder::new_current_thread().enable_io().build()?;
        for way in Way::ALL {
            for declared in [Some(1 << 20), None] {
                let served = Served { declared, sent: 1 << 20 };
                let reader = way.reader();
                let body = runtime.block_on(async {
                    let response = Client::connect(server).await?.get(served).await?;
                    read(reader.as_ref(), response).await
                })?;
                Content::new().check(&body, served)?;
            }
        }
        Ok(())
    }
}
