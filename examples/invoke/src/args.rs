//! The arguments of the command.

use std::convert::Infallible;
use std::fs;
use std::io::{self, Read};
use std::path::PathBuf;
use std::str::FromStr;

use bytes::Bytes;
use clap::Parser;

use crate::failure::Failure;

/// Calls a function of AWS Lambda and writes its response
#[derive(Parser)]
#[command(after_help = "\
Standard output or FILE receives only the response. Standard error receives the log and
the error of the function. FILE is replaced only if the response is complete.

Environment:
  AWS_REGION, AWS_DEFAULT_REGION       region of the function
  AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN
                                       credentials; to use those of a profile:
                                       eval \"$(aws configure export-credentials --format env)\"
  AWS_ENDPOINT_URL_LAMBDA, AWS_ENDPOINT_URL
                                       endpoint instead of the one of the region

Exit codes:
  0  the function succeeded, or the reader of standard output closed it early
  1  the function failed: type, message and trace are on standard error
  2  the call failed or was not made: arguments, region or credentials
  3  the response could not be written")]
pub(crate) struct Args {
    /// Name or ARN of the function, with or without a qualifier behind a colon
    pub(crate) name: String,
    /// Payload: the text itself, @FILE, or @- for standard input; empty by default
    #[arg(long, value_name = "TEXT|@FILE|@-", default_value = "", hide_default_value = true)]
    pub(crate) payload: Payload,
    /// Version or alias to call
    #[arg(long)]
    pub(crate) qualifier: Option<String>,
    /// Print the last 4 KiB of the function's log
    #[arg(long)]
    pub(crate) tail: bool,
    /// Write the response while it arrives, if the function streams it
    #[arg(long)]
    pub(crate) stream: bool,
    /// Limit of the response: a number of bytes, or of KiB, MiB or GiB with that suffix;
    /// 6 MiB and 100 bytes by default, and no limit with --stream
    #[arg(long, value_name = "BYTES", value_parser = parse_size)]
    pub(crate) limit: Option<u64>,
    /// File for the response instead of standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Endpoint URL instead of the endpoint of the region
    #[arg(long, value_name = "URL")]
    pub(crate) endpoint: Option<String>,
    /// Region of the function
    #[arg(long)]
    pub(crate) region: Option<String>,
    /// Time that the call may take, including the function; 16 minutes by default
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) timeout: Option<u64>,
}

/// The source of a payload.
#[derive(Clone)]
pub(crate) enum Payload {
    Text(String),
    File(PathBuf),
    Stdin,
}

impl Payload {
    pub(crate) fn read(&self) -> Result<Bytes, Failure> {
        let payload = match self {
            Self::Text(text) => text.clone().into_bytes(),
            Self::File(path) => fs::read(path)
                .map_err(|error| Failure::call(&path.display().to_string(), &error))?,
            Self::Stdin => {
                let mut payload = Vec::new();
                let read = io::stdin().lock().read_to_end(&mut payload);
                read.map_err(|error| Failure::call("standard input", &error))?;
                payload
            }
        };
        Ok(payload.into())
    }
}

impl FromStr for Payload {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(match text.strip_prefix('@') {
            Some("-") => Self::Stdin,
            Some(path) => Self::File(path.into()),
            None => Self::Text(text.to_owned()),
        })
    }
}

fn parse_size(text: &str) -> Result<u64, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit: u64 = match &text[digits.len()..] {
        "" | "B" => 1,
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        "GiB" => 1 << 30,
        other => return Err(format!("unknown unit {other}: use KiB, MiB or GiB")),
    };
    let number = digits.parse().ok().and_then(|number: u64| number.checked_mul(unit));
    number.ok_or_else(|| "not a number of bytes below 2^64".to_owned())
}
