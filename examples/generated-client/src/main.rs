//! A generated client of two AWS operations, and a server on loopback that it talks to.
//!
//! `cargo run --example generated_client`
//!
//! `sdk` is what a code generator emits: see how `sdk/schemas.rs` reads a blob and `sdk/s3.rs` a
//! text. It runs over whatever carries HTTP; here that is hyper-util's client.

mod server;

use bytes::Bytes;
use http::Request;
use http_body_util::Full;
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use presized::BufferPool;
use presized::Reader;

use generated_client::s3::{self, GetBucketPolicyInput};
use generated_client::schemas::{self, GetCodeBindingSourceError, GetCodeBindingSourceInput};
use generated_client::{Config, SdkError};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let endpoint = server::start().await?;

    let client = Client::builder(TokioExecutor::new()).build_http::<Full<Bytes>>();
    let transport = move |request: Request<Bytes>| client.request(request.map(Full::new));
    let reader = Reader::new(16 << 20).pool(&BufferPool::new(64 << 20));
    let config = Config::new(transport, endpoint, reader);
    let s3 = s3::Client::new(config.clone());
    let schemas = schemas::Client::new(config.clone());

    let output = s3.get_bucket_policy(GetBucketPolicyInput::new("reports")).await?;
    println!("policy of reports: {}", output.policy.as_deref().unwrap_or("none"));

    let mut input = GetCodeBindingSourceInput::new("aws.events", "aws.ec2@StateChange", "Java8");
    input.schema_version = Some("1".to_owned());
    let output = schemas.get_code_binding_source(input).await?;
    println!("source for Java: {} bytes", output.body.map_or(0, |body| body.len()));

    // What the service refuses is an error of the operation's own type.
    match s3.get_bucket_policy(GetBucketPolicyInput::new("drafts")).await {
        Err(SdkError::Service(error)) => println!("policy of drafts: {error}"),
        other => println!("policy of drafts: {other:?}"),
    }
    let input = GetCodeBindingSourceInput::new("aws.events", "aws.ec2@StateChange", "Cobol");
    match schemas.get_code_binding_source(input).await {
        Err(SdkError::Service(GetCodeBindingSourceError::NotFound(error))) => {
            println!("source for Cobol: {error}");
        }
        other => println!("source for Cobol: {other:?}"),
    }

    // And what is too much is refused before it is read, with the numbers.
    let schemas =
        schemas::Client::new(Config { reader: config.reader.clone().limit(1 << 20), ..config });
    let input = GetCodeBindingSourceInput::new("aws.events", "aws.ec2@StateChange", "Java8");
    match schemas.get_code_binding_source(input).await {
        Err(SdkError::Payload(error)) => println!("source for Java, 1 MiB at most: {error}"),
        other => println!("source for Java, 1 MiB at most: {other:?}"),
    }
    Ok(())
}
