//! Calls a function of AWS Lambda with the credentials and the region of `aws-config`.
//!
//! `cargo run --example aws_config -- NAME [PAYLOAD]`

use std::error::Error;

use aws_config::BehaviorVersion;
use presized_lambda_invoke::Client;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let function = arguments.next().ok_or("usage: aws_config NAME [PAYLOAD]")?;
    let payload = arguments.next().unwrap_or_default();

    let config = aws_config::load_defaults(BehaviorVersion::latest()).await;
    let region = config.region().ok_or("no region")?;
    let credentials = config.credentials_provider().ok_or("no credentials")?;
    let client =
        Client::builder().environment().region(region.as_ref()).credentials(credentials).build()?;

    println!("{}", client.invoke(function).payload(payload).send().await?.text()?);
    Ok(())
}
