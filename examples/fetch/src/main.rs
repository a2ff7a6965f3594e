//! A command that downloads a URL into memory, within a limit, and then writes the content out.
//!
//! `cargo run --release -p fetch -- URL [--limit 64MiB] [--output FILE]`

use std::error::Error;
use std::fs::File;
use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use bytes::Bytes;
use clap::Parser;
use indicatif::{ProgressBar, ProgressStyle};
use presized::CollectError;
use presized_reqwest::ResponseExt;
use reqwest::{Client, Url};

/// Downloads a URL into memory, within a limit, and then writes the content out
#[derive(Parser)]
#[command(after_help = "\
Exit codes:
  1  the content could not be written
  2  the arguments are wrong
  3  no response: connection, TLS, redirect or timeout
  4  the response has no success status
  5  the content is over the limit
  6  the content is incomplete")]
struct Args {
    /// An http or https URL; redirects are followed
    #[arg(value_parser = parse_url)]
    url: Url,
    /// The most bytes to accept: a number, or a number followed by KiB, MiB or GiB
    #[arg(long, value_name = "BYTES", value_parser = parse_size, default_value = "64MiB")]
    limit: u64,
    /// The file to write to, in place of standard output
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let args = Args::parse();
    let done = match download(args.url, args.limit).await {
        Ok(content) => write(&content, args.output.as_deref())
            .map_err(|error| Failure::new(1, "cannot write the content", &error)),
        Err(failure) => Err(failure),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure { code, message }) => {
            eprintln!("fetch: {message}");
            ExitCode::from(code)
        }
    }
}

async fn download(url: Url, limit: u64) -> Result<Bytes, Failure> {
    let no_response = |error| Failure::new(3, "no response", &error);
    let response = client().map_err(no_response)?.get(url).send().await.map_err(no_response)?;

    let status = response.status();
    if !status.is_success() {
        // The beginning of the error response, or as much of it as arrives.
        let read = response.collect_presized(200).prefix().await;
        let content = read.map_or_else(CollectError::into_partial, |prefix| prefix.content);
        // Quoted, so that it cannot break the line or control the terminal.
        let message = format!("status {status}: {:?}", String::from_utf8_lossy(&content));
        return Err(Failure { code: 4, message });
    }

    // On standard error, and hidden if that is not a terminal.
    let bar = ProgressBar::no_length().with_style(style("{spinner} {bytes}, {bytes_per_sec}"));
    let content = response
        .collect_presized(limit)
        .on_progress(|progress| {
            if let (Some(expected), None) = (progress.expected, bar.length()) {
                bar.set_style(style("{bytes} of {total_bytes} {wide_bar} {bytes_per_sec}, {eta}"));
                bar.set_length(expected);
            }
            bar.set_position(progress.received);
            ControlFlow::Continue(())
        })
        .bytes()
        .await;
    bar.finish_and_clear();
    content.map_err(|error| match error.is_too_large() {
        true => Failure::new(5, "content refused", &error),
        false => Failure::new(6, "content is incomplete", &error),
    })
}

fn client() -> reqwest::Result<Client> {
    // An error means that a provider is installed already, and reqwest uses that one.
    let _ = rustls::crypto::ring::default_provider().install_default();
    Client::builder()
        .user_agent(concat!("presized-fetch/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(Duration::from_secs(10))
        // Bounds the time between two reads. A `MinRate` would bound the rate.
        .read_timeout(Duration::from_secs(30))
        .build()
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}

fn write(content: &[u8], output: Option<&Path>) -> io::Result<()> {
    let Some(path) = output else {
        let mut stdout = io::stdout().lock();
        stdout.write_all(content)?;
        return stdout.flush();
    };
    let mut file = File::create(path)?;
    file.write_all(content).inspect_err(|_| {
        // No file is better than half a file. A device or a pipe must not be removed.
        if file.metadata().is_ok_and(|metadata| metadata.is_file()) {
            let _ = std::fs::remove_file(path);
        }
    })
}

fn parse_url(text: &str) -> Result<Url, String> {
    let url = Url::parse(text).map_err(|error| error.to_string())?;
    match url.scheme() {
        "http" | "https" => Ok(url),
        other => Err(format!("scheme {other} is not supported: use http or https")),
    }
}

fn parse_size(text: &str) -> Result<u64, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit: u64 = match &text[digits.len()..] {
        "" | "B" => 1,
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        "GiB" => 1 << 30,
        other => return Err(format!("unit {other} is not supported: use KiB, MiB or GiB")),
    };
    let number = digits.parse().ok().and_then(|number: u64| number.checked_mul(unit));
    number.ok_or_else(|| "not a whole number of bytes below 2^64".to_owned())
}

/// The message for standard error, in one line, and the exit code.
struct Failure {
    code: u8,
    message: String,
}

impl Failure {
    /// Describes a failure by `what`, the error and all its sources.
    fn new(code: u8, what: &str, error: &dyn Error) -> Self {
        let mut message = what.to_owned();
        let mut next = Some(error);
        while let Some(error) = next {
            message.push_str(&format!(": {error}"));
            next = error.source();
        }
        Self { code, message }
    }
}
