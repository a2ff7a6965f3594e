//! Client processes. Each measures one case, in memory that no other case has touched.

use std::env;
use std::ffi::OsStr;
use std::io::{self, BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use presized_support::client::Error;

/// A second process, of this program or of another, which measures one case.
#[derive(Debug)]
pub struct Client {
    process: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Client {
    /// Starts a client that finds its job with [`job`], with these environment variables.
    pub fn start(job: &str, variables: &[(&str, &str)]) -> Result<Self, Error> {
        Self::of_program(env::current_exe()?, job, variables)
    }

    /// Starts another program as a client, in the same way.
    pub fn of_program(
        program: impl AsRef<OsStr>,
        job: &str,
        variables: &[(&str, &str)],
    ) -> Result<Self, Error> {
        let mut process = Command::new(program)
            .env(JOB, job)
            .envs(variables.iter().copied())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let input = process.stdin.take().ok_or("the client has no standard input")?;
        let output =
            BufReader::new(process.stdout.take().ok_or("the client has no standard output")?);
        Ok(Self { process, input, output })
    }

    /// Sends a command as one line and returns the line that the client replies with.
    pub fn ask(&mut self, command: &str) -> Result<String, Error> {
        let mut reply = String::new();
        let sent = writeln!(self.input, "{command}");
        if sent.is_err() || self.output.read_line(&mut reply)? == 0 {
            let status = self.process.wait()?;
            return Err(format!("a client ended early with {status}; see its error above").into());
        }
        reply.truncate(reply.trim_end().len());
        Ok(reply)
    }

    /// Sends a command whose reply is `N` numbers.
    pub fn ask_numbers<const N: usize>(&mut self, command: &str) -> Result<[f64; N], Error> {
        let reply = self.ask(command)?;
        let numbers = reply.split(' ').map(str::parse).collect::<Result<Vec<f64>, _>>()?;
        numbers.try_into().map_err(|_| format!("expected {N} numbers, got: {reply}").into())
    }

    /// Returns the process id.
    pub fn id(&self) -> u32 {
        self.process.id()
    }

    /// Closes the input of the client and waits until it ends.
    pub fn finish(self) -> Result<(), Error> {
        let Self { mut process, input, .. } = self;
        drop(input);
        if process.wait()?.success() { Ok(()) } else { Err("a client failed".into()) }
    }
}

/// Returns the job of this process, if it is a [`Client`].
pub fn job() -> Option<String> {
    env::var(JOB).ok()
}

/// Replies to each command from standard input, until the input is closed.
pub fn serve(mut reply: impl FnMut(&str) -> Result<String, Error>) -> Result<(), Error> {
    let mut output = io::stdout();
    for command in io::stdin().lock().lines() {
        writeln!(output, "{}", reply(&command?)?)?;
    }
    Ok(())
}

/// Formats a reply that consists of numbers.
pub fn numbers(numbers: impl IntoIterator<Item = f64>) -> String {
    let numbers: Vec<_> = numbers.into_iter().map(|number| number.to_string()).collect();
    numbers.join(" ")
}

/// The environment variable that holds the job of a client.
const JOB: &str = "PRESIZED_BENCH_JOB";
