//! SnapStart: a snapshot before the first invocation.

use std::convert::Infallible;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use presized_lambda_runtime::{Context, ErrorKind, ErrorReport, Handler, raw};
use presized_support::scripted::Reply;

use super::{Api, accepted, event, path, refused};

fn echo() -> impl Handler {
    raw(async |event: Bytes, _: Context| Ok::<_, Infallible>(event))
}

/// Returns an API with one invocation after the restoration.
fn snapshot() -> Api {
    Api::replying([event("a", "")], |request| match path(request) {
        "restore/next" => Reply::response("200 OK", &[], ""),
        _ => accepted(),
    })
}

#[tokio::test]
async fn hooks_are_run_around_the_snapshot() {
    let api = snapshot();
    let calls = Arc::new(Mutex::new(Vec::new()));
    let record = |name| {
        let calls = Arc::clone(&calls);
        async move || {
            calls.lock().unwrap().push(name);
            Ok::<_, Infallible>(())
        }
    };
    let runtime = api.runtime(echo()).snap_start(true);
    let runtime = runtime.before_checkpoint(record("before")).after_restore(record("after"));
    api.run(runtime).await.unwrap();
    assert_eq!(*calls.lock().unwrap(), ["before", "after"]);
    assert_eq!(api.paths(), ["restore/next", "invocation/next", "a/response", "invocation/next"]);
    // The connection before the snapshot is not used after it.
    let requests = api.server.requests();
    assert_ne!(requests[0].connection, requests[1].connection);
    assert_eq!(requests[1].connection, requests[2].connection);
}

#[tokio::test]
async fn hooks_are_not_run_without_a_snapshot() {
    let api = snapshot();
    let refuse = async || Err::<(), _>(anyhow::anyhow!("must not be called"));
    let runtime = api.runtime(echo()).snap_start(false);
    api.run(runtime.before_checkpoint(refuse).after_restore(refuse)).await.unwrap();
    assert_eq!(api.paths(), ["invocation/next", "a/response", "invocation/next"]);
}

#[tokio::test]
async fn failed_hook_is_reported_and_ends_the_function() {
    for (panics, expected) in [(false, "NoDisk"), (true, "Function.Panic")] {
        let hook = async move || {
            assert!(!panics, "a bug of the hook");
            Err(ErrorReport::new("NoDisk", "no disk"))
        };
        let api = snapshot();
        let runtime = api.runtime(echo()).snap_start(true).before_checkpoint(hook);
        let error = api.run(runtime).await.unwrap_err();
        let ErrorKind::Hook(report) = error.kind() else { panic!("{error}") };
        assert_eq!((&*report.error_type, error.is_fatal()), (expected, true));
        assert_eq!(api.paths(), ["init/error"]);

        let api = snapshot();
        let runtime = api.runtime(echo()).snap_start(true).after_restore(hook);
        let error = api.run(runtime).await.unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Hook(_)), "{error}");
        assert_eq!(api.paths(), ["restore/next", "restore/error"]);
        assert!(api.posted()[0].1.contains(expected));
    }
}

#[tokio::test]
async fn runtime_ends_if_the_restoration_is_refused() {
    let api = Api::replying([], |_| refused("403 Forbidden", "InvalidStateTransition"));
    let error = api.run(api.runtime(echo()).snap_start(true)).await.unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Api(_)), "{error}");
    assert_eq!(api.paths(), ["restore/next"]);
}
