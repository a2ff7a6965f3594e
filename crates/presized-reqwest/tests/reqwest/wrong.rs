//! What comes out when something is wrong: the error, what it says, and what is left.

use std::time::Duration;

use presized::{BufferPool, CollectError, Reader};
use presized_reqwest::ResponseExt;
use presized_support::chain::{chain, messages};
use presized_support::mock::Mock;
use presized_support::server::{Protocol, Server, stalled};
use reqwest::{Body, Method};

use crate::coded::{CODINGS, coded};
use crate::{answer, client, coded_answer, get, respond};

type ReadError = CollectError<reqwest::Error>;

/// What the sources of an error of reqwest have in them of ours.
fn ours(error: &reqwest::Error) -> &ReadError {
    chain(error)
        .find_map(|error| error.downcast_ref())
        .expect("the error of the reader is among the sources")
}

#[tokio::test]
async fn json_that_is_none_is_told_from_a_read_that_failed() {
    let (response, _server) = get(answer("", b"[1,2")).await;
    let error = response.collect_presized(1024).json::<Vec<u8>>().await.unwrap_err();
    let CollectError::InvalidJson { source, .. } = &error else { panic!("{error}") };
    assert!(source.get_ref().downcast_ref::<serde_json::Error>().unwrap().is_eof());
    assert_eq!(
        messages(&error),
        [
            "body is not the JSON that was asked for: 4 bytes received",
            "EOF while parsing a list at line 1 column 4",
        ]
    );
    assert_eq!((error.received(), error.is_too_large()), (4, false));
    let error = error.map_body(|error| error);
    assert_eq!(error.into_partial(), "[1,2");

    // Right as JSON, and not what was asked for.
    let (response, _server) = get(answer("", b"[1,-2]")).await;
    let error = response.collect_presized(1024).json::<Vec<u8>>().await.unwrap_err();
    let CollectError::InvalidJson { source, .. } = &error else { panic!("{error}") };
    assert!(source.get_ref().downcast_ref::<serde_json::Error>().unwrap().is_data());

    let (response, _server) = get(answer("", b"[1,2]")).await;
    let error = response.collect_presized(4).json::<Vec<u8>>().await.unwrap_err();
    assert!(error.is_too_large(), "{error}");
}

#[tokio::test]
async fn buffer_returns_when_the_error_with_the_content_is_dropped() {
    let pool = BufferPool::new(1 << 20);
    let (response, _server) = get(answer("", &[b'x'; 50_000])).await;
    let read = response.collect_presized(Reader::new(1 << 20).pool(&pool)).json::<Vec<u8>>();
    let error = read.await.unwrap_err();
    assert_eq!((pool.stats().outstanding, pool.stats().idle), (1, 0));
    drop(error);
    assert_eq!((pool.stats().outstanding, pool.stats().idle), (0, 1));
}

#[tokio::test]
async fn text_is_utf_8() {
    let (response, _server) = get(answer("", b"caf\xe9")).await;
    let error = response.collect_presized(1024).text().await.unwrap_err();
    assert!(matches!(error, CollectError::InvalidUtf8 { valid_up_to: 3, .. }), "{error}");
    // reqwest replaces what it cannot read.
    let (response, _server) = get(answer("", b"caf\xe9")).await;
    assert_eq!(response.into_presized(1024).text().await.unwrap(), "caf\u{fffd}");
}

#[tokio::test]
async fn truncated_body_is_an_error_with_what_arrived() {
    let head = "HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n12345";
    let (response, _server) = get(head).await;
    let error = response.collect_presized(100).bytes().await.unwrap_err();
    let CollectError::Body { source, declared: Some(20), received: 5, .. } = &error else {
        panic!("{error}")
    };
    assert!(source.is_body() && !source.is_timeout() && source.url().is_none());
    assert_eq!(
        messages(&error),
        [
            "body failed: 5 of 20 declared bytes received",
            "request or response body error",
            "error reading a body from connection",
            "end of file before message length reached",
        ]
    );
    assert!(chain(&error).any(|error| error.is::<hyper::Error>()));
    assert_eq!(error.into_partial(), "12345");
}

