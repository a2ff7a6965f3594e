use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use http::HeaderMap;
use presized_support::drive::poll_once;
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;

use super::*;
use crate::outcome::InvocationOutcome;

fn deployed() -> Arc<Deployed> {
    Arc::new(Deployed::new("fn".into(), Function::new(), BufferPool::new(0)))
}

/// Returns an invocation of type `Event` whose log is wanted.
pub(super) fn invocation(id: &'static str) -> QueuedInvocation {
    QueuedInvocation {
        id: id.into(),
        version: "$LATEST".into(),
        queued_at: Instant::now(),
        event: Bytes::from(id),
        headers: HeaderMap::new(),
        takes_stream: false,
        wants_log: true,
        reply: Reply::Discarded,
    }
}

fn invoke(function: &Deployed) -> oneshot::Receiver<InvocationOutcome> {
    let (caller, outcome) = oneshot::channel();
    function.invoke(QueuedInvocation { reply: Reply::Caller(caller), ..invocation("a") });
    outcome
}

/// The flush of the log takes time, in which the runtime may disconnect.
#[tokio::test]
async fn response_counts_if_its_runtime_disconnects_during_the_flush_of_the_log() {
    let function = deployed();
    let mut outcome = invoke(&function);
    function.poll().unwrap().event().await.unwrap();
    let (flush, _unread) = mpsc::channel(1);
    function.process_started(ProcessHandle::new(Arc::default(), flush));
    let guard = ResponseGuard::start(&function, "a", None).unwrap();
    {
        let end = InvocationEnd::Response { content_type: None, payload: "response".into() };
        assert!(poll_once(pin!(guard.end(end))).is_pending());
    }
    let Ok(InvocationOutcome::Response { payload, .. }) = outcome.try_recv() else {
        panic!("no response")
    };
    assert_eq!(payload, "response");
    assert_eq!((function.stats().responses, function.stats().errors), (1, 0));
}

/// The connection of a process may close only after its process has ended.
#[tokio::test(start_paused = true)]
async fn invocation_that_returns_from_an_ended_process_needs_a_new_process() {
    let function = deployed();
    let poll = function.poll().unwrap();
    let _outcome = invoke(&function);
    function.process_ended("exit status: 1");
    let mut needed = pin!(function.runtime_needed());
    assert!(poll_once(needed.as_mut()).is_pending());
    drop(poll);
    timeout(Duration::from_secs(1), needed).await.expect("no process is needed");
}

#[test]
fn invocation_that_was_offered_to_a_dropped_poll_goes_to_the_next_poll_first() {
    let function = deployed();
    let dropped = function.poll().expect("nothing runs");
    function.invoke(invocation("first"));
    function.invoke(invocation("second"));
    drop(dropped);
    let poll = function.poll().expect("nothing runs");
    let Poll::Ready(Ok(event)) = poll_once(pin!(poll.event())) else { panic!("no event") };
    assert_eq!(event.payload, "first");
    assert_eq!(function.stats().started, 1);
}

#[tokio::test(start_paused = true)]
async fn call_times_out_after_the_init_timeout_without_a_runtime() {
    let function = deployed();
    tokio::spawn(Arc::clone(&function).expire());
    let seconds = |seconds| tokio::time::sleep(Duration::from_secs(seconds));
    let mut outcome = invoke(&function);
    seconds(9).await;
    // A runtime polls, is offered the invocation, and disconnects.
    drop(function.poll().unwrap());
    seconds(9).await;
    assert!(outcome.try_recv().is_err());
    seconds(2).await;
    assert!(matches!(outcome.try_recv(), Ok(InvocationOutcome::Failed { .. })));
    assert_eq!((function.stats().started, function.stats().timeouts), (0, 1));

    // The timeout does not depend on the caller.
    drop(invoke(&function));
    seconds(11).await;
    assert_eq!(function.stats().timeouts, 2);
}
