//! Tests of failed reads: the error, its message, and the bytes that it keeps.

use std::ops::ControlFlow;
use std::time::Duration;

use presized::{BufferPool, CollectError, MemoryBudget, MinRate, Reader};
use presized_reqwest::ResponseExt;
use presized_support::chain::{chain, messages};
use presized_support::coded::{CODINGS, coded};
use presized_support::mock::Mock;
use presized_support::server::{Protocol, Server, known, stalled};
use reqwest::{Body, Method};

use crate::{client, coded_response, get, respond, whole_response};

type ReadError = CollectError<reqwest::Error>;

/// Returns the error of the reader among the sources of an error of reqwest.
fn read_error(error: &reqwest::Error) -> &ReadError {
    chain(error)
        .find_map(|error| error.downcast_ref())
        .expect("the error of the reader is among the sources")
}

#[tokio::test]
async fn invalid_json_differs_from_failed_read() {
    let (response, _server) = get(whole_response("", b"[1,2")).await;
    let error = response.collect_presized(1024).json::<Vec<u8>>().await.unwrap_err();
    let CollectError::InvalidJson { source, .. } = &error else { panic!("{error}") };
    assert!(source.get_ref().downcast_ref::<serde_json::Error>().unwrap().is_eof());
    assert_eq!(
        messages(&error),
        [
            "body is not JSON of the requested type: 4 bytes received",
            "EOF while parsing a list at line 1 column 4",
        ]
    );
    assert_eq!((error.received(), error.is_too_large()), (4, false));
    let error = error.map_body(|error| error);
    assert_eq!(error.into_partial(), "[1,2");

    // Valid JSON, but not of the requested type.
    let (response, _server) = get(whole_response("", b"[1,-2]")).await;
    let error = response.collect_presized(1024).json::<Vec<u8>>().await.unwrap_err();
    let CollectError::InvalidJson { source, .. } = &error else { panic!("{error}") };
    assert!(source.get_ref().downcast_ref::<serde_json::Error>().unwrap().is_data());

    let (response, _server) = get(whole_response("", b"[1,2]")).await;
    let error = response.collect_presized(4).json::<Vec<u8>>().await.unwrap_err();
    assert!(error.is_too_large(), "{error}");
}

#[tokio::test]
async fn dropped_json_error_returns_its_buffer_to_the_pool() {
    let pool = BufferPool::new(1 << 20);
    let (response, _server) = get(whole_response("", &[b'x'; 50_000])).await;
    let read = response.collect_presized(Reader::new(1 << 20).pool(&pool)).json::<Vec<u8>>();
    let error = read.await.unwrap_err();
    assert_eq!((pool.stats().outstanding, pool.stats().idle), (1, 0));
    drop(error);
    assert_eq!((pool.stats().outstanding, pool.stats().idle), (0, 1));
}

#[tokio::test]
async fn text_rejects_content_that_is_not_utf_8() {
    let (response, _server) = get(whole_response("", b"caf\xe9")).await;
    let error = response.collect_presized(1024).text().await.unwrap_err();
    assert!(matches!(error, CollectError::InvalidUtf8 { valid_up_to: 3, .. }), "{error}");
    // `Response::text` replaces invalid bytes.
    let (response, _server) = get(whole_response("", b"caf\xe9")).await;
    assert_eq!(response.into_presized(1024).text().await.unwrap(), "caf\u{fffd}");
}