#[tokio::test]
async fn truncated_coding_is_an_error() {
    let content: Vec<u8> = (0..50_000_u32).flat_map(u32::to_le_bytes).collect();
    for coding in CODINGS {
        let mut part = coded(coding, &content);
        part.truncate(part.len() / 2);
        let (response, _server) = get(coded_answer(coding, &part)).await;
        let error = response.collect_presized(1 << 20).bytes().await.unwrap_err();
        assert!(matches!(error, CollectError::Body { declared: None, .. }), "{coding}: {error}");
        let partial = error.into_partial();
        assert!(!partial.is_empty() && content.starts_with(&partial), "{coding}");
    }
}

/// Content-Length is the length on the wire. One that is wrong there breaks what is decoded, or
/// the message, and never moves the limit or reserves anything.
#[tokio::test]
async fn wrong_length_of_a_coded_body_is_a_broken_body() {
    let part = coded("gzip", &[7; 100_000]);
    for declared in [0, 1, part.len() - 1, part.len() + 1, usize::MAX >> 1] {
        let head = format!(
            "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: {declared}\r\n\r\n"
        );
        let (response, _server) = get([head.as_bytes(), &part].concat()).await;
        match response.collect_presized(100_000).bytes().await {
            // Nothing was sent, and nothing is there to be decoded.
            Ok(content) => assert_eq!((declared, content.len()), (0, 0)),
            Err(error) => {
                assert!(matches!(error, CollectError::Body { declared: None, .. }), "{error}");
                assert!(declared > 0, "{error}");
            }
        }
    }
}

#[tokio::test]
async fn timeouts_of_reqwest_end_a_body_and_leave_what_arrived() {
    let server = Server::start(Protocol::Http1).unwrap();
    drop(client()); // installs the provider
    let builder = || reqwest::Client::builder().no_proxy();
    let clients = [
        builder().timeout(Duration::from_millis(200)),
        builder().read_timeout(Duration::from_millis(200)),
    ];
    for client in clients {
        let url = server.endpoint().url(&stalled(1 << 20));
        let response = client.build().unwrap().get(url).send().await.unwrap();
        let error = response.collect_presized(1 << 20).bytes().await.unwrap_err();
        let CollectError::Body { source, declared, received, .. } = &error else {
            panic!("{error}")
        };
        assert!(source.is_timeout(), "{:?}", messages(&error));
        assert_eq!((*declared, *received), (Some(1 << 20), 64 << 10));
        assert_eq!(error.into_partial().len(), 64 << 10);
    }
}

#[tokio::test]
async fn dropped_read_gives_the_buffer_back() {
    let pool = BufferPool::new(1 << 20);
    let server = Server::start(Protocol::Http1).unwrap();
    let url = server.endpoint().url(&stalled(1 << 20));
    let response = client().get(url).send().await.unwrap();
    let (sender, mut first) = tokio::sync::mpsc::unbounded_channel();
    let read =
        response.collect_presized(Reader::new(1 << 20).pool(&pool)).on_progress(move |progress| {
            let _ = sender.send(progress.received);
        });
    tokio::select! {
        read = read.bytes() => panic!("{read:?}"),
        // The bytes are in the buffer by then.
        received = first.recv() => assert!(received.is_some()),
    }
    assert_eq!((pool.stats().outstanding, pool.stats().idle), (0, 1));
}

#[tokio::test]
async fn error_of_a_presized_response_has_ours_among_its_sources() {
    let (response, server) = get(answer("", b"hello")).await;
    let error = response.into_presized(4).text().await.unwrap_err();
    assert!(matches!(ours(&error), CollectError::DeclaredTooLarge { declared: 5, limit: 4, .. }));
    assert_eq!(error.url().unwrap().as_str(), server.endpoint().url("/path"));

    let (response, _server) = get(coded_answer("zstd", &coded("zstd", b"hello"))).await;
    let error = response.into_presized(4).bytes().await.unwrap_err();
    assert!(matches!(ours(&error), CollectError::TooLarge { limit: 4, received: 5, .. }));

    // Of a body that is not reqwest's own, only the head tells the length.
    let response = http::Response::builder().header("content-length", 6);
    let response = response.body(Body::wrap(Mock::of(["hel", "lo"]))).unwrap();
    let error = reqwest::Response::from(response).into_presized(6).bytes().await.unwrap_err();
    assert!(matches!(ours(&error), CollectError::Incomplete { declared: 6, received: 5, .. }));

    // What reqwest can tell of its own error it still can.
    let head = "HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n12345";
    let (response, _server) = respond(Method::GET, head).await;
    let error = response.into_presized(100).bytes().await.unwrap_err();
    assert!(matches!(ours(&error), CollectError::Body { received: 5, .. }));
    assert!(!error.is_timeout());
}
