//! The log of a function, as its configuration in Lambda says.

use std::env;
use std::io;
use std::str::FromStr;

use tracing::{Subscriber, level_filters::LevelFilter};
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::{self, MakeWriter};
use tracing_subscriber::layer::{Layer, SubscriberExt};
use tracing_subscriber::registry;

/// Writes the events of `tracing` to the log of the function.
///
/// The
/// [logging configuration](https://docs.aws.amazon.com/lambda/latest/dg/monitoring-cloudwatchlogs-advanced.html)
/// of the function sets level and format:
///
/// - `AWS_LAMBDA_LOG_LEVEL`, or else `RUST_LOG` with levels by target such as `warn,my_crate=debug`.
///   The default is `INFO`. `FATAL` is `ERROR`.
/// - `AWS_LAMBDA_LOG_FORMAT`: with `JSON`, each event is one line of JSON with `timestamp`, `level`,
///   `message` and its span, which has the request id. The default is text without a time, which
///   Amazon CloudWatch adds.
///
/// Call it at the start of the program. It does nothing if the program has set a subscriber. It writes
/// to the standard output, and each event blocks the thread until it is written.
///
/// # Examples
///
/// ```no_run
/// use presized_lambda_runtime::{Context, Error, init_tracing, json, run};
///
/// async fn double(number: u64, _context: Context) -> Result<u64, String> {
///     number.checked_mul(2).ok_or_else(|| format!("{number} is too large"))
/// }
///
/// #[tokio::main(flavor = "current_thread")]
/// async fn main() -> Result<(), Error> {
///     init_tracing();
///     run(json(double)).await
/// }
/// ```
pub fn init_tracing() {
    let subscriber = subscriber(|name| env::var(name).ok(), io::stdout);
    // An error means that there is a subscriber, which the program wants.
    let _ = tracing::subscriber::set_global_default(subscriber);
}

/// Returns the subscriber for an environment, in which `variable` looks up a name.
fn subscriber<W>(
    variable: impl Fn(&str) -> Option<String>,
    writer: W,
) -> Box<dyn Subscriber + Send + Sync>
where
    W: for<'a> MakeWriter<'a> + Send + Sync + 'static,
{
    let is_json =
        variable("AWS_LAMBDA_LOG_FORMAT").is_some_and(|format| format.eq_ignore_ascii_case("json"));
    let filter = filter(variable);
    if is_json {
        let layer = fmt::layer().json().flatten_event(true).with_writer(writer);
        Box::new(registry().with(layer.with_filter(filter)))
    } else {
        let layer = fmt::layer().without_time().with_ansi(false).with_writer(writer);
        Box::new(registry().with(layer.with_filter(filter)))
    }
}

fn filter(variable: impl Fn(&str) -> Option<String>) -> Targets {
    let all = |level| Targets::new().with_default(level);
    let variable = |name: &str| {
        let value = variable(name)?.trim().to_owned();
        (!value.is_empty()).then_some(value)
    };
    let of_lambda = variable("AWS_LAMBDA_LOG_LEVEL").and_then(|level| {
        match level.eq_ignore_ascii_case("fatal") {
            true => Some(LevelFilter::ERROR),
            false => LevelFilter::from_str(&level).ok(),
        }
    });
    let of_program = || Targets::from_str(&variable("RUST_LOG")?).ok();
    of_lambda.map(all).or_else(of_program).unwrap_or_else(|| all(LevelFilter::INFO))
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;

    #[derive(Clone, Default)]
    struct Written(Arc<Mutex<Vec<u8>>>);

    impl io::Write for Written {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// Returns the lines of one event at each level, in a span with a request id.
    fn log(variables: &[(&str, &str)]) -> Vec<String> {
        let written = Written::default();
        let writer = written.clone();
        let variable = |name: &str| {
            let found = variables.iter().find(|(variable, _)| *variable == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        tracing::subscriber::with_default(subscriber(variable, move || writer.clone()), || {
            let span = tracing::error_span!("invocation", request_id = "id-1");
            span.in_scope(|| {
                tracing::trace!(number = 1, "traced");
                tracing::debug!(number = 1, "debugged");
                tracing::info!(number = 1, "told");
                tracing::warn!(number = 1, "warned");
                tracing::error!(number = 1, "failed");
            });
        });
        let written = written.0.lock().unwrap();
        String::from_utf8_lossy(&written).lines().map(str::to_owned).collect()
    }

    #[test]
    fn level_of_lambda_comes_first_and_then_that_of_the_program() {
        const LEVEL: &str = "AWS_LAMBDA_LOG_LEVEL";
        let table: [(&[_], _); 11] = [
            (&[], 3),
            (&[(LEVEL, "")], 3),
            (&[(LEVEL, "odd")], 3),
            (&[(LEVEL, "TRACE")], 5),
            (&[(LEVEL, "debug")], 4),
            (&[(LEVEL, "WARN")], 2),
            (&[(LEVEL, "ERROR")], 1),
            (&[(LEVEL, "FATAL")], 1),
            (&[(LEVEL, "WARN"), ("RUST_LOG", "trace")], 2),
            (&[("RUST_LOG", "error,presized_lambda_runtime=debug")], 4),
            (&[("RUST_LOG", "other=trace")], 0),
        ];
        for (variables, lines) in table {
            assert_eq!(log(variables).len(), lines, "{variables:?}");
        }
    }

    #[test]
    fn format_is_text_without_a_time_or_one_line_of_json() {
        let text = log(&[("AWS_LAMBDA_LOG_LEVEL", "error"), ("AWS_LAMBDA_LOG_FORMAT", "Text")]);
        let target = module_path!();
        let expected =
            format!("ERROR invocation{{request_id=\"id-1\"}}: {target}: failed number=1");
        assert_eq!(text, [expected]);

        let json = log(&[("AWS_LAMBDA_LOG_LEVEL", "error"), ("AWS_LAMBDA_LOG_FORMAT", "JSON")]);
        let line: serde_json::Value = serde_json::from_str(&json[0]).unwrap();
        assert_eq!((&line["level"], &line["message"]), (&"ERROR".into(), &"failed".into()));
        assert_eq!((&line["number"], &line["span"]["request_id"]), (&1.into(), &"id-1".into()));
        assert!(line["timestamp"].as_str().unwrap().ends_with('Z'), "{line}");
    }
}
