//! Clients in processes of their own, whose memory no other client has touched.

use std::env;
use std::io::{self, BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use presized_support::client::Error;

/// This program once more, with an errand to run.
#[derive(Debug)]
pub struct Client {
    process: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Client {
    /// Starts it, with these variables in its environment.
    pub fn start(errand: &str, variables: &[(&str, &str)]) -> Result<Self, Error> {
        let mut process = Command::new(env::current_exe()?)
            .env(ERRAND, errand)
            .envs(variables.iter().copied())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let input = process.stdin.take().ok_or("no standard input")?;
        let output = BufReader::new(process.stdout.take().ok_or("no standard output")?);
        Ok(Self { process, input, output })
    }

    /// Asks for something in a line, and waits for the line that answers it.
    pub fn ask(&mut self, question: &str) -> Result<String, Error> {
        let mut answer = String::new();
        let asked = writeln!(self.input, "{question}");
        if asked.is_err() || self.output.read_line(&mut answer)? == 0 {
            let status = self.process.wait()?;
            return Err(format!("a client has ended early, by {status}; it says why above").into());
        }
        answer.truncate(answer.trim_end().len());
        Ok(answer)
    }

    /// Asks for something that is answered with numbers.
    pub fn ask_numbers<const N: usize>(&mut self, question: &str) -> Result<[f64; N], Error> {
        let answer = self.ask(question)?;
        let numbers = answer.split(' ').map(str::parse).collect::<Result<Vec<f64>, _>>()?;
        numbers.try_into().map_err(|_| format!("not {N} numbers: {answer}").into())
    }

    /// Its number, for programs that look at processes.
    pub fn id(&self) -> u32 {
        self.process.id()
    }

    /// Lets it end.
    pub fn finish(self) -> Result<(), Error> {
        let Self { mut process, input, .. } = self;
        drop(input);
        if process.wait()?.success() { Ok(()) } else { Err("a client failed".into()) }
    }
}

/// What this process is to do, where it is a [`Client`].
pub fn errand() -> Option<String> {
    env::var(ERRAND).ok()
}

/// Answers every question that this process is asked, in their order.
pub fn answer(mut reply: impl FnMut(&str) -> Result<String, Error>) -> Result<(), Error> {
    let mut output = io::stdout();
    for question in io::stdin().lock().lines() {
        writeln!(output, "{}", reply(&question?)?)?;
    }
    Ok(())
}

/// An answer that is made of numbers.
pub fn numbers(numbers: impl IntoIterator<Item = f64>) -> String {
    let numbers: Vec<_> = numbers.into_iter().map(|number| number.to_string()).collect();
    numbers.join(" ")
}

/// Where a client finds its errand.
const ERRAND: &str = "PRESIZED_PEERS_ERRAND";
