//! Tests of what a whole call allocates: request, head, content and output.

use std::convert::Infallible;
use std::future::ready;

use bytes::Bytes;
use http::{Request, Response};
use presized::{BufferPool, Reader};
use presized_support::drive::drive;
use presized_support::frames::Frames;
use presized_support::ledger::{Ledger, Spent};

use generated_client::s3::{self, GetBucketPolicyInput};
use generated_client::schemas::{self, GetCodeBindingSourceInput};
use generated_client::{Config, Transport};

const MIB: usize = 1 << 20;

/// The sizes of the benchmark, and sizes next to them.
const LENGTHS: [usize; 6] = [MIB, 6 * MIB, 12 * MIB - 3000, 12 * MIB, 12 * MIB + 1, 16 * MIB];

/// The most bytes that are allocated beside the content: for the target, the head and the input.
const OVERHEAD: u64 = 2 << 10;

/// Returns a transport that responds with this content, in frames that are not allocated.
fn transport(content: &Bytes) -> impl Transport {
    move |_: Request<Bytes>| {
        let response = Response::builder().header("content-length", content.len());
        let response = response.body(Frames::of(content.clone()));
        ready(Ok::<_, Infallible>(response.expect("a valid header field")))
    }
}

#[test]
fn call_allocates_text_payload_once() {
    let _alone = Ledger::alone();
    for length in LENGTHS {
        let content = Bytes::from(vec![b'a'; length]);
        let s3 = s3::Client::new(Config::new(transport(&content), ENDPOINT, length as u64));
        let (policy, spent) = Ledger::measure(|| {
            let input = GetBucketPolicyInput::new("bucket");
            drive(s3.get_bucket_policy(input)).unwrap().policy.unwrap()
        });
        assert!(policy.as_bytes() == content, "{length}");
        assert_eq!(policy.capacity(), length);
        assert_once(spent, length);
    }
}

#[test]
fn call_allocates_blob_payload_once() {
    let _alone = Ledger::alone();
    for length in LENGTHS {
        let content = Bytes::from(vec![0; length]);
        let schemas =
            schemas::Client::new(Config::new(transport(&content), ENDPOINT, length as u64));
        let (body, spent) = Ledger::measure(|| {
            let input = GetCodeBindingSourceInput::new("registry", "schema", "Java8");
            drive(schemas.get_code_binding_source(input)).unwrap().body.unwrap()
        });
        assert!(body == content, "{length}");
        assert_once(spent, length);
    }
}

#[test]
fn call_allocates_no_blob_payload_with_warm_pool() {
    let _alone = Ledger::alone();
    let content = Bytes::from(vec![0; 12 * MIB]);
    let reader = Reader::new(12 << 20).pool(&BufferPool::new(64 << 20));
    let config = Config::new(transport(&content), ENDPOINT, reader);
    let schemas = schemas::Client::new(config);
    let call = || {
        let input = GetCodeBindingSourceInput::new("registry", "schema", "Java8");
        drive(schemas.get_code_binding_source(input)).unwrap().body.unwrap()
    };
    drop(call());
    let (body, spent) = Ledger::measure(call);
    assert!(body == content);
    assert_eq!(spent.large, 0);
    assert!(spent.bytes <= OVERHEAD, "{spent:?}");
}

#[track_caller]
fn assert_once(spent: Spent, length: usize) {
    assert_eq!(spent.large, 1, "{length}: {spent:?}");
    assert!(spent.bytes <= length as u64 + OVERHEAD, "{length}: {spent:?}");
    assert!(spent.peak <= length as u64 + OVERHEAD, "{length}: {spent:?}");
}

const ENDPOINT: &str = "http://localhost";
