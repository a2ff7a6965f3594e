//! The two operations, and the ways in which a payload gets into their output.

use std::sync::LazyLock;

use bytes::Bytes;
use generated_client::s3::{self, GetBucketPolicyInput};
use generated_client::schemas::{self, GetCodeBindingSourceInput};
use generated_client::{Config, Transport};
use http::{Request, Response};
use http_body_util::BodyExt;
use presized::{BufferPool, Reader};
use presized_support::drive::drive;
use presized_support::frames::Frames;

pub(crate) const LENGTH: usize = 12 << 20;
const ENDPOINT: &str = "http://localhost";

pub(crate) static TEXT: LazyLock<Bytes> = LazyLock::new(|| vec![b'a'; LENGTH].into());
pub(crate) static BLOB: LazyLock<Bytes> = LazyLock::new(|| vec![0; LENGTH].into());

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    GetBucketPolicy,
    GetCodeBindingSource,
}

pub(crate) const OPERATIONS: [Operation; 2] =
    [Operation::GetBucketPolicy, Operation::GetCodeBindingSource];

/// A way from the body into the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// The lower bound: one `Vec` of the right size, and a copy of each frame.
    Bound,
    Presized,
    /// presized with a warm pool. Text does not use the pool.
    Pooled,
    /// `collect()`, `to_bytes()`, and a copy into the output.
    Collect,
    /// A `Vec` that grows by doubling and becomes the output.
    Growing,
    /// `io.ReadAll`, which the SDK for Go used before aws/aws-sdk-go-v2#1565.
    ReadAll,
}

pub(crate) const WAYS: [Way; 6] =
    [Way::Bound, Way::Presized, Way::Pooled, Way::Collect, Way::Growing, Way::ReadAll];

impl Way {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Bound => "lower bound: one Vec",
            Self::Presized => "presized",
            Self::Pooled => "presized, warm pool",
            Self::Collect => "collect().to_bytes(), copy",
            Self::Growing => "Vec that doubles",
            Self::ReadAll => "Go's io.ReadAll",
        }
    }

    pub(crate) fn applies_to(self, operation: Operation) -> bool {
        self != Self::Pooled || operation == Operation::GetCodeBindingSource
    }
}

/// The output of an operation.
pub(crate) enum Output {
    Text(String),
    Blob(Bytes),
}

impl Output {
    pub(crate) fn check(&self, operation: Operation) {
        let right = match self {
            Self::Text(text) => operation == Operation::GetBucketPolicy && *text == *TEXT,
            Self::Blob(blob) => operation == Operation::GetCodeBindingSource && *blob == *BLOB,
        };
        assert!(right, "{operation:?} has wrong content");
    }
}

/// A client of each service, and one with a pool.
pub(crate) struct Clients<T> {
    s3: s3::Client<T>,
    schemas: schemas::Client<T>,
    pooled: schemas::Client<T>,
}

impl<T: Transport + Clone> Clients<T> {
    pub(crate) fn new(transport: T) -> Self {
        let limit = LENGTH as u64;
        let config = Config::new(transport.clone(), ENDPOINT, limit);
        let pool = BufferPool::new(2 * limit);
        let pooled = Config::new(transport, ENDPOINT, Reader::new(limit).pool(&pool));
        Self {
            s3: s3::Client::new(config.clone()),
            schemas: schemas::Client::new(config),
            pooled: schemas::Client::new(pooled),
        }
    }

    pub(crate) fn call(&self, operation: Operation, way: Way) -> Output {
        let read = match way {
            Way::Presized | Way::Pooled => return self.call_presized(operation, way),
            Way::Bound => bound,
            Way::Collect => collect,
            Way::Growing => growing,
            Way::ReadAll => read_all,
        };
        match operation {
            Operation::GetBucketPolicy => {
                let request = s3::serialize_get_bucket_policy(ENDPOINT, &policy());
                let content = read(respond(&request.expect("the input is valid")));
                // A string of Go is a copy of its bytes.
                let content = if way == Way::ReadAll { content.to_vec() } else { content };
                Output::Text(String::from_utf8(content).expect("the content is text"))
            }
            Operation::GetCodeBindingSource => {
                let request = schemas::serialize_get_code_binding_source(ENDPOINT, &source());
                Output::Blob(read(respond(&request.expect("the input is valid"))).into())
            }
        }
    }

    fn call_presized(&self, operation: Operation, way: Way) -> Output {
        match operation {
            Operation::GetBucketPolicy => {
                let output = drive(self.s3.get_bucket_policy(policy()));
                Output::Text(
                    output
                        .expect("the response is valid")
                        .policy
                        .expect("the output has a payload"),
                )
            }
            Operation::GetCodeBindingSource => {
                let client = if way == Way::Pooled { &self.pooled } else { &self.schemas };
                let output = drive(client.get_code_binding_source(source()));
                Output::Blob(
                    output.expect("the response is valid").body.expect("the output has a payload"),
                )
            }
        }
    }
}

fn policy() -> GetBucketPolicyInput {
    GetBucketPolicyInput::new("bucket")
}

fn source() -> GetCodeBindingSourceInput {
    GetCodeBindingSourceInput::new("registry", "schema", "Java8")
}

/// Returns the response of either service, with frames as from hyper.
pub(crate) fn respond(request: &Request<Bytes>) -> Response<Frames> {
    let (media_type, content) = match request.uri().query() {
        Some("policy") => ("application/json", &*TEXT),
        _ => ("application/octet-stream", &*BLOB),
    };
    let response = Response::builder()
        .header("content-type", media_type)
        .header("content-length", content.len())
        .header("x-amzn-requestid", "b25f48e8-84fd-11e6-80d9-574e0c4664cb");
    response.body(Frames::of(content.clone())).expect("the head is valid")
}

fn bound(response: Response<Frames>) -> Vec<u8> {
    let mut content = Vec::with_capacity(LENGTH);
    let mut body = response.into_body();
    while let Some(frame) = body.next_frame() {
        content.extend_from_slice(&frame);
    }
    content
}

fn collect(response: Response<Frames>) -> Vec<u8> {
    let collected = drive(response.into_body().collect());
    collected.expect("the body is complete").to_bytes().to_vec()
}

fn growing(response: Response<Frames>) -> Vec<u8> {
    let mut content = Vec::new();
    let mut body = response.into_body();
    while let Some(frame) = body.next_frame() {
        content.extend_from_slice(&frame);
    }
    content
}

/// Reads like `io.ReadAll` of Go 1.18 to 1.25. The buffer has 512 bytes at first. A full buffer is
/// copied into one that is a quarter and a little larger, in pages of 8 KiB. Go 1.17 allocates more
/// in all, and later versions allocate less.
fn read_all(response: Response<Frames>) -> Vec<u8> {
    let mut content = Vec::with_capacity(512);
    let mut body = response.into_body();
    while let Some(frame) = body.next_frame() {
        let mut frame = &frame[..];
        while !frame.is_empty() {
            let read = frame.len().min(content.capacity() - content.len());
            content.extend_from_slice(&frame[..read]);
            frame = &frame[read..];
            if content.len() == content.capacity() {
                let mut larger = Vec::with_capacity(larger(content.capacity()));
                larger.extend_from_slice(&content);
                content = larger;
            }
        }
    }
    content
}

/// Returns the next capacity by `growslice` of the Go runtime, without its size classes below 32 KiB.
fn larger(capacity: usize) -> usize {
    let capacity = capacity + (capacity + 3 * 256) / 4;
    if capacity <= 32 << 10 { capacity } else { capacity.next_multiple_of(8 << 10) }
}
