use std::time::Duration;

use presized_lambda_invoke::Client;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Reads AWS_REGION, AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN.
    let client = Client::from_env()?;
    let call = client.invoke("orders:live").json(&["pear"]).timeout(Duration::from_secs(10));
    let invocation = call.send().await?;
    // A function that ran and failed is not an error of the call.
    match &invocation.function_error {
        None => println!("total: {}", invocation.json::<u64>()?),
        Some(error) => println!("{error}"),
    }
    Ok(())
}
