//! The clients, each as somebody calls who wants the answer as bytes.

use std::ops::Deref;

use bytes::Bytes;
use presized::BufferPool;
use presized_lambda_invoke;
use presized_peers::api;
use presized_peers::server::{self, PAYLOAD};
use presized_support::client::Error;
use presized_support::pattern;

use crate::case::{Caller, Errand};

/// A client and the function that it calls.
#[derive(Clone)]
pub(crate) struct Connection {
    client: Client,
    function: String,
    length: u64,
}

#[derive(Clone)]
enum Client {
    Sdk(aws_sdk_lambda::Client),
    Presized(invoke::Client),
}

/// The payload of an answer, as the client hands it over.
pub(crate) enum Payload {
    Vec(Vec<u8>),
    Bytes(Bytes),
}

impl Connection {
    pub(crate) fn open(errand: &Errand) -> Result<Self, Error> {
        let Errand { case, server } = *errand;
        let client = match case.caller {
            Caller::Sdk => Client::Sdk(api::sdk(server)),
            Caller::Presized => Client::Presized(api::presized(server).build()?),
            Caller::Pool => {
                let pool = BufferPool::new(128 << 20);
                Client::Presized(api::presized(server).pool(&pool).build()?)
            }
        };
        Ok(Self { client, function: server::function(case.length), length: case.length })
    }

    pub(crate) async fn call(&self) -> Result<Payload, Error> {
        match &self.client {
            Client::Sdk(client) => {
                let call = client.invoke().function_name(&self.function);
                let output = call.payload(PAYLOAD.to_vec().into()).send().await?;
                Ok(Payload::Vec(output.payload.ok_or("no payload")?.into_inner()))
            }
            Client::Presized(client) => {
                let answer = client.invoke(&self.function).payload(PAYLOAD).send().await?;
                Ok(Payload::Bytes(answer.payload))
            }
        }
    }

    /// Whether `payload` is what the function answers with, to the last byte.
    pub(crate) fn check(&self, payload: &[u8]) -> Result<(), Error> {
        if pattern::is_whole(payload, self.length) {
            Ok(())
        } else {
            Err(format!("wrong bytes in an answer of {}", self.length).into())
        }
    }
}

impl Deref for Payload {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Vec(payload) => payload,
            Self::Bytes(payload) => payload,
        }
    }
}
