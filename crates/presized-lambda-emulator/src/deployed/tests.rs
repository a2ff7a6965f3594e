use std::pin::pin;
use std::time::Duration;

use bytes::Bytes;
use http::HeaderMap;
use presized_support::drive::poll_once;
use tokio::sync::mpsc;
use tokio::time::timeout;

use super::super::invocation::Outcome;
use super::*;

fn deployed() -> Arc<Deployed> {
    Arc::new(Deployed::new("fn".into(), Function::new(), BufferPool::new(0)))
}

fn invoke(function: &Arc<Deployed>) -> oneshot::Receiver<Outcome> {
    let (caller, outcome) = oneshot::channel();
    function.invoke(Invocation {
        id: "a".into(),
        version: "$LATEST".into(),
        queued: Instant::now(),
        event: Bytes::new(),
        headers: HeaderMap::new(),
        takes_stream: false,
        log: Some(Tail::default()),
        reply: Reply::Caller(caller),
    });
    outcome
}

/// The log is waited for after the answer has been read, and its runtime may leave meanwhile.
#[tokio::test]
async fn an_answer_counts_though_its_runtime_leaves_before_it_is_told() {
    let function = deployed();
    let mut outcome = invoke(&function);
    function.poll().unwrap().await.unwrap().accept().unwrap();
    let (flush, _unread) = mpsc::channel(1);
    function.process_started(Process { stop: Arc::default(), flush });
    let answering = function.answer("a", None).unwrap();
    {
        let end = End::Answered { content_type: None, payload: "answer".into() };
        assert!(poll_once(pin!(answering.end(end))).is_pending());
    }
    let Ok(Outcome::Answer { payload, .. }) = outcome.try_recv() else { panic!("an answer") };
    assert_eq!(payload, "answer");
    assert_eq!((function.stats().responses, function.stats().errors), (1, 0));
}

/// An event was on its way to a process that has ended, whose connection tells so only later.
#[tokio::test(start_paused = true)]
async fn an_event_that_comes_back_is_one_to_start_a_process_for() {
    let function = deployed();
    let slot = function.poll().unwrap();
    let _outcome = invoke(&function);
    function.process_ended("exit status: 1");
    let mut wanted = pin!(function.wanted());
    assert!(poll_once(wanted.as_mut()).is_pending());
    drop(slot);
    timeout(Duration::from_secs(1), wanted).await.expect("an event");
}

#[tokio::test(start_paused = true)]
async fn a_call_is_given_up_where_no_runtime_was_seen_for_long_enough() {
    let function = deployed();
    tokio::spawn(Arc::clone(&function).expire());
    let seconds = |seconds| tokio::time::sleep(Duration::from_secs(seconds));
    let mut outcome = invoke(&function);
    seconds(9).await;
    // It asks for an event, gets this one, and goes away.
    drop(function.poll().unwrap());
    seconds(9).await;
    assert!(outcome.try_recv().is_err());
    seconds(2).await;
    assert!(matches!(outcome.try_recv(), Ok(Outcome::Failed { .. })));
    assert_eq!((function.stats().started, function.stats().timeouts), (0, 1));

    // Nobody has to wait for it.
    drop(invoke(&function));
    seconds(11).await;
    assert_eq!(function.stats().timeouts, 2);
}
