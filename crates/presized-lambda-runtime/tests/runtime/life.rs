//! Initialization errors, and restoration from a snapshot.

use presized_lambda_runtime::ErrorReport;
use presized_support::scripted::Scripted;

use super::{accepted, client, in_time, refusal, seen};

#[tokio::test]
async fn initialization_and_restoration_errors_are_reported() {
    let server = Scripted::in_turn([accepted(), accepted()]);
    let client = client(&server);
    let report = ErrorReport::new("Runtime.NoTable", "m");
    in_time(client.init_error(&report)).await.unwrap();
    in_time(client.restore_error(&report)).await.unwrap();
    assert_eq!(
        seen(&server),
        ["POST /2018-06-01/runtime/init/error", "POST /2018-06-01/runtime/restore/error"]
    );
    for request in server.requests() {
        let body = r#"{"errorType":"Runtime.NoTable","errorMessage":"m","stackTrace":[]}"#;
        assert_eq!(String::from_utf8_lossy(&request.body), body);
        assert_eq!(request.header("lambda-runtime-function-error-type"), Some("Runtime.NoTable"));
    }
}

#[tokio::test]
async fn restore_next_returns_after_the_response() {
    let server = Scripted::in_turn([accepted()]);
    in_time(client(&server).restore_next()).await.unwrap();
    assert_eq!(seen(&server), ["GET /2018-06-01/runtime/restore/next"]);
}

#[tokio::test]
async fn refused_report_is_an_error() {
    let table =
        [("403 Forbidden", false), ("404 Not Found", false), ("500 Internal Server Error", true)];
    let report = ErrorReport::new("A", "");
    for (status, is_fatal) in table {
        let server = Scripted::start(move |_, _| refusal(status, "InvalidStateTransition"));
        let client = client(&server);
        let results = [
            in_time(client.init_error(&report)).await,
            in_time(client.restore_error(&report)).await,
            in_time(client.restore_next()).await,
        ];
        for result in results {
            let error = result.unwrap_err();
            assert_eq!(error.is_fatal(), is_fatal, "{status}");
            let error_type = error.as_api_error().unwrap().error_type.as_deref();
            assert_eq!(error_type, Some("InvalidStateTransition"));
        }
        assert_eq!(seen(&server).len(), 3, "{status}");
    }
}