#[tokio::test]
async fn truncated_body_is_an_error_with_partial_content() {
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
async fn truncated_coded_body_is_an_error_with_decoded_content() {
    let content: Vec<u8> = (0..50_000_u32).flat_map(u32::to_le_bytes).collect();
    for coding in CODINGS {
        let mut part = coded(coding, &content);
        part.truncate(part.len() / 2);
        let (response, _server) = get(coded_response(coding, &part)).await;
        let error = response.collect_presized(1 << 20).bytes().await.unwrap_err();
        assert!(matches!(error, CollectError::Body { declared: None, .. }), "{coding}: {error}");
        let partial = error.into_partial();
        assert!(!partial.is_empty() && content.starts_with(&partial), "{coding}");
    }
}

/// Content-Length counts coded bytes. A wrong one fails the decoder or the message. It does not change
/// the limit, and nothing is reserved for it.
#[tokio::test]
async fn wrong_content_length_of_coded_body_fails_the_body() {
    let part = coded("gzip", &[7; 100_000]);
    for declared in [0, 1, part.len() - 1, part.len() + 1, usize::MAX >> 1] {
        let head = format!(
            "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: {declared}\r\n\r\n"
        );
        let (response, _server) = get([head.as_bytes(), &part].concat()).await;
        match response.collect_presized(100_000).bytes().await {
            // The body is empty, so the decoder has nothing to decode.
            Ok(content) => assert_eq!((declared, content.len()), (0, 0)),
            Err(error) => {
                assert!(matches!(error, CollectError::Body { declared: None, .. }), "{error}");
                assert!(declared > 0, "{error}");
            }
        }
    }
}

#[tokio::test]
async fn reqwest_timeouts_fail_the_body_with_partial_content() {
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
async fn wait_for_memory_counts_for_timeouts_of_reqwest_and_not_for_a_least_rate() {
    let server = Server::start(Protocol::Http1).unwrap();
    drop(client()); // installs the provider
    let builder = || reqwest::Client::builder().no_proxy();
    let short = Duration::from_millis(200);
    let budget = MemoryBudget::new(1 << 20);
    let reader = Reader::new(1 << 20).budget(&budget);
    let idle = reader.clone().min_rate(MinRate::new(1, short, tokio::time::sleep));
    let table = [
        (builder().timeout(short), &reader, false),
        (builder().read_timeout(short), &reader, false),
        (builder(), &idle, true),
    ];
    for (client, reader, is_whole) in table {
        let url = server.endpoint().url(&known(1 << 20));
        let response = client.build().unwrap().get(url).send().await.unwrap();
        let kept = reader.collect(Mock::of(["x"])).content_length(1).await.unwrap();
        let release = async {
            tokio::time::sleep(2 * short).await;
            drop(kept);
        };
        let (read, ()) = tokio::join!(response.collect_presized(reader.clone()).bytes(), release);
        match read {
            Ok(content) => assert!(is_whole && content.len() == 1 << 20),
            Err(CollectError::Body { source, .. }) => assert!(!is_whole && source.is_timeout()),
            Err(error) => panic!("{error}"),
        }
    }
}

#[tokio::test]
async fn dropped_read_returns_its_buffer_to_the_pool() {
    let pool = BufferPool::new(1 << 20);
    let server = Server::start(Protocol::Http1).unwrap();
    let url = server.endpoint().url(&stalled(1 << 20));
    let response = client().get(url).send().await.unwrap();
    let (sender, mut first) = tokio::sync::mpsc::unbounded_channel();
    let read =
        response.collect_presized(Reader::new(1 << 20).pool(&pool)).on_progress(move |progress| {
            let _ = sender.send(progress.received);
            ControlFlow::Continue(())
        });
    tokio::select! {
        read = read.bytes() => panic!("{read:?}"),
        // The bytes are in the buffer now.
        received = first.recv() => assert!(received.is_some()),
    }
    assert_eq!((pool.stats().outstanding, pool.stats().idle), (0, 1));
}

#[tokio::test]
async fn reqwest_error_of_presized_response_has_collect_error_as_source() {
    let (response, server) = get(whole_response("", b"hello")).await;
    let error = response.into_presized(4).text().await.unwrap_err();
    assert!(matches!(
        read_error(&error),
        CollectError::DeclaredTooLarge { declared: 5, limit: 4, .. }
    ));
    assert_eq!(error.url().unwrap().as_str(), server.endpoint().url("/path"));

    let (response, _server) = get(coded_response("zstd", &coded("zstd", b"hello"))).await;
    let error = response.into_presized(4).bytes().await.unwrap_err();
    assert!(matches!(read_error(&error), CollectError::TooLarge { limit: 4, received: 5, .. }));

    // This body has no size hint, so only the head tells its length.
    let response = http::Response::builder().header("content-length", 6);
    let response = response.body(Body::wrap(Mock::of(["hel", "lo"]))).unwrap();
    let error = reqwest::Response::from(response).into_presized(6).bytes().await.unwrap_err();
    assert!(matches!(
        read_error(&error),
        CollectError::Incomplete { declared: 6, received: 5, .. }
    ));

    // reqwest still finds its own error among the sources.
    let head = "HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n12345";
    let (response, _server) = respond(Method::GET, head).await;
    let error = response.into_presized(100).bytes().await.unwrap_err();
    assert!(matches!(read_error(&error), CollectError::Body { received: 5, .. }));
    assert!(!error.is_timeout());
}
