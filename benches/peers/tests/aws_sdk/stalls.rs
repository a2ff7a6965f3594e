//! The SDK's protection against stalled streams: at least 1 byte per second, within a grace period.

use std::time::Duration;

use bytes::Bytes;
use presized::{BufferPool, Collect, MemoryBudget, Reader};
use presized_aws_sdk::Interceptor;
use presized_support::scripted::{Reply, Scripted};

use crate::clients::{Settings, schemas};
use crate::schemas::source;
use crate::{LIMIT, causes, within_time};

#[tokio::test]
async fn stalled_responses_fail_as_without_the_interceptor() {
    let head = "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n";
    let table = [
        // No byte, no further byte, and less than a byte per second.
        Reply::Hang(head.into()),
        Reply::Hang(format!("{head}hello").into()),
        Reply::Trickle(format!("{head}hello").into(), 4 * GRACE, vec![Bytes::from("x"); 9]),
    ];
    for stalled in table {
        for interceptor in [None, Some(Interceptor::new(LIMIT))] {
            let reply = stalled.clone();
            let server = Scripted::start(move |_, _| reply.clone());
            let settings = Settings { interceptor, attempts: 1, grace: GRACE };
            let client = schemas(server.address(), settings);
            let error = within_time(source(&client).send()).await.unwrap_err();
            let cause = causes(&error).last().unwrap().to_string();
            assert!(cause.contains("minimum throughput was specified at 1 B/s"), "{cause}");
            assert_eq!(server.requests().len(), 1);
        }
    }
}

#[tokio::test]
async fn slow_response_is_read_for_longer_than_a_stall_may_last() {
    let head = "HTTP/1.1 200 OK\r\nContent-Length: 300\r\n\r\n";
    // Each piece takes a tenth of a second, three seconds in all.
    let pieces = vec![Bytes::from("0123456789"); 30];
    let reply = Reply::Trickle(head.into(), GRACE / 5, pieces);
    let server = Scripted::in_turn([reply]);
    let settings = Settings { grace: GRACE, ..Interceptor::new(LIMIT).into() };
    let output = source(&schemas(server.address(), settings)).send().await.unwrap();
    assert_eq!(output.body.unwrap().as_ref(), "0123456789".repeat(30).as_bytes());
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn response_that_waits_for_memory_of_a_budget_is_not_a_stalled_stream() {
    let server = Scripted::in_turn([Reply::response("200 OK", &[], "hello")]);
    let budget = MemoryBudget::new(8);
    let pool = BufferPool::new(0);
    let body = http_body_util::Full::<Bytes>::from("in use!");
    let held =
        Collect::new(body, Reader::new(8).budget(&budget).pool(&pool)).bytes().await.unwrap();
    assert!(budget.in_use() > 3);

    let interceptor = Interceptor::new(Reader::new(8).budget(&budget));
    let settings = Settings { grace: GRACE, ..interceptor.into() };
    let client = schemas(server.address(), settings);
    let call = tokio::spawn(source(&client).send());
    tokio::time::sleep(4 * GRACE).await;
    assert!(!call.is_finished());
    drop(held);
    let output = within_time(call).await.unwrap().unwrap();
    assert_eq!(output.body.unwrap().as_ref(), b"hello");
    assert_eq!(server.requests().len(), 1);
}

const GRACE: Duration = Duration::from_millis(500);
