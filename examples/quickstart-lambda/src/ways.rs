//! One call, in the ways that are compared.

use bytes::{Buf, Bytes};
use http::Request;
use http_body_util::{BodyExt, Full};
use hyper_util::client::legacy::{self, connect::HttpConnector};
use hyper_util::rt::TokioExecutor;
use presized::{BufferPool, Reader};
use presized_lambda_emulator::Emulator;
use presized_lambda_invoke as invoke;

use crate::{CONTENT, Error};

/// How an answer is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// By hyper, as most do it. It does not even sign its requests, as Lambda would want.
    Collect,
    Presized,
    Pooled,
}

/// A client that reads answers in one of the ways.
pub(crate) enum Caller {
    Hyper { client: Box<legacy::Client<HttpConnector, Full<Bytes>>>, url: String },
    Presized(invoke::Client),
}

impl Way {
    pub(crate) const ALL: [Self; 3] = [Self::Collect, Self::Presized, Self::Pooled];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Collect => "collect().to_bytes()",
            Self::Presized => "presized",
            Self::Pooled => "presized, with a pool",
        }
    }

    /// A client of its own, which has no connection yet.
    pub(crate) fn caller(self, emulator: &Emulator) -> Result<Caller, Error> {
        Ok(match self {
            Self::Collect => {
                let mut connector = HttpConnector::new();
                connector.set_nodelay(true);
                let client = legacy::Client::builder(TokioExecutor::new()).build(connector);
                let url = format!("{}/2015-03-31/functions/report/invocations", emulator.url());
                Caller::Hyper { client: Box::new(client), url }
            }
            Self::Presized => Caller::Presized(emulator.client_builder().build()?),
            Self::Pooled => {
                let pool = BufferPool::new(8 << 20); // bytes that are kept when nobody has them
                Caller::Presized(
                    emulator
                        .client_builder()
                        .reader(Reader::new(invoke::RESPONSE_MAX).pool(&pool))
                        .build()?,
                )
            }
        })
    }
}

/// An answer, and how often each byte of it was copied after it was read from the socket.
pub(crate) struct Answer {
    pub(crate) payload: Bytes,
    pub(crate) copies: u32,
}

impl Caller {
    /// Asks `report` for so many bytes.
    pub(crate) async fn call(&self, size: usize) -> Result<Answer, Error> {
        match self {
            Self::Hyper { client, url } => {
                let request = Request::post(url).body(Full::from(size.to_string()))?;
                let answer = client.request(request).await?;
                let mut frames = answer.into_body().collect().await?.aggregate();
                let length = frames.remaining();
                // As `to_bytes` does it: several frames are joined, and one is handed on.
                let copies = u32::from(frames.chunk().len() < length);
                Ok(Answer { payload: frames.copy_to_bytes(length), copies })
            }
            Self::Presized(client) => {
                let answer = client.invoke("report").payload(size.to_string()).send().await?;
                let payload = answer.into_result()?.payload;
                // Each frame goes to its place, and stays there.
                Ok(Answer { payload, copies: 1 })
            }
        }
    }
}

impl Answer {
    /// Makes sure that the bytes are those of the function.
    pub(crate) fn check(&self, size: usize) -> Result<(), Error> {
        if self.payload == CONTENT.slice(..size) {
            Ok(())
        } else {
            Err(format!("wrong bytes in an answer of {size}").into())
        }
    }
}
