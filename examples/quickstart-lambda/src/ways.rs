//! The three ways to call a function that are compared.

use std::fmt;

use bytes::{Buf, Bytes};
use http::Request;
use http_body_util::{BodyExt, Full};
use hyper_util::client::legacy::{self, connect::HttpConnector};
use hyper_util::rt::TokioExecutor;
use presized::{BufferPool, Reader};
use presized_lambda_emulator::Emulator;
use presized_lambda_invoke::{Client, RESPONSE_MAX};

use crate::Error;
use crate::functions::{REPORT, content};

/// The most memory that the pool keeps while no response uses it, in bytes.
const IDLE: u64 = 8 << 20;

/// A way to read the response of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// With hyper-util alone. Its requests have no signature, which Lambda itself would require.
    Collect,
    Presized,
    Pooled,
}

/// A client that reads responses in one way.
pub(crate) enum Caller {
    Hyper { client: Box<legacy::Client<HttpConnector, Full<Bytes>>>, url: String },
    Presized(Client),
}

/// The response of a function.
pub(crate) struct Response {
    payload: Bytes,
    /// The number of copies of each byte after it was read from the socket.
    pub(crate) copies: u32,
}

impl Way {
    pub(crate) const ALL: [Self; 3] = [Self::Collect, Self::Presized, Self::Pooled];

    /// Creates a client. It opens a connection at its first call.
    pub(crate) fn caller(self, emulator: &Emulator) -> Result<Caller, Error> {
        Ok(match self {
            Self::Collect => {
                let mut connector = HttpConnector::new();
                connector.set_nodelay(true);
                let client = legacy::Client::builder(TokioExecutor::new()).build(connector);
                let url = format!("{}/2015-03-31/functions/{REPORT}/invocations", emulator.url());
                Caller::Hyper { client: Box::new(client), url }
            }
            Self::Presized => Caller::Presized(emulator.client_builder().build()?),
            Self::Pooled => {
                let reader = Reader::new(RESPONSE_MAX).pool(&BufferPool::new(IDLE));
                Caller::Presized(emulator.client_builder().reader(reader).build()?)
            }
        })
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

impl Caller {
    /// Calls the function for a response of `size` bytes.
    pub(crate) async fn call(&self, size: usize) -> Result<Response, Error> {
        match self {
            Self::Hyper { client, url } => {
                let request = Request::post(url).body(Full::from(size.to_string()))?;
                let response = client.request(request).await?;
                let mut frames = response.into_body().collect().await?.aggregate();
                let length = frames.remaining();
                // `to_bytes` does the same: it joins several frames, and returns a single one.
                let copies = u32::from(frames.chunk().len() < length);
                Ok(Response { payload: frames.copy_to_bytes(length), copies })
            }
            Self::Presized(client) => {
                let response = client.invoke(REPORT).payload(size.to_string()).send().await?;
                // Each frame is copied to its place in the buffer.
                Ok(Response { payload: response.into_result()?.payload, copies: 1 })
            }
        }
    }
}

impl Response {
    /// Fails if the bytes are not those that the function sent.
    pub(crate) fn check(&self, size: usize) -> Result<(), Error> {
        if self.payload == content(size) {
            Ok(())
        } else {
            let received = self.payload.len();
            Err(format!("{received} bytes are not the response of {size} bytes").into())
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::runtime;

    use super::*;
    use crate::functions;

    #[test]
    fn every_way_receives_what_the_function_sent() -> Result<(), Error> {
        let runtime =
            runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
        runtime.block_on(async {
            let emulator = functions::deploy().await?;
            for way in Way::ALL {
                for size in [0, 1 << 10, 1 << 20] {
                    way.caller(&emulator)?.call(size).await?.check(size)?;
                }
            }
            Ok(())
        })
    }
}
