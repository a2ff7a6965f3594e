//! The two operations, and the ways to get a payload into their output.

use std::sync::LazyLock;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::BodyExt;
use presized::BufferPool;
use presized::Reader;
use presized_support::drive::drive;
use presized_support::frames::Frames;

use crate::sdk::s3::{self, GetBucketPolicyInput};
use crate::sdk::schemas::{self, GetCodeBindingSourceInput};
use crate::sdk::{Config, Transport};

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

/// How the payload gets from the body into the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// One `Vec` of the right size, and a copy of every frame: the floor.
    Floor,
    Presized,
    /// presized, with a pool that is warm. Text takes nothing from it.
    Pooled,
    /// `collect()`, `to_bytes()`, and a copy into the output.
    Collect,
    /// A `Vec` that grows by itself, and becomes the output.
    Growing,
    /// What the SDK for Go did before it reserved by Content-Length (aws/aws-sdk-go-v2#1565).
    ReadAll,
}

pub(crate) const WAYS: [Way; 6] =
    [Way::Floor, Way::Presized, Way::Pooled, Way::Collect, Way::Growing, Way::ReadAll];

impl Way {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Floor => "floor: one Vec",
            Self::Presized => "presized",
            Self::Pooled => "presized, warm pool",
            Self::Collect => "collect, to_bytes, copy",
            Self::Growing => "Vec that doubles",
            Self::ReadAll => "as Go's io.ReadAll",
        }
    }

    pub(crate) fn applies_to(self, operation: Operation) -> bool {
        self != Self::Pooled || operation == Operation::GetCodeBindingSource
    }
}

/// What an operation gives.
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
        assert!(right, "wrong content from {operation:?}");
    }
}

/// One client of each service, and one with a pool.
pub(crate) struct Clients<T> {
    s3: s3::Client<T>,
    schemas: schemas::Client<T>,
    pooled: schemas::Client<T>,
}

impl<T: Transport + Clone> Clients<T> {
    pub(crate) fn new(transport: T) -> Self {
        let config = Config::new(transport, ENDPOINT, LENGTH as u64);
        let pool = BufferPool::new(2 * LENGTH);
        Self {
            s3: s3::Client::new(config.clone()),
            schemas: schemas::Client::new(config.clone()),
            pooled: schemas::Client::new(config.reader(Reader::new().pool(&pool))),
        }
    }

    pub(crate) fn call(&self, operation: Operation, way: Way) -> Output {
        let read = match way {
            Way::Presized | Way::Pooled => return self.call_presized(operation, way),
            Way::Floor => floor,
            Way::Collect => collect,
            Way::Growing => growing,
            Way::ReadAll => read_all,
        };
        match operation {
            Operation::GetBucketPolicy => {
                let request = s3::serialize_get_bucket_policy(ENDPOINT, &policy());
                let content = read(answer(&request.expect("the input is right")));
                // Go's strings have memory of their own, and so has one that is made of `Bytes`.
                let content = if way == Way::ReadAll { content.to_vec() } else { content };
                Output::Text(String::from_utf8(content).expect("the content is text"))
            }
            Operation::GetCodeBindingSource => {
                let request = schemas::serialize_get_code_binding_source(ENDPOINT, &source());
                Output::Blob(read(answer(&request.expect("the input is right"))).into())
            }
        }
    }

    fn call_presized(&self, operation: Operation, way: Way) -> Output {
        match operation {
            Operation::GetBucketPolicy => {
                let output = drive(self.s3.get_bucket_policy(policy()));
                Output::Text(output.expect("the answer is right").policy.expect("it has a payload"))
            }
            Operation::GetCodeBindingSource => {
                let client = if way == Way::Pooled { &self.pooled } else { &self.schemas };
                let output = drive(client.get_code_binding_source(source()));
                Output::Blob(output.expect("the answer is right").body.expect("it has a payload"))
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

/// What either service says, by hyper as far as a client can tell.
pub(crate) fn answer(request: &Request<Bytes>) -> Response<Frames> {
    let (media_type, content) = match request.uri().query() {
        Some("policy") => ("application/json", &*TEXT),
        _ => ("application/octet-stream", &*BLOB),
    };
    let response = Response::builder()
        .header("content-type", media_type)
        .header("content-length", content.len())
        .header("x-amzn-requestid", "b25f48e8-84fd-11e6-80d9-574e0c4664cb");
    response.body(Frames::of(content.clone())).expect("the head is right")
}

fn floor(response: Response<Frames>) -> Vec<u8> {
    let mut content = Vec::with_capacity(LENGTH);
    let mut body = response.into_body();
    while let Some(frame) = body.next_frame() {
        content.extend_from_slice(&frame);
    }
    content
}

fn collect(response: Response<Frames>) -> Vec<u8> {
    let collected = drive(response.into_body().collect());
    collected.expect("the body is right").to_bytes().to_vec()
}

fn growing(response: Response<Frames>) -> Vec<u8> {
    let mut content = Vec::new();
    let mut body = response.into_body();
    while let Some(frame) = body.next_frame() {
        content.extend_from_slice(&frame);
    }
    content
}

/// Reads as `io.ReadAll` of Go 1.18 to 1.25 does: from 512 bytes on, whenever the buffer is full,
/// into a new one that is larger by a quarter and a little, in pages of 8 KiB. That of Go 1.17
/// takes more in all, that of later ones less.
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

/// `growslice` of the Go runtime, without its classes of blocks below 32 KiB.
fn larger(capacity: usize) -> usize {
    let capacity = capacity + (capacity + 3 * 256) / 4;
    if capacity <= 32 << 10 { capacity } else { capacity.next_multiple_of(8 << 10) }
}
