//! `Runtime::run` against a Runtime API that sends what a test says.

mod concurrency;
mod extension;
mod failures;
mod handlers;
mod log;
mod memory;
mod panics;
mod refusals;
#[cfg(unix)]
mod shutdown;
mod snap_start;
mod trace;

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

/// A Runtime API with a list of events, for one or several invocations at a time.
struct Api {
    server: Scripted,
    /// Notified when no event is left and all invocations have ended.
    idle: Arc<Notify>,
    concurrency: Option<usize>,
}

impl Api {
    /// Accepts all responses.
    fn new(events: impl Into<Vec<Reply>>) -> Self {
        Self::start(None, events, |_| accepted())
    }

    /// Replies to responses as `post` says.
    fn replying(
        events: impl Into<Vec<Reply>>,
        post: impl Fn(&Recorded) -> Reply + Send + Sync + 'static,
    ) -> Self {
        Self::start(None, events, post)
    }

    /// Sends `concurrency` events at the same time.
    fn concurrent(concurrency: usize, events: impl Into<Vec<Reply>>) -> Self {
        Self::start(Some(concurrency), events, |_| accepted())
    }

    fn start(
        concurrency: Option<usize>,
        events: impl Into<Vec<Reply>>,
        post: impl Fn(&Recorded) -> Reply + Send + Sync + 'static,
    ) -> Self {
        let events = events.into();
        let idle = Arc::new(Notify::new());
        let (polls, notify) = (AtomicUsize::new(0), Arc::clone(&idle));
        let server = Scripted::start(move |_, request| {
            if path(request) != "invocation/next" {
                return post(request);
            }
            let number = polls.fetch_add(1, Ordering::SeqCst);
            if number + 1 == events.len() + concurrency.unwrap_or(1) {
                notify.notify_one();
            }
            events.get(number).cloned().unwrap_or_else(|| Reply::Hang("".into()))
        });
        Self { server, idle, concurrency }
    }

    /// Returns a runtime that is shut down when no event is left.
    fn runtime<H: Handler>(&self, handler: H) -> Runtime<H> {
        let idle = Arc::clone(&self.idle);
        let runtime = Runtime::new(handler)
            .client(client(&self.server))
            .shutdown(async move { idle.notified().await });
        match self.concurrency {
            Some(concurrency) => runtime.concurrency(concurrency),
            None => runtime,
        }
    }

    async fn run<H: Handler>(&self, runtime: Runtime<H>) -> Result<(), Error> {
        timeout(PATIENCE, runtime.run()).await.expect("ends in 20 s")
    }

    /// Runs the function until no event is left. Returns the short path and the body of each request
    /// that it posted.
    async fn serve(&self, handler: impl Handler) -> Vec<(String, String)> {
        self.run(self.runtime(handler)).await.unwrap();
        self.posted()
    }

    fn posted(&self) -> Vec<(String, String)> {
        let posted = self.server.requests().into_iter().filter(is_post);
        posted.map(|request| (path(&request).to_owned(), text(&request.body))).collect()
    }

    /// Returns the short paths of all requests in order.
    fn paths(&self) -> Vec<String> {
        self.server.requests().iter().map(|request| path(request).to_owned()).collect()
    }
}

fn client(server: &Scripted) -> RuntimeClient {
    RuntimeClient::builder().endpoint(server.address().to_string()).build().unwrap()
}

/// Returns an invocation.
fn event(id: &str, event: impl AsRef<[u8]>) -> Reply {
    Reply::response("200 OK", &[("Lambda-Runtime-Aws-Request-Id", id)], event)
}

fn accepted() -> Reply {
    Reply::response("202 Accepted", &[], r#"{"status":"OK"}"#)
}

/// Returns an error of the Runtime API.
fn refused(status: &str, error_type: &str) -> Reply {
    Reply::response(status, &[], format!(r#"{{"errorType":"{error_type}","errorMessage":"m"}}"#))
}

/// Returns the path of a request without its common beginning.
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

/// The time after which a test fails instead of hanging.
const PATIENCE: Duration = Duration::from_secs(20);
