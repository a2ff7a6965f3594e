//! Calls a function of AWS Lambda and writes its response.
//!
//! `cargo run --release -p invoke -- NAME [--payload JSON]`

mod args;
mod failure;
mod output;

use std::io::{self, IsTerminal};
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use bytes::Bytes;
use clap::Parser;
use futures_util::StreamExt;
use indicatif::{ProgressBar, ProgressStyle};
use presized_lambda_invoke::{Client, Invoke};

use self::args::Args;
use self::failure::{Failure, say};
use self::output::Output;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let args = Args::parse();
    tokio::select! {
        ended = run(&args) => match ended {
            Ok(()) => ExitCode::SUCCESS,
            Err(failure) => failure.report(),
        },
        // Dropping the future removes the unfinished file.
        Ok(()) = tokio::signal::ctrl_c() => {
            say("invoke: interrupted; the function may have run");
            ExitCode::from(130)
        }
    }
}

async fn run(args: &Args) -> Result<(), Failure> {
    // All local errors are found before the function runs.
    let client = client(args)?;
    let payload = args.payload.read()?;
    let output = Output::open(args.out.as_deref());
    let output = output.map_err(|error| {
        let path = args.out.as_deref().unwrap_or(Path::new("standard output"));
        Failure::call(&path.display().to_string(), &error)
    })?;

    match args.stream {
        false => invoke(args, &client, payload, output).await,
        true => stream(args, &client, payload, output).await,
    }
}

fn client(args: &Args) -> Result<Client, Failure> {
    let mut builder = Client::builder()
        .environment()
        .user_agent(concat!("presized-invoke/", env!("CARGO_PKG_VERSION")));
    if let Some(region) = &args.region {
        builder = builder.region(region);
    }
    if let Some(endpoint) = &args.endpoint {
        builder = builder.endpoint(endpoint);
    }
    if let Some(seconds) = args.timeout {
        builder = builder.timeout(Duration::from_secs(seconds));
    }
    Ok(builder.build()?)
}

/// Sets the options of both kinds of call.
fn prepared<R>(call: Invoke<R>, args: &Args, payload: Bytes) -> Invoke<R> {
    let mut call = call.payload(payload);
    if let Some(qualifier) = &args.qualifier {
        call = call.qualifier(qualifier);
    }
    if args.tail {
        call = call.tail_log();
    }
    call
}

/// Writes the response in one piece.
async fn invoke(
    args: &Args,
    client: &Client,
    payload: Bytes,
    mut output: Output,
) -> Result<(), Failure> {
    let mut call = prepared(client.invoke(&args.name), args, payload);
    if let Some(limit) = args.limit {
        call = call.limit(limit);
    }

    let spinner = bar("{spinner} {elapsed}");
    spinner.enable_steady_tick(TICK);
    let sent = call.send().await;
    spinner.finish_and_clear();

    let invocation = sent?;
    print_log(invocation.log_tail.as_deref());
    output.write(&invocation.into_result()?.payload).await?;
    output.finish()
}

/// Writes the response while it arrives.
async fn stream(
    args: &Args,
    client: &Client,
    payload: Bytes,
    mut output: Output,
) -> Result<(), Failure> {
    let call = prepared(client.invoke_streaming(&args.name), args, payload);

    // A response on the same terminal shows its own progress.
    let bar = match args.out.is_none() && io::stdout().is_terminal() {
        true => ProgressBar::hidden(),
        false => bar("{spinner} {bytes}, {bytes_per_sec}, {elapsed}"),
    };
    bar.enable_steady_tick(TICK);
    let copied = async {
        let mut response = call.send().await?;
        let mut received = 0;
        while let Some(chunk) = response.next().await {
            let chunk = chunk?;
            received += chunk.len() as u64;
            if let Some(limit) = args.limit.filter(|&limit| received > limit) {
                return Err(Failure::over_limit(limit, received));
            }
            output.write(&chunk).await?;
            bar.set_position(received);
        }
        Ok(response)
    }
    .await;
    bar.finish_and_clear();

    match copied {
        Ok(response) => {
            print_log(response.completion().and_then(|completion| completion.log_tail.as_deref()));
            output.finish()
        }
        Err(failure) => {
            print_log(failure.log_tail());
            Err(failure)
        }
    }
}

/// Makes a progress bar on standard error. It is hidden if standard error is not a terminal.
fn bar(template: &str) -> ProgressBar {
    let style = ProgressStyle::with_template(template);
    ProgressBar::no_length().with_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()))
}

/// Prints a log tail. It may begin within a UTF-8 character.
fn print_log(log: Option<&[u8]>) {
    if let Some(log) = log {
        say(String::from_utf8_lossy(log).trim_end());
    }
}

const TICK: Duration = Duration::from_millis(100);
