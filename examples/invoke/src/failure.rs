//! The failure of the command: its message and its exit code.

use std::error;
use std::io::{self, Write};
use std::process::ExitCode;

use bytes::Bytes;
use presized_lambda_invoke::{Error, ErrorKind, FunctionError};

pub(crate) enum Failure {
    /// The function ran and failed.
    Function { message: String, log_tail: Option<Bytes> },
    /// The call failed or was not made.
    Call(String),
    /// The response could not be written.
    Write(io::Error),
}

impl Failure {
    /// Makes the failure of an operation.
    pub(crate) fn call(what: &str, error: &dyn error::Error) -> Self {
        Self::Call(format!("{what}: {}", chain(error)))
    }

    pub(crate) fn over_limit(limit: u64, received: u64) -> Self {
        Self::Call(format!(
            "response exceeds the limit of {limit} bytes: {received} bytes received"
        ))
    }

    /// Returns the log tail of a failed function.
    pub(crate) fn log_tail(&self) -> Option<&[u8]> {
        match self {
            Self::Function { log_tail, .. } => log_tail.as_deref(),
            Self::Call(_) | Self::Write(_) => None,
        }
    }

    /// Prints the message on standard error.
    pub(crate) fn report(self) -> ExitCode {
        let (code, message) = match self {
            Self::Function { message, .. } => (1, message),
            Self::Call(message) => (2, message),
            // The reader closed standard output, which is not a failure.
            Self::Write(error) if error.kind() == io::ErrorKind::BrokenPipe => (0, String::new()),
            Self::Write(error) => (3, format!("cannot write the response: {error}")),
        };
        if !message.is_empty() {
            say(&format!("invoke: {message}"));
        }
        ExitCode::from(code)
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let hint = match error.kind() {
            ErrorKind::Function(failed) => {
                let message = failed.to_string();
                return Self::Function { message, log_tail: failed.log_tail.clone() };
            }
            ErrorKind::Config(_) => SETTINGS,
            ErrorKind::Credentials(_) => CREDENTIALS,
            _ => "",
        };
        Self::Call(chain(&error) + hint)
    }
}

impl From<Box<FunctionError>> for Failure {
    fn from(error: Box<FunctionError>) -> Self {
        let mut message = error.to_string();
        for line in &error.stack_trace {
            message.push_str(&format!("\n  {}", line.trim_end()));
        }
        if error.error_type.is_none() && error.error_message.is_none() {
            // The payload is not an error report, so the message has its first bytes.
            let begin = &error.payload[..error.payload.len().min(200)];
            message.push_str(&format!(": {:?}", String::from_utf8_lossy(begin)));
        }
        Self::Function { message, log_tail: None }
    }
}

/// Writes text to standard error. Control characters are escaped, because the text may come from
/// others.
pub(crate) fn say(text: &str) {
    let mut line = String::with_capacity(text.len() + 1);
    // Node.js separates the lines of one log record with carriage returns.
    for c in text.replace("\r\n", "\n").replace('\r', "\n").chars() {
        match c {
            '\n' | '\t' => line.push(c),
            c if c.is_control() => line.extend(c.escape_default()),
            c => line.push(c),
        }
    }
    line.push('\n');
    // A closed standard error cannot be reported.
    let _ = io::stderr().write_all(line.as_bytes());
}

/// Returns the messages of the error and all its sources.
fn chain(error: &dyn error::Error) -> String {
    let mut message = error.to_string();
    let mut next = error.source();
    while let Some(source) = next {
        message.push_str(&format!(": {source}"));
        next = source.source();
    }
    message
}

const SETTINGS: &str = "
use --region, which the signature needs with --endpoint too, and --endpoint, or set the variables
that --help lists";

const CREDENTIALS: &str = "
set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, and AWS_SESSION_TOKEN if they are temporary;
to use those of a profile: eval \"$(aws configure export-credentials --format env)\"";
