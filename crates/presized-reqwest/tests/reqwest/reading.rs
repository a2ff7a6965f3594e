//! Tests of bodies that are read: the forms, and the bytes that the limit counts.

use std::ops::ControlFlow;

use bytes::Bytes;
use http::header::ETAG;
use http::{HeaderMap, HeaderValue};
use presized::{BufferPool, CollectError, ContentLength, LengthHistory, Reader};
use presized_reqwest::ResponseExt;
use presized_support::coded::{CODINGS, PIECE, bomb, coded};
use presized_support::mock::{Mock, Step};
use presized_support::server::Server;
use reqwest::{Body, Client, Method, Response};
use serde::Deserialize;
use tokio::sync::mpsc;

use crate::{client, coded_response, get, respond, whole_response};

#[derive(Debug, Deserialize, PartialEq)]
struct Price {
    item: String,
    cents: u64,
}

#[tokio::test]
async fn every_form_reads_the_sent_content() {
    let json = r#"{"item":"té","cents":700}"#;
    let identity = std::iter::once(("identity", whole_response("", json.as_bytes())));
    let codings = CODINGS.map(|c| (c, coded_response(c, &coded(c, json.as_bytes()))));
    for (coding, wire) in identity.chain(codings) {
        let (response, _server) = get(wire.clone()).await;
        assert_eq!(response.collect_presized(1024).bytes().await.unwrap(), json, "{coding}");
        let (response, _server) = get(wire.clone()).await;
        assert_eq!(response.collect_presized(1024).text().await.unwrap(), json, "{coding}");
        let (response, _server) = get(wire).await;
        let price = response.collect_presized(1024).json::<Price>().await.unwrap();
        assert_eq!(price, Price { item: "té".to_owned(), cents: 700 }, "{coding}");
    }
}

#[tokio::test]
async fn limit_is_inclusive_and_counts_decoded_bytes() {
    let content = [7; 10_000];
    for coding in CODINGS {
        let wire = coded_response(coding, &coded(coding, &content));
        let (response, _server) = get(wire.clone()).await;
        assert_eq!(response.collect_presized(10_000).bytes().await.unwrap(), content[..]);
        let (response, _server) = get(wire).await;
        let error = response.collect_presized(9_999).bytes().await.unwrap_err();
        assert!(matches!(error, CollectError::TooLarge { limit: 9_999, .. }), "{coding}: {error}");
        assert_eq!(error.into_partial(), content[..9_999], "{coding}");
    }
}

#[tokio::test]
async fn declared_length_is_exact_if_nothing_is_decoded() {
    let (response, _server) = get(whole_response("", b"hello")).await;
    let read = response.collect_presized(5).collected().await.unwrap();
    assert_eq!(read.stats.content_length, ContentLength::Exact(5));
    let (response, _server) = get(whole_response("", b"hello")).await;
    let error = response.collect_presized(4).bytes().await.unwrap_err();
    assert!(
        matches!(error, CollectError::DeclaredTooLarge { declared: 5, limit: 4, .. }),
        "{error}"
    );
}

/// Content-Length counts coded bytes, and reqwest removes it. It can neither refuse a small body nor
/// hide a large one.
#[tokio::test]
async fn decoded_body_has_unknown_length() {
    // The coded form is longer than the decoded form, and the limit is between the two.
    let wire = coded_response("gzip", &coded("gzip", b"hi"));
    let (response, _server) = get(wire).await;
    assert_eq!(response.content_length(), None);
    assert!(!response.headers().contains_key("content-length"));
    let read = response.collect_presized(2).collected().await.unwrap();
    assert_eq!(read.content, "hi");
    assert_eq!(read.stats.content_length, ContentLength::Unknown);
}

#[tokio::test]
async fn limit_counts_coded_bytes_if_reqwest_does_not_decode() {
    let content = bomb("br", 1, 16);
    let server = Server::raw(coded_response("br", &content)).unwrap();
    drop(client()); // installs the provider
    let client = Client::builder().no_proxy().no_brotli().build().unwrap();
    let limit = content.len() as u64;
    let response = client.get(server.endpoint().url("/")).send().await.unwrap();
    let read = response.collect_presized(limit).collected().await.unwrap();
    assert_eq!(read.content, content);
    assert_eq!(read.stats.content_length, ContentLength::Exact(limit));
}

