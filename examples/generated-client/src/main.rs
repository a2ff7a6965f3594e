//! Calls two AWS operations with a generated client, against a server on the loopback address.
//!
//! `cargo run -p generated-client`
//!
//! The library of this package is the generated code. Its transport here is the client of hyper-util.

mod server;

use bytes::Bytes;
use http::Request;
use http_body_util::Full;
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use presized::{BufferPool, Reader};

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

    // An error of the service has the type of the operation.
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

    // A payload over the limit is refused before it is read.
    let schemas =
        schemas::Client::new(Config { reader: config.reader.clone().limit(1 << 20), ..config });
    let input = GetCodeBindingSourceInput::new("aws.events", "aws.ec2@StateChange", "Java8");
    match schemas.get_code_binding_source(input).await {
        Err(SdkError::Payload(error)) => println!("source for Java, limit 1 MiB: {error}"),
        other => println!("source for Java, limit 1 MiB: {other:?}"),
    }
    Ok(())
}
