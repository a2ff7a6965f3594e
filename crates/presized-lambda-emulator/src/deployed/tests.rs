use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use http::HeaderMap;
use presized_support::drive::poll_once;
use tokio::sync::oneshot;
use tokio::time::timeout;

use super::*;
use crate::environment::Orders;
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
        duplicates: 0,
        retries: None,
        attempts: 0,
        fault: None,
    }
}

fn invoke(function: &Deployed) -> oneshot::Receiver<InvocationOutcome> {
    let (caller, outcome) = oneshot::channel();
    let call = QueuedInvocation { reply: Reply::Caller(caller), ..invocation("a") };
    function.invoke(call).expect("throttled");
    outcome
}

/// A connection of an external runtime.
const CONNECTION: RuntimeSource = RuntimeSource::Connection(ConnectionId(0));

/// The flush of the log takes time, in which the runtime may disconnect.
#[tokio::test]
async fn response_counts_if_its_runtime_disconnects_during_the_flush_of_the_log() {
    let function = deployed();
    let mut outcome = invoke(&function);
    let (handle, _orders, _unread) = RuntimeHandle::new();
    let runtime = RuntimeSource::Environment(function.environment_started(handle));
    function.poll(runtime).unwrap().event().await.unwrap();
    let guard = ResponseGuard::start(&function, runtime, "a", None).unwrap();
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
    assert!(function.claim());
    let (handle, _orders, _unread) = RuntimeHandle::new();
    let id = function.environment_started(handle);
    let poll = function.poll(RuntimeSource::Environment(id)).unwrap();
    let _outcome = invoke(&function);
    function.environment_ended(id, "exit status: 1");
    let mut needed = pin!(function.environment_needed());
    assert!(poll_once(needed.as_mut()).is_pending());
    drop(poll);
    timeout(Duration::from_secs(1), needed).await.expect("no process is needed");
}

#[test]
fn invocation_that_was_offered_to_a_dropped_poll_goes_to_the_next_poll_first() {
    let function = deployed();
    let dropped = function.poll(CONNECTION).expect("nothing runs");
    for id in ["first", "second"] {
        function.invoke(invocation(id)).expect("throttled");
    }
    drop(dropped);
    let poll = function.poll(CONNECTION).expect("nothing runs");
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
    drop(function.poll(CONNECTION).unwrap());
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

/// An environment whose runtime polls.
struct Warm {
    source: RuntimeSource,
    orders: Orders,
    poll: Option<EventPoll>,
}

impl Warm {
    fn start(function: &Arc<Deployed>) -> Self {
        let (handle, orders, _) = RuntimeHandle::new();
        let source = RuntimeSource::Environment(function.environment_started(handle));
        Self { source, orders, poll: Some(function.poll(source).expect("cannot poll")) }
    }

    fn takes_event(&mut self) -> bool {
        matches!(poll_once(pin!(self.poll.take().expect("no poll").event())), Poll::Ready(Ok(_)))
    }

    async fn respond(&mut self, function: &Arc<Deployed>, id: &str) {
        let guard = ResponseGuard::start(function, self.source, id, None).expect("not running");
        let end = InvocationEnd::Response { content_type: None, payload: Bytes::new() };
        guard.end(end).await.expect("not running");
        self.poll = Some(function.poll(self.source).expect("cannot poll"));
    }

    fn is_shut_down(&mut self) -> bool {
        poll_once(pin!(self.orders.shut_down())).is_ready()
    }
}

#[tokio::test(start_paused = true)]
async fn warm_environment_that_was_used_last_gets_the_next_invocation() {
    let function = deployed();
    let mut environments = [(); 3].map(|()| Warm::start(&function));
    for last in [2, 0, 1] {
        // The others have an invocation, so that this one takes the next.
        let others = (0..3).filter(|other| *other != last);
        for other in others.clone() {
            environments[other].poll = None;
        }
        function.invoke(invocation("a")).expect("throttled");
        assert!(environments[last].takes_event());
        for other in others {
            environments[other].poll = Some(function.poll(environments[other].source).unwrap());
        }
        tokio::time::advance(Duration::from_millis(1)).await;
        environments[last].respond(&function, "a").await;
        tokio::time::advance(Duration::from_millis(1)).await;
        function.invoke(invocation("b")).expect("throttled");
        assert!(environments[last].takes_event());
        environments[last].respond(&function, "b").await;
    }
}

#[tokio::test]
async fn environment_that_was_used_least_recently_ends_if_more_than_32_are_idle() {
    let function = deployed();
    let mut environments: Vec<Warm> = (0..32).map(|_| Warm::start(&function)).collect();
    assert!(!environments.iter_mut().any(Warm::is_shut_down));
    environments.push(Warm::start(&function));
    let ended: Vec<bool> = environments.iter_mut().map(Warm::is_shut_down).collect();
    assert_eq!(ended.iter().position(|ended| *ended), Some(0));
    assert_eq!(ended.iter().filter(|ended| **ended).count(), 1);
}

#[test]
fn call_beyond_the_concurrency_is_throttled_and_an_event_waits() {
    for (reserved, admitted, reason) in [
        (None, 1000, Throttled::Account),
        (Some(2), 2, Throttled::Function),
        (Some(0), 0, Throttled::Function),
    ] {
        let options = Function { reserved_concurrency: reserved, ..Function::new() };
        let function = Deployed::new("fn".into(), options, BufferPool::new(0));
        let call = || {
            let reply = Reply::Caller(oneshot::channel().0);
            function.invoke(QueuedInvocation { reply, ..invocation("a") })
        };
        for _ in 0..admitted {
            call().expect("throttled");
        }
        assert_eq!(call(), Err(reason));
        function.invoke(invocation("b")).expect("event throttled");
        assert_eq!((function.stats().invoked, function.stats().throttled), (admitted + 1, 1));
    }
}

/// A runtime that has just responded polls again at once.
#[tokio::test(start_paused = true)]
async fn environment_between_response_and_poll_takes_the_next_invocation() {
    let function = deployed();
    assert!(function.claim());
    tokio::spawn(Arc::clone(&function).expire());
    let mut environment = Warm::start(&function);
    function.invoke(invocation("a")).expect("throttled");
    assert!(environment.takes_event());
    let guard = ResponseGuard::start(&function, environment.source, "a", None).unwrap();
    let end = InvocationEnd::Response { content_type: None, payload: Bytes::new() };
    guard.end(end).await.unwrap();
    function.invoke(invocation("b")).expect("throttled");
    let mut needed = pin!(function.environment_needed());
    assert!(poll_once(needed.as_mut()).is_pending());
    // It does something else instead of polling.
    timeout(Duration::from_secs(2), needed).await.expect("no environment is needed");
}

#[tokio::test]
async fn restoration_of_a_snapshot_waits_for_an_invocation() {
    let function = Deployed::new("fn".into(), Function::new().snap_start(), BufferPool::new(0));
    let function = Arc::new(function);
    let (handle, _orders, _) = RuntimeHandle::new();
    let own = RuntimeSource::Environment(function.environment_started(handle));
    let mut restored = pin!(function.restore(own));
    assert!(poll_once(restored.as_mut()).is_pending());
    function.invoke(invocation("a")).expect("throttled");
    restored.await.expect("refused");
    let mut poll = pin!(function.poll(own).expect("cannot poll").event());
    assert!(matches!(poll_once(poll.as_mut()), Poll::Ready(Ok(_))));
    // The emulator has no snapshot of a runtime that it does not run.
    function.restore(CONNECTION).await.expect("refused");
}