#[tokio::test]
async fn response_to_head_is_empty_whatever_it_declares() {
    for coding in CODINGS.into_iter().chain(["identity"]) {
        let head = format!(
            "HTTP/1.1 200 OK\r\nContent-Encoding: {coding}\r\nContent-Length: 3501\r\n\r\n"
        );
        let (response, _server) = respond(Method::HEAD, head).await;
        assert_eq!(response.collect_presized(0).bytes().await.unwrap(), "", "{coding}");
    }
}

#[tokio::test]
async fn http2_response_to_head_that_ends_in_an_empty_frame_is_empty() {
    let mut server = Http2Server::start().await;
    let mut head = async || {
        let (response, mut stream) = server.respond(Method::HEAD).await;
        stream.send_data(Bytes::new(), true).unwrap();
        response
    };
    let read = head().await.collect_presized(3501).collected().await.unwrap();
    assert_eq!((read.content, read.stats.content_length), ("".into(), ContentLength::Exact(0)));
    assert_eq!(head().await.collect_presized(3501).text().await.unwrap(), "");
    assert_eq!(head().await.into_presized(3501).bytes().await.unwrap(), "");

    // A length over the limit is refused before the frame can be seen.
    let error = head().await.collect_presized(3500).bytes().await.unwrap_err();
    assert!(matches!(error, CollectError::DeclaredTooLarge { declared: 3501, .. }), "{error}");
    let response = http::Response::<Body>::from(head().await);
    let read = presized::ResponseExt::collect_presized(response, &Method::HEAD, 0).bytes().await;
    assert_eq!(read.unwrap(), "");
}

/// hyper ends such a body without an error, as after HEAD.
#[tokio::test]
async fn http2_body_that_is_reset_before_its_last_byte_is_incomplete() {
    let mut server = Http2Server::start().await;
    let (response, mut stream) = server.respond(Method::GET).await;
    stream.send_reset(h2::Reason::NO_ERROR);
    let error = response.collect_presized(10_000).bytes().await.unwrap_err();
    assert!(matches!(error, CollectError::Incomplete { received: 0, .. }), "{error}");

    for first in [&b"hel"[..], b""] {
        let (response, mut stream) = server.respond(Method::GET).await;
        for frame in [first, b"lo"] {
            stream.send_data(Bytes::from_static(frame), false).unwrap();
        }
        let received = first.len() as u64 + 2;
        let collect = response.collect_presized(10_000).on_progress(|progress| {
            if progress.received == received {
                stream.send_reset(h2::Reason::NO_ERROR);
            }
            ControlFlow::Continue(())
        });
        let error = collect.bytes().await.unwrap_err();
        assert!(matches!(error, CollectError::Incomplete { declared: 3501, .. }), "{error}");
        assert_eq!(error.received(), received);
    }
}

/// The frame that ends a stream is followed by the end at once. Some versions of h2 deliver other empty
/// frames too, and hyper hides a reset after them.
#[tokio::test]
async fn http2_body_that_goes_on_after_an_empty_frame_is_no_response_to_head() {
    let read = async |steps: Vec<Step>| {
        let body = Body::wrap(Mock::new(steps).exact(5));
        let response = http::Response::builder().version(http::Version::HTTP_2).body(body);
        Response::from(response.unwrap()).collect_presized(5).bytes().await
    };
    assert_eq!(read(vec![Step::Data("".into())]).await.unwrap(), "");
    let error = read(vec![Step::Data("".into()), Step::Wait]).await.unwrap_err();
    assert!(matches!(error, CollectError::Incomplete { declared: 5, .. }), "{error}");
    let steps = vec![Step::Data("".into()), Step::Wait, Step::Data("hello".into())];
    assert_eq!(read(steps).await.unwrap(), "hello");
}

#[tokio::test]
async fn http2_body_with_an_empty_first_frame_is_read_to_its_end() {
    let mut server = Http2Server::start().await;
    let (response, mut stream) = server.respond(Method::GET).await;
    for frame in [&[][..], &[], &[7; 3501], &[]] {
        stream.send_data(Bytes::from_static(frame), false).unwrap();
    }
    stream.send_trailers(HeaderMap::from_iter([(ETAG, HeaderValue::from_static("1"))])).unwrap();
    let read = response.collect_presized(3501).collected().await.unwrap();
    assert_eq!(read.content, [7; 3501][..]);
    assert_eq!(read.stats.content_length, ContentLength::Exact(3501));
    assert_eq!(read.trailers.unwrap()[ETAG], "1");
}

