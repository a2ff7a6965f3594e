//! Functions that are run, against a Runtime API that does what a test says.

mod concurrency;
mod failures;
mod handlers;
mod log;
mod memory;
mod panics;
mod refusals;
#[cfg(unix)]
mod shutdown;
mod snap_start;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use presized_lambda_runtime::{Error, Handler, Runtime, RuntimeClient};
use presized_support::ledger::Ledger;
use presized_support::scripted::{Recorded, Reply, Scripted};
use tokio::sync::Notify;
use tokio::time::timeout;

#[global_allocator]
static LEDGER: Ledger = Ledger;

/// A Runtime API with some events to hand out, of one invocation at a time or of several.
struct Api {
    server: Scripted,
    /// There is no event left, and nothing in hand.
    idle: Arc<Notify>,
    at_once: Option<usize>,
}

impl Api {
    /// Takes whatever is answered.
    fn new(events: impl Into<Vec<Reply>>) -> Self {
        Self::start(None, events, |_| accepted())
    }

    /// Does to answers as `post` says.
    fn answering(
        events: impl Into<Vec<Reply>>,
        post: impl Fn(&Recorded) -> Reply + Send + Sync + 'static,
    ) -> Self {
        Self::start(None, events, post)
    }

    /// Hands out so many events at the same time.
    fn at_once(number: usize, events: impl Into<Vec<Reply>>) -> Self {
        Self::start(Some(number), events, |_| accepted())
    }

    fn start(
        at_once: Option<usize>,
        events: impl Into<Vec<Reply>>,
        post: impl Fn(&Recorded) -> Reply + Send + Sync + 'static,
    ) -> Self {
        let events = events.into();
        let idle = Arc::new(Notify::new());
        let (asked, told) = (AtomicUsize::new(0), Arc::clone(&idle));
        let server = Scripted::start(move |_, request| {
            if path(request) != "invocation/next" {
                return post(request);
            }
            let number = asked.fetch_add(1, Ordering::SeqCst);
            if number + 1 == events.len() + at_once.unwrap_or(1) {
                told.notify_one();
            }
            events.get(number).cloned().unwrap_or_else(|| Reply::Hang("".into()))
        });
        Self { server, idle, at_once }
    }

    /// A function that is shut down when no event is left.
    fn runtime<H: Handler>(&self, handler: H) -> Runtime<H> {
        let idle = Arc::clone(&self.idle);
        let runtime = Runtime::new(handler)
            .client(client(&self.server))
            .shutdown(async move { idle.notified().await });
        match self.at_once {
            Some(number) => runtime.concurrency(number),
            None => runtime,
        }
    }

    async fn run<H: Handler>(&self, runtime: Runtime<H>) -> Result<(), Error> {
        timeout(PATIENCE, runtime.run()).await.expect("ends in 20 s")
    }

    /// Runs the function until no event is left, and returns what it has posted: where to,
    /// without what all paths begin with, and the body.
    async fn serve(&self, handler: impl Handler) -> Vec<(String, String)> {
        self.run(self.runtime(handler)).await.unwrap();
        self.posted()
    }

    fn posted(&self) -> Vec<(String, String)> {
        let posted = self.server.requests().into_iter().filter(is_post);
        posted.map(|request| (path(&request).to_owned(), text(&request.body))).collect()
    }

    /// What was asked for and posted, in order.
    fn paths(&self) -> Vec<String> {
        self.server.requests().iter().map(|request| path(request).to_owned()).collect()
    }
}

fn client(server: &Scripted) -> RuntimeClient {
    RuntimeClient::builder().endpoint(server.address().to_string()).build().unwrap()
}

/// An invocation.
fn event(id: &str, event: impl AsRef<[u8]>) -> Reply {
    Reply::response("200 OK", &[("Lambda-Runtime-Aws-Request-Id", id)], event)
}

fn accepted() -> Reply {
    Reply::response("202 Accepted", &[], r#"{"status":"OK"}"#)
}

/// An error of the Runtime API.
fn refused(status: &str, error_type: &str) -> Reply {
    Reply::response(status, &[], format!(r#"{{"errorType":"{error_type}","errorMessage":"m"}}"#))
}

fn path(request: &Recorded) -> &str {
    let target = request.target();
    let path = target.strip_prefix("/2018-06-01/runtime/").unwrap_or(target);
    if path == "invocation/next" { path } else { path.trim_start_matches("invocation/") }
}

fn is_post(request: &Recorded) -> bool {
    request.head.starts_with("POST ")
}

fn text(body: &[u8]) -> String {
    String::from_utf8_lossy(body).into_owned()
}

fn pairs(posted: &[(&str, &str)]) -> Vec<(String, String)> {
    posted.iter().map(|(path, body)| ((*path).to_owned(), (*body).to_owned())).collect()
}

/// Nothing here takes so long, unless it hangs.
const PATIENCE: Duration = Duration::from_secs(20);
