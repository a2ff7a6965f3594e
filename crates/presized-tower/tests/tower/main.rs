//! Tests of the layer: alone, and in stacks with hyper-util, tower-http, axum and tonic.

mod grpc;
mod layer;
mod memory;
mod requests;
mod service;
mod stacks;
mod streamed;

use std::convert::Infallible;
use std::error::Error;
use std::sync::Mutex;

use bytes::Bytes;
use http::{HeaderMap, Request, Response};
use http_body_util::Empty;
use presized::{BodyError, CollectError};
use presized_support::chain::chain;
use presized_support::ledger::Ledger;
use presized_support::mock::Mock;
use tower::{Service, service_fn};

/// Counts the allocations of the tests in `memory`.
#[global_allocator]
static LEDGER: Ledger = Ledger;

/// Returns a service that responds to one request with `response`.
fn once(
    response: Response<Mock>,
) -> impl Service<Request<Empty<Bytes>>, Response = Response<Mock>, Error = Infallible, Future: Send>
+ Send {
    let response = Mutex::new(Some(response));
    service_fn(move |_| {
        let response = response.lock().unwrap().take().expect("a single request");
        async { Ok(response) }
    })
}

fn get() -> http::request::Builder {
    Request::get("/")
}

fn trailers() -> HeaderMap {
    [("x-checksum".parse().unwrap(), "7".parse().unwrap())].into_iter().collect()
}

/// Returns the error of the reader among the sources of `error`.
fn read_error<'a>(error: &'a (dyn Error + 'static)) -> &'a CollectError<BodyError> {
    chain(error).find_map(|error| error.downcast_ref()).expect("a CollectError among the sources")
}
