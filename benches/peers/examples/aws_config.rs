//! Calls a function of AWS Lambda with the settings of `aws-config`, such as the credentials of a
//! profile or of a container.
//!
//! `cargo run --example aws_config -- NAME [PAYLOAD]`

use std::error::Error;

use aws_config::BehaviorVersion;
use presized_lambda_invoke::ClientBuilder;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let function = arguments.next().ok_or("usage: aws_config NAME [PAYLOAD]")?;
    let payload = arguments.next().unwrap_or_default();

    let config = aws_config::load_defaults(BehaviorVersion::latest()).await;
    // Proxies and traces are not among the settings of `aws-config`.
    let client = ClientBuilder::from_conf(&config).environment().build()?;

    println!("{}", client.invoke(function).payload(payload).send().await?.text()?);
    Ok(())
}
