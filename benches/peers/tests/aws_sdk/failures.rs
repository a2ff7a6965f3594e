//! Calls that fail, and the number of their requests.

use std::net::SocketAddr;
use std::time::Duration;

use presized::{CollectError, MemoryBudget, Reader};
use presized_aws_sdk::{Error, Interceptor};
use presized_support::scripted::{Reply, Scripted};

use crate::clients::{Settings, lambda, s3, schemas};
use crate::schemas::source;
use crate::{LIMIT, chunked, read_error, within_time};

#[tokio::test]
async fn response_over_the_limit_is_a_typed_error_after_one_request() {
    let table = [
        (Reply::response("200 OK", &[], "hello!"), "DeclaredTooLarge { declared: 6, limit: 5 }"),
        (
            Reply::Hang("HTTP/1.1 200 OK\r\nContent-Length: 999999999999\r\n\r\n".into()),
            "DeclaredTooLarge { declared: 999999999999, limit: 5 }",
        ),
        (
            chunked(&["hel", "lo!"], ""),
            "TooLarge { limit: 5, received: 6, partial: Partial(5 bytes) }",
        ),
        // The rest of the body is not awaited.
        (
            Reply::Hang("HTTP/1.1 200 OK\r\n\r\nhello!".into()),
            "TooLarge { limit: 5, received: 6, partial: Partial(5 bytes) }",
        ),
    ];
    for (reply, expected) in table {
        let server = Scripted::start(move |_, _| reply.clone());
        let failures = within_time(fail_all(server.address(), Interceptor::new(5))).await;
        for failure in failures {
            assert_eq!(failure, expected);
        }
        assert_eq!(server.requests().len(), 3, "each client sends one");
    }
}

/// Returns the errors of three clients, with one call each.
async fn fail_all(server: SocketAddr, interceptor: Interceptor) -> [String; 3] {
    let show = |error: Option<&Error>| format!("{:?}", error.unwrap());
    let client = lambda(server, interceptor.clone());
    let invoke = client.invoke().function_name("f").send().await.unwrap_err();
    let client = s3(server, interceptor.clone());
    let policy = client.get_bucket_policy().bucket("b").send().await.unwrap_err();
    let source = source(&schemas(server, interceptor)).send().await.unwrap_err();
    [show(read_error(&invoke)), show(read_error(&policy)), show(read_error(&source))]
}

#[tokio::test]
async fn error_has_the_bytes_that_had_arrived() {
    let server = Scripted::in_turn([chunked(&["hel", "lo!"], "")]);
    let client = schemas(server.address(), Interceptor::new(5));
    let error = source(&client).send().await.unwrap_err();
    let error = error.into_source().unwrap().downcast::<Error>().unwrap();
    assert_eq!(error.to_string(), "body is over the limit of 5 bytes: 6 bytes received");
    assert_eq!(error.into_partial(), "hello");
}

#[tokio::test]
async fn call_that_fails_with_a_full_budget_is_not_retried() {
    let server = Scripted::start(|_, _| Reply::response("200 OK", &[], "hello"));
    let budget = MemoryBudget::new(5);
    let interceptor = Interceptor::new(Reader::new(6).budget(&budget.fail_fast()));
    let error = source(&schemas(server.address(), interceptor)).send().await.unwrap_err();
    let error = read_error(&error).unwrap();
    assert!(matches!(error, CollectError::Budget { requested: 6, budget: 5, .. }), "{error:?}");
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn broken_transfers_are_retried_as_without_the_interceptor() {
    let short = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel";
    let chunks = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n";
    let table = [
        Reply::Close(short.into()),
        Reply::Reset(short.into()),
        Reply::Close(chunks.into()),
        Reply::Close(format!("{chunks}xyz\r\n").into()),
    ];
    let whole = Reply::response("200 OK", &[], "hello");
    for broken in table {
        for interceptor in [None, Some(Interceptor::new(LIMIT))] {
            let settings = Settings { interceptor, ..Settings::default() };
            // The third attempt succeeds.
            let server = Scripted::in_turn([broken.clone(), broken.clone(), whole.clone()]);
            let client = schemas(server.address(), settings.clone());
            let output = within_time(source(&client).send()).await.unwrap();
            assert_eq!(output.body.unwrap().as_ref(), b"hello");
            assert_eq!(server.requests().len(), 3);

            // No attempt succeeds.
            let reply = broken.clone();
            let server = Scripted::start(move |_, _| reply.clone());
            let client = schemas(server.address(), settings.clone());
            let error = within_time(source(&client).send()).await.unwrap_err();
            assert_eq!(server.requests().len(), 3, "{broken:?}");
            let read = read_error(&error);
            assert_eq!(read.is_some(), settings.interceptor.is_some());
            if let Some(read) = read {
                assert!(matches!(read, CollectError::Body { .. }), "{read:?}");
            }
            // The error of the transport is a cause in both cases.
            let causes: Vec<_> = crate::causes(&error).map(ToString::to_string).collect();
            assert!(causes.iter().any(|cause| cause.contains("reading a body")), "{causes:?}");
        }
    }
}

#[tokio::test]
async fn response_with_status_503_is_retried_even_if_it_is_over_the_limit() {
    let server = Scripted::start(|_, _| Reply::response("503 Slow Down", &[], "hello!"));
    let client = schemas(server.address(), Interceptor::new(5));
    let error = source(&client).send().await.unwrap_err();
    assert!(read_error(&error).unwrap().is_too_large());
    assert_eq!(server.requests().len(), 3);
}

#[tokio::test]
async fn limit_of_a_call_replaces_the_limit_of_the_client() {
    let server = Scripted::start(|_, _| Reply::response("200 OK", &[], "hello"));
    for (of_client, of_call, is_read) in [(4, 5, true), (5, 4, false)] {
        let client = schemas(server.address(), Interceptor::new(of_client));
        let call = source(&client).customize().interceptor(Interceptor::new(of_call));
        match call.send().await {
            Ok(output) => {
                assert_eq!((output.body.unwrap().as_ref(), is_read), (&b"hello"[..], true))
            }
            Err(error) => {
                assert!(read_error(&error).unwrap().is_too_large());
                assert!(!is_read);
            }
        }
    }
}

#[tokio::test]
async fn connection_is_closed_if_the_rest_of_the_body_is_not_read() {
    let declared = "HTTP/1.1 200 OK\r\nContent-Length: 999999999999\r\n\r\nhello!";
    let server = Scripted::in_turn([Reply::Hang(declared.into())]);
    let client = schemas(server.address(), Interceptor::new(5));
    source(&client).send().await.unwrap_err();
    within_time(async {
        while server.closed() == 0 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    })
    .await;
}