/// An HTTP/2 server whose responses declare 3501 bytes, and its client.
struct Http2Server {
    streams: mpsc::UnboundedReceiver<h2::SendStream<Bytes>>,
    client: Client,
    url: String,
}

impl Http2Server {
    async fn start() -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        let (responses, streams) = mpsc::unbounded_channel();
        tokio::spawn(async move {
            let (stream, _) = listener.accept().await.unwrap();
            let mut connection = h2::server::handshake(stream).await.unwrap();
            while let Some(Ok((_, mut respond))) = connection.accept().await {
                let head = http::Response::builder().header("content-length", "3501");
                let stream = respond.send_response(head.body(()).unwrap(), false).unwrap();
                responses.send(stream).unwrap();
            }
        });
        drop(client()); // installs the provider
        let client = Client::builder().no_proxy().http2_prior_knowledge().build().unwrap();
        Self { streams, client, url }
    }

    /// Returns the head of the next response, and the stream to send its body to.
    async fn respond(&mut self, method: Method) -> (Response, h2::SendStream<Bytes>) {
        let response = self.client.request(method, &self.url).send().await.unwrap();
        (response, self.streams.recv().await.unwrap())
    }
}

#[tokio::test]
async fn pool_reuses_one_buffer_for_consecutive_responses() {
    let pool = BufferPool::new(1 << 20);
    let content = vec![7; 100_000];
    for round in 0..3 {
        let (response, _server) = get(whole_response("", &content)).await;
        let read =
            response.collect_presized(Reader::new(1 << 20).pool(&pool)).bytes().await.unwrap();
        assert_eq!(read, content);
        drop(read);
        assert_eq!(pool.stats().idle, 1, "{round}");
    }
    // A parsed value does not keep the buffer.
    let text = format!("\"{}\"", "x".repeat(99_998));
    let (response, _server) = get(whole_response("", text.as_bytes())).await;
    let value: String =
        response.collect_presized(Reader::new(1 << 20).pool(&pool)).json().await.unwrap();
    assert_eq!((value.len(), pool.stats().idle, pool.stats().outstanding), (99_998, 1, 0));
}

#[tokio::test]
async fn history_records_decoded_lengths() {
    let history = LengthHistory::new();
    let wire = coded_response("br", &bomb("br", 1, 16));
    for round in 0..2 {
        let (response, _server) = get(wire.clone()).await;
        let collect = response.collect_presized(Reader::new(PIECE as u64).history(&history));
        let stats = collect.collected().await.unwrap().stats;
        assert_eq!(stats.received, PIECE as u64);
        // The history predicts the second length, so one reservation is enough.
        assert_eq!(stats.reservations == 1, round == 1, "{stats:?}");
    }
}

#[tokio::test]
async fn presized_response_keeps_url_fields_and_address() {
    let wire = whole_response("X-Kept: yes\r\n", b"hello");
    let (response, server) = get(wire).await;
    let address = response.remote_addr();
    let response = response.into_presized(5);
    assert_eq!(response.url().as_str(), server.endpoint().url("/path"));
    assert_eq!(response.headers()["x-kept"], "yes");
    assert_eq!(response.remote_addr(), address);
    assert_eq!(response.content_length(), Some(5));
    assert_eq!(response.text().await.unwrap(), "hello");
}

#[tokio::test]
async fn presized_response_has_one_frame() {
    let content = vec![7; 1 << 20];
    for coding in CODINGS {
        let (response, _server) = get(coded_response(coding, &coded(coding, &content))).await;
        let mut response = response.into_presized(1 << 20);
        assert_eq!(response.chunk().await.unwrap().unwrap().len(), 1 << 20, "{coding}");
        assert_eq!(response.chunk().await.unwrap(), None, "{coding}");
    }
}

/// A layer between reqwest and the reader may decode the body and leave the head unchanged.
#[tokio::test]
async fn content_length_of_coded_form_is_a_hint() {
    for declared in [0, 3, 99_999_999_999] {
        let response = http::Response::builder()
            .header("content-encoding", "gzip")
            .header("content-length", declared)
            .body(Body::wrap(Mock::of(["hel", "lo"])))
            .unwrap();
        let response = reqwest::Response::from(response);
        let read = response.collect_presized(5).collected().await.unwrap();
        assert_eq!(read.content, "hello", "{declared}");
        assert_eq!(read.stats.content_length, ContentLength::Hint(declared));
    }
}
