use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use presized_lambda_invoke::{Client, Outcome};
use presized_support::scripted::{Reply, Scripted};

use super::{builder, ok, service_error};

#[derive(Clone, Debug, PartialEq, Eq)]
struct Report {
    function: String,
    qualifier: Option<String>,
    outcome: Outcome,
    status: Option<u16>,
    attempts: u32,
    request_bytes: u64,
    response_bytes: u64,
}

fn listening(server: &Scripted) -> (Client, Arc<Mutex<Vec<Report>>>) {
    let reports = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&reports);
    let client = builder(server).on_call(move |report| {
        assert!(report.elapsed > Duration::ZERO);
        sink.lock().unwrap().push(Report {
            function: report.function.to_owned(),
            qualifier: report.qualifier.map(str::to_owned),
            outcome: report.outcome,
            status: report.status.map(|status| status.as_u16()),
            attempts: report.attempts,
            request_bytes: report.request_bytes,
            response_bytes: report.response_bytes,
        });
    });
    (client.build().unwrap(), reports)
}

#[tokio::test]
async fn call_is_reported_once_with_its_outcome() {
    let throttled = || service_error("429 Too Many Requests", "TooManyRequestsException");
    let failed = || Reply::response("200 OK", &[("X-Amz-Function-Error", "Handled")], "{}");
    let hang = || Reply::Hang(Bytes::new());
    for (replies, outcome, status, attempts, response_bytes) in [
        (vec![ok("hello")], Outcome::Succeeded, Some(200), 1, 5),
        (vec![throttled(), ok("hello")], Outcome::Succeeded, Some(200), 2, 5),
        (vec![failed()], Outcome::FunctionError, Some(200), 1, 2),
        (vec![throttled(), throttled(), throttled()], Outcome::Throttled, Some(429), 3, 0),
        (vec![service_error("404 Not Found", "A")], Outcome::ServiceError, Some(404), 1, 0),
        (vec![Reply::Close(Bytes::new())], Outcome::ConnectionError, None, 1, 0),
        (vec![ok(vec![0; 101])], Outcome::TooLarge, Some(200), 1, 0),
        (vec![hang()], Outcome::TimedOut, None, 1, 0),
    ] {
        let timeout = if replies[0] == hang() { 50 } else { 20_000 };
        let server = Scripted::in_turn(replies);
        let (client, reports) = listening(&server);
        let call = client
            .invoke("f")
            .qualifier("live")
            .payload("event")
            .limit(100)
            .timeout(Duration::from_millis(timeout));
        drop(call.send().await);
        let expected = Report {
            function: "f".to_owned(),
            qualifier: Some("live".to_owned()),
            outcome,
            status,
            attempts,
            request_bytes: 5,
            response_bytes,
        };
        assert_eq!(*reports.lock().unwrap(), [expected]);
    }
}

#[tokio::test]
async fn unsent_and_dropped_calls_are_reported() {
    let server = Scripted::start(|_, _| Reply::Hang(Bytes::new()));
    let (client, reports) = listening(&server);
    client.invoke("").send().await.unwrap_err();
    let call = client.invoke("f").send();
    assert!(tokio::time::timeout(Duration::from_millis(50), call).await.is_err());
    let outcomes: Vec<_> = reports.lock().unwrap().iter().map(|report| report.outcome).collect();
    assert_eq!(outcomes, [Outcome::NotSent, Outcome::Cancelled]);
}
