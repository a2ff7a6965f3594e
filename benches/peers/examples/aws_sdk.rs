//! Calls a function of AWS Lambda by the SDK, and refuses responses above a limit.
//!
//! `cargo run --example aws_sdk -- NAME LIMIT [PAYLOAD]`

use std::error::Error;

use aws_config::BehaviorVersion;
use aws_sdk_lambda::primitives::Blob;
use aws_sdk_lambda::{Client, config};
use presized::{BufferPool, Reader};
use presized_aws_sdk::Interceptor;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let usage = "usage: aws_sdk NAME LIMIT [PAYLOAD]";
    let function = arguments.next().ok_or(usage)?;
    let limit = arguments.next().ok_or(usage)?.parse()?;
    let payload = arguments.next().unwrap_or_default();

    let shared = aws_config::load_defaults(BehaviorVersion::latest()).await;
    let interceptor = Interceptor::new(Reader::new(limit).pool(&BufferPool::new(64 << 20)));
    let config = config::Builder::from(&shared).interceptor(interceptor).build();
    let client = Client::from_conf(config);

    let call = client.invoke().function_name(function).payload(Blob::new(payload));
    match call.send().await {
        Ok(output) => {
            let payload = output.payload.map(Blob::into_inner).unwrap_or_default();
            println!("{}", String::from_utf8_lossy(&payload));
            Ok(())
        }
        Err(error) => {
            let refused =
                error.source().and_then(|cause| cause.downcast_ref::<presized_aws_sdk::Error>());
            match refused {
                Some(refused) if refused.is_too_large() => Err(refused.to_string().into()),
                _ => Err(error.into()),
            }
        }
    }
}
