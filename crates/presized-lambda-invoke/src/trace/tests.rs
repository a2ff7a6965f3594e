use std::cell::RefCell;

use aws_credential_types::Credentials;
use presized_support::scripted::{Recorded, Reply, Scripted};

use crate::{Client, ClientBuilder};

const TRACE: &str = "Root=1-5759e988-bd862e3fe1be46a994272793;Parent=3995c3f42cd8ad8;Sampled=1;\
                     Lineage=a87bd80c:1|68fd508a:5|c512fbe3:2";

#[tokio::test]
async fn trace_of_the_environment_is_sent_inside_a_function_only() {
    for (function, trace, expected) in [
        (Some("foo"), Some(TRACE), Some(TRACE)),
        (Some("foo"), Some("first\nsecond"), Some("first%0Asecond")),
        (Some("foo"), Some("a\u{f6}\u{7f}b%"), Some("a%C3%B6%7Fb%")),
        (Some("foo"), Some("Root=1-2-3\n"), Some("Root=1-2-3")),
        (Some("foo"), Some(" \n"), None),
        (Some("foo"), Some(""), None),
        (Some("foo"), None, None),
        (Some(""), Some(TRACE), None),
        (None, Some(TRACE), None),
        (None, None, None),
    ] {
        set(function, trace);
        let server = server();
        let client = in_environment(&server).build().unwrap();
        drop(client.invoke("f").send().await.unwrap());
        drop(client.invoke_streaming("f").send().await.unwrap());
        let requests = server.requests();
        assert_eq!(requests.len(), 2);
        for request in requests {
            assert_eq!(traces(&request), Vec::from_iter(expected), "{function:?} {trace:?}");
            let authorization = request.header("authorization").unwrap();
            assert!(!authorization.contains("x-amzn-trace-id"), "{authorization}");
        }
    }
}

#[tokio::test]
async fn trace_of_the_environment_is_read_by_each_call() {
    let server = server();
    set(Some("foo"), Some("Root=1"));
    let client = in_environment(&server).build().unwrap();
    let early = client.invoke("f");
    for (trace, expected) in [(Some("Root=2"), &["Root=2"][..]), (None, &[])] {
        set(Some("foo"), trace);
        drop(client.invoke("f").send().await.unwrap());
        assert_eq!(traces(&server.requests().pop().unwrap()), expected);
    }
    set(Some("foo"), Some("Root=3"));
    drop(early.send().await.unwrap());
    assert_eq!(traces(&server.requests().pop().unwrap()), ["Root=3"]);
}

#[tokio::test]
async fn all_attempts_of_a_call_have_its_trace() {
    set(Some("foo"), Some("Root=1"));
    let server = Scripted::start(|number, _| match number {
        0 => {
            Reply::response("429 Too Many", &[("x-amzn-errortype", "TooManyRequestsException")], "")
        }
        _ => Reply::response("200 OK", &[], ""),
    });
    let client = in_environment(&server).build().unwrap();
    assert_eq!(client.invoke("f").send().await.unwrap().attempts, 2);
    for request in server.requests() {
        assert_eq!(traces(&request), ["Root=1"]);
    }
}

#[tokio::test]
async fn trace_of_the_call_precedes_the_environment() {
    set(Some("foo"), Some("Root=environment"));
    let server = server();
    let inside = in_environment(&server).build().unwrap();
    let outside = builder(&server).build().unwrap();
    for (client, trace, expected) in [
        (&inside, Some("Root=call"), &["Root=call"][..]),
        (&inside, Some("first\nsecond"), &["first%0Asecond"]),
        (&inside, Some(""), &["Root=environment"]),
        (&inside, None, &["Root=environment"]),
        (&outside, Some("Root=call"), &["Root=call"]),
        (&outside, None, &[]),
    ] {
        drop(client.invoke("f").trace_id(trace).send().await.unwrap());
        let stream = client.invoke_streaming("f").trace_id(trace).send().await.unwrap();
        drop(stream);
        let requests = server.requests();
        for request in &requests[requests.len() - 2..] {
            assert_eq!(traces(request), expected, "{trace:?}");
        }
    }
}

thread_local! {
    /// The name of the function and its trace, as the environment of this thread has them.
    static ENVIRONMENT: RefCell<(Option<String>, Option<String>)> = RefCell::default();
}

fn set(function: Option<&str>, trace: Option<&str>) {
    ENVIRONMENT.set((function.map(str::to_owned), trace.map(str::to_owned)));
}

fn in_environment(server: &Scripted) -> ClientBuilder {
    let mut builder = builder(server);
    builder.environment = Some(|name| {
        ENVIRONMENT.with_borrow(|(function, trace)| match name {
            "AWS_LAMBDA_FUNCTION_NAME" => function.clone(),
            "_X_AMZN_TRACE_ID" => trace.clone(),
            _ => None,
        })
    });
    builder
}

fn builder(server: &Scripted) -> ClientBuilder {
    Client::builder()
        .region("us-east-1")
        .endpoint(server.url())
        .credentials(Credentials::new("AKID", "secret", None, None, "test"))
        .backoff(std::time::Duration::ZERO, std::time::Duration::ZERO)
}

/// Starts a server that sends a response of both operations.
fn server() -> Scripted {
    let stream = [("content-type", crate::wire::EVENT_STREAM)];
    Scripted::start(move |_, _| Reply::response("200 OK", &stream, ""))
}

/// Returns the values of the trace headers.
fn traces(request: &Recorded) -> Vec<&str> {
    let fields = request.head.lines().filter_map(|line| line.split_once(": "));
    fields
        .filter(|(name, _)| name.eq_ignore_ascii_case("x-amzn-trace-id"))
        .map(|(_, value)| value)
        .collect()
}
