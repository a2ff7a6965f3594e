//! Code as a generator emits it, and what a service can answer: the response side of Smithy's
//! protocol tests of payloads and errors, and answers that no service should give.
//!
//! What runs is the code of `examples/generated_client`, and in `service` the same for the
//! operations of the protocol tests.

mod bad_answers;
mod errors;
mod example;
mod memory;
mod operations;
mod payloads;
mod service;

use http::Response;
use presized_support::ledger::Ledger;
use presized_support::mock::{Mock, Step};

/// Counts in `memory`.
#[global_allocator]
static LEDGER: Ledger = Ledger;

const LIMIT: u64 = 1 << 20;

/// How an answer arrives, which must not make a difference.
#[derive(Clone, Copy, Debug)]
enum Framing {
    /// In one frame, of a length that is declared.
    Whole,
    /// Byte by byte, with pauses, and no word about the length.
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
