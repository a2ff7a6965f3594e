//! A client, and the function that it calls for a response as bytes.

use std::ops::Deref;

use bytes::Bytes;
use presized::{BufferPool, Reader};
use presized_aws_sdk::Interceptor;
use presized_support::client::Error;
use presized_support::pattern;

use super::case::Job;
use super::{KIB, SIX_MIB, Way};
use crate::api;
use crate::server::{self, PAYLOAD};

#[derive(Clone)]
pub(super) struct Connection {
    client: Client,
    function: String,
    length: u64,
}

#[derive(Clone)]
enum Client {
    Sdk(aws_sdk_lambda::Client),
    Presized(presized_lambda_invoke::Client),
}

/// The payload of a response, in the type of the client.
pub(super) enum Payload {
    Vec(Vec<u8>),
    Bytes(Bytes),
}

impl Connection {
    pub(super) fn open(job: &Job) -> Result<Self, Error> {
        let Job { case, server } = job;
        let pool = BufferPool::new(128 << 20);
        // The same limit for all.
        let reader = Reader::new(SIX_MIB + KIB);
        let intercepted = |reader| {
            let config = api::sdk_config(server)?.interceptor(Interceptor::new(reader));
            Ok::<_, Error>(Client::Sdk(aws_sdk_lambda::Client::from_conf(config.build())))
        };
        let client = match case.way {
            Way::Sdk => Client::Sdk(api::sdk(server.clone())?),
            Way::Interceptor => intercepted(reader)?,
            Way::InterceptorPool => intercepted(reader.pool(&pool))?,
            Way::Presized => Client::Presized(api::presized(server).build()?),
            Way::PresizedPool => {
                Client::Presized(api::presized(server).reader(reader.pool(&pool)).build()?)
            }
        };
        Ok(Self { client, function: server::function(case.length), length: case.length })
    }

    pub(super) async fn call(&self) -> Result<Payload, Error> {
        match &self.client {
            Client::Sdk(client) => {
                let call = client.invoke().function_name(&self.function);
                let output = call.payload(PAYLOAD.to_vec().into()).send().await?;
                Ok(Payload::Vec(output.payload.ok_or("no payload")?.into_inner()))
            }
            Client::Presized(client) => {
                let response = client.invoke(&self.function).payload(PAYLOAD).send().await?;
                Ok(Payload::Bytes(response.payload))
            }
        }
    }

    /// Checks each byte of a response of the function.
    pub(super) fn check(&self, payload: &[u8]) -> Result<(), Error> {
        if pattern::is_whole(payload, self.length) {
            Ok(())
        } else {
            Err(format!("a response of {} bytes has wrong content", self.length).into())
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
