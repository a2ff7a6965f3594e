//! Calls that fail, each with an error that tells why.

use futures_util::StreamExt;
use presized_lambda_invoke::Client;
use presized_support::ledger::{Ledger, Mark};
use presized_support::table;

use crate::functions::{FEED, REPORT};
use crate::{Error, MIB, chain};

/// Prints three calls and their errors.
pub(crate) async fn show(client: &Client) -> Result<(), Error> {
    function_error(client).await?;
    over_the_limit(client).await?;
    broken_stream(client).await
}

/// The response of a function that failed is its error report.
async fn function_error(client: &Client) -> Result<(), Error> {
    let response = client.invoke(REPORT).payload("six").send().await?;
    let error = response.function_error.ok_or("the call for \"six\" bytes must fail")?;
    println!("\nA function that fails, because the event is \"six\":");
    println!("    error   {error}");
    Ok(())
}

/// A response over the limit is refused before its body is read.
async fn over_the_limit(client: &Client) -> Result<(), Error> {
    let call = client.invoke(REPORT).payload((6 * MIB).to_string()).limit(MIB as u64);
    Ledger::count_this_thread(true);
    let mark = Mark::now();
    let result = call.send().await;
    let peak = mark.spent().peak;
    Ledger::count_this_thread(false);

    let error = result.err().ok_or("a response over the limit must be refused")?;
    println!("\nA response of 6 MiB with a limit of 1 MiB:");
    println!("    error   {}", chain(&error));
    println!("    memory  {} at most for the whole call", table::bytes(peak));
    Ok(())
}

/// A stream that fails after three chunks returns them, and then the error.
async fn broken_stream(client: &Client) -> Result<(), Error> {
    let mut stream = client.invoke_streaming(FEED).send().await?;
    let mut received = 0;
    let error = loop {
        match stream.next().await {
            Some(Ok(chunk)) => received += chunk.len() as u64,
            Some(Err(error)) => break error,
            None => return Err("the stream must fail".into()),
        }
    };
    let received = table::bytes(received);
    println!("\nA stream that fails after {received}, with status {}:", stream.status());
    println!("    error   {}", chain(&error));
    Ok(())
}
