//! What the command is told.

use std::convert::Infallible;
use std::fs;
use std::io::{self, Read};
use std::path::PathBuf;
use std::str::FromStr;

use bytes::Bytes;
use clap::Parser;

use crate::failure::Failure;

/// Calls a function of AWS Lambda and writes out what it answers
#[derive(Parser)]
#[command(after_help = "\
The answer is all that goes to standard output or FILE. The log, and how a function
failed, go to standard error. FILE is replaced once the answer is whole, and left as it
was where it is not.

Environment:
  AWS_REGION, AWS_DEFAULT_REGION       where the function is
  AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN
                                       who calls it; for those of a profile:
                                       eval \"$(aws configure export-credentials --format env)\"
  AWS_ENDPOINT_URL_LAMBDA, AWS_ENDPOINT_URL
                                       another endpoint than that of the region

Exit codes:
  0  the function answered, or the reader of its answer went away before the end
  1  the function failed: type, message and trace are on standard error
  2  the call failed, or was not made: arguments, region or credentials
  3  the answer could not be written")]
pub(crate) struct Args {
    /// Name or ARN of the function, with or without a qualifier behind a colon
    pub(crate) name: String,
    /// What to call it with: the text itself, @FILE, or @- for standard input; nothing if left out
    #[arg(long, value_name = "TEXT|@FILE|@-", default_value = "", hide_default_value = true)]
    pub(crate) payload: Payload,
    /// Version or alias to call
    #[arg(long)]
    pub(crate) qualifier: Option<String>,
    /// Show the last 4 KB of the function's log
    #[arg(long)]
    pub(crate) tail: bool,
    /// Write the answer as it comes, of a function that streams it
    #[arg(long)]
    pub(crate) stream: bool,
    /// Most bytes of the answer to take: a number, alone or with KiB, MiB or GiB behind it.
    /// If left out, 6 MiB and 100 bytes, and with --stream any number
    #[arg(long, value_name = "BYTES", value_parser = parse_size)]
    pub(crate) limit: Option<u64>,
    /// Where the answer goes, if not to standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// A URL to call instead of the endpoint of the region
    #[arg(long, value_name = "URL")]
    pub(crate) endpoint: Option<String>,
    /// Where the function is
    #[arg(long)]
    pub(crate) region: Option<String>,
    /// Time the call may take, the function included; 16 minutes if left out
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) timeout: Option<u64>,
}

/// Where a payload comes from.
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
        other => return Err(format!("{other} is none of KiB, MiB and GiB")),
    };
    let number = digits.parse().ok().and_then(|number: u64| number.checked_mul(unit));
    number.ok_or_else(|| "not a number of bytes that fits into 64 bits".to_owned())
}
