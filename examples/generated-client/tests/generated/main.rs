//! Tests of generated code: the response side of Smithy's protocol tests of payloads and errors, and
//! responses that no service should send.
//!
//! They run the library of this package. `service` is the same for the operations of the protocol
//! tests.

mod bad_responses;
mod errors;
mod example;
mod memory;
mod operations;
mod payloads;
mod service;

use http::Response;
use presized_support::ledger::Ledger;
use presized_support::mock::{Mock, Step};

/// Counts the allocations of the tests in `memory`.
#[global_allocator]
static LEDGER: Ledger = Ledger;

const LIMIT: u64 = 1 << 20;

/// How a response arrives. The result must not depend on it.
#[derive(Clone, Copy, Debug)]
enum Framing {
    /// In one frame, with a declared length.
    Whole,
    /// In frames of one byte, with pauses, and without a declared length.
    Bytewise,
}

const FRAMINGS: [Framing; 2] = [Framing::Whole, Framing::Bytewise];

impl Framing {
    fn response(self, status: u16, headers: &[(&str, &str)], content: &str) -> Response<Mock> {
        match self {
            Self::Whole => {
                let length = content.len();
                let body = Mock::of([content]).exact(length as u64);
                let body = if content.is_empty() { body.end_stream() } else { body };
                let mut response = response(status, headers, body);
                response.headers_mut().insert("content-length", length.into());
                response
            }
            Self::Bytewise => {
                let steps = content.bytes().flat_map(|byte| {
                    [Step::Wait, Step::Data(bytes::Bytes::copy_from_slice(&[byte]))]
                });
                response(status, headers, Mock::new(steps))
            }
        }
    }
}

fn response<B>(status: u16, headers: &[(&str, &str)], body: B) -> Response<B> {
    let mut response = Response::builder().status(status);
    for (name, value) in headers {
        response = response.header(*name, *value);
    }
    response.body(body).unwrap()
}
