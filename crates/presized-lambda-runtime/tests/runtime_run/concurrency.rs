//! Several invocations at the same time.

use std::convert::Infallible;
use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use presized_lambda_runtime::{Context, ErrorReport, Handler, raw};
use presized_support::scripted::Reply;
use tokio::sync::Barrier;
use tokio::time::timeout;

use super::{Api, PATIENCE, accepted, event, refused};

fn echo() -> impl Handler {
    raw(async |event: Bytes, _: Context| Ok::<_, Infallible>(event))
}

#[tokio::test]
async fn as_many_are_served_at_once_as_are_asked_for() {
    let api = Api::at_once(4, ["a", "b", "c", "d"].map(|id| event(id, "")));
    let all = Arc::new(Barrier::new(4));
    // Nobody passes before the last one has come.
    let meet = raw(move |event: Bytes, _: Context| {
        let all = Arc::clone(&all);
        async move {
            all.wait().await;
            Ok::<_, Infallible>(event)
        }
    });
    let mut posted = api.serve(meet).await;
    posted.sort();
    let paths: Vec<_> = posted.iter().map(|(path, _)| &**path).collect();
    assert_eq!(paths, ["a/response", "b/response", "c/response", "d/response"]);
}

#[tokio::test]
async fn bad_invocation_harms_no_other() {
    // Of four loops one hangs, and what fails or panics is as many times as there are others.
    let kinds = ["hang", "fail", "panic", "good", "fail", "panic", "good", "fail", "panic", "good"];
    let events: Vec<_> = kinds.iter().map(|kind| event(kind, kind)).collect();
    // There is no fourth question for the one that hangs.
    let api = Api::start(Some(3), events, |_| accepted());
    let function = raw(async |event: Bytes, _: Context| match &event[..] {
        b"hang" => pending().await,
        b"fail" => Err(ErrorReport::new("Failed", "")),
        b"panic" => panic!("a bug of the function"),
        _ => Ok(event),
    });
    let idle = Arc::clone(&api.idle);
    let run = api.runtime(function).concurrency(4).shutdown(pending()).run();
    tokio::select! {
        ended = run => panic!("{ended:?}"),
        idle = timeout(PATIENCE, idle.notified()) => idle.expect("in 20 s"),
    }
    let mut paths: Vec<_> = api.posted().into_iter().map(|(path, _)| path).collect();
    paths.sort();
    let expected = ["fail/error", "good/response", "panic/error"].map(|path| [path; 3]);
    assert_eq!(paths, expected.concat());
}

#[tokio::test]
async fn question_is_asked_five_times_where_several_are_served() {
    let failures = || [Reply::Close("".into()), refused("503 Service Unavailable", "Other")];
    let failures = [failures(), failures()].concat();
    // Four failures, and it goes on.
    let api = Api::at_once(1, [&failures[..], &[event("a", "")]].concat());
    let posted = api.serve(echo()).await;
    assert_eq!(posted.len(), 1);
    // Five are the end of it.
    let api = Api::at_once(1, [&failures[..], &[Reply::Close("".into()), event("a", "")]].concat());
    let error = api.run(api.runtime(echo())).await.unwrap_err();
    assert!(!error.is_fatal(), "{error}");
    assert_eq!(api.paths().len(), 5);
}

#[tokio::test]
async fn loop_that_has_ended_leaves_the_others() {
    let fatal = refused("500 Internal Server Error", "Fatal");
    let events = [fatal.clone(), event("a", ""), event("b", ""), event("c", ""), fatal];
    let api = Api::at_once(2, events);
    let error = api.run(api.runtime(echo())).await.unwrap_err();
    assert!(error.is_fatal(), "{error}");
    assert_eq!(api.posted().len(), 3);
}

#[tokio::test]
async fn nothing_that_belongs_to_the_process_is_told_of_one_of_several() {
    let api = Api::at_once(2, [event("a", ""), event("b", "")]);
    let told = Arc::new(AtomicUsize::new(0));
    let hook = Arc::clone(&told);
    let runtime = api.runtime(echo()).on_invocation(move |_| {
        hook.fetch_add(1, Ordering::SeqCst);
    });
    api.run(runtime).await.unwrap();
    assert_eq!((api.posted().len(), told.load(Ordering::SeqCst)), (2, 0));
}

#[tokio::test]
async fn none_at_once_is_an_error() {
    let api = Api::new([]);
    let error = api.run(api.runtime(echo()).concurrency(0)).await.unwrap_err();
    assert!(error.is_fatal(), "{error}");
    assert!(api.paths().is_empty());
}
