//! Requests that a hyper server reads, sent as raw bytes.

use std::convert::Infallible;

use bytes::Bytes;
use http::{HeaderMap, Request, Response};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use presized::{Collect, CollectError, Reader, RequestExt};
use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};
use tokio::time::timeout;

use crate::http1::DEADLINE;

const LIMIT: u64 = 5;

/// Reads the request in the form that its path names.
async fn read(request: Request<Incoming>) -> Result<Bytes, CollectError<hyper::Error>> {
    match request.uri().path() {
        "/bytes" => request.collect_presized(LIMIT).await,
        "/reader" => Reader::new(LIMIT).request(request).await,
        "/append" => {
            let mut buffer = Vec::new();
            request.collect_presized(LIMIT).append_to(&mut buffer).await?;
            Ok(buffer.into())
        }
        "/presized" => {
            let collected = request.into_presized(LIMIT).into_body().collect().await?;
            Ok(collected.to_bytes())
        }
        "/limited" => {
            let (head, body) = request.into_parts();
            let body = Collect::of_request(&head, body, LIMIT).into_limited();
            Ok(body.collect().await?.to_bytes())
        }
        "/trailers" => {
            let read = request.collect_presized(LIMIT).collected().await?;
            Ok(format!("{} {:?}", read.content.len(), read.trailers).into())
        }
        path => panic!("no form {path}"),
    }
}

/// Sends these bytes to a server, closes the sending side if `closes`, and returns what the server
/// sends until it closes the connection.
async fn exchange(request: String, closes: bool) -> String {
    let (mut client, server) = duplex(4096);
    let service = service_fn(async |request| {
        Ok::<_, Infallible>(match read(request).await {
            Ok(content) => Response::new(Full::new(content)),
            Err(error) => {
                let response = Response::builder().status(error.status());
                response.body(Full::from(error.to_string())).unwrap()
            }
        })
    });
    let served = async {
        let mut builder = http1::Builder::new();
        builder.half_close(true);
        let _ = builder.serve_connection(TokioIo::new(server), service).await;
    };
    let exchanged = async {
        client.write_all(request.as_bytes()).await.unwrap();
        if closes {
            client.shutdown().await.unwrap();
        }
        let mut response = String::new();
        client.read_to_string(&mut response).await.unwrap();
        response
    };
    timeout(DEADLINE, async { tokio::join!(served, exchanged).1 }).await.unwrap()
}

fn head(path: &str, fields: &str) -> String {
    format!("PUT {path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n{fields}\r\n")
}

const FORMS: [&str; 5] = ["/bytes", "/reader", "/append", "/presized", "/limited"];

#[tokio::test]
async fn hyper_sends_100_continue_for_an_accepted_request_and_not_for_a_refused_one() {
    for form in FORMS {
        let expecting = |length| format!("Expect: 100-continue\r\nContent-Length: {length}\r\n");
        let refused = exchange(head(form, &expecting(6)), false).await;
        assert!(refused.starts_with("HTTP/1.1 413 "), "{form}: {refused}");
        let message = "body declares 6 bytes, over the limit of 5 bytes";
        assert!(refused.ends_with(message), "{form}: {refused}");

        let accepted = exchange(head(form, &expecting(5)) + "hello", false).await;
        let start = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n";
        assert!(accepted.starts_with(start), "{form}: {accepted}");
        assert!(accepted.ends_with("\r\n\r\nhello"), "{form}: {accepted}");
    }
}

#[tokio::test]
async fn chunked_request_over_limit_is_413_and_within_it_is_read() {
    let chunks =
        |form, chunks| exchange(head(form, "Transfer-Encoding: chunked\r\n") + chunks, false);
    for form in FORMS {
        let read = chunks(form, "3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n").await;
        assert!(read.starts_with("HTTP/1.1 200 "), "{form}: {read}");
        assert!(read.ends_with("\r\n\r\nhello"), "{form}: {read}");
        let refused = chunks(form, "3\r\nhel\r\n3\r\nlo!\r\n0\r\n\r\n").await;
        assert!(refused.starts_with("HTTP/1.1 413 "), "{form}: {refused}");
        let message = "body is over the limit of 5 bytes: 6 bytes received";
        assert!(refused.ends_with(message), "{form}: {refused}");
    }
}

#[tokio::test]
async fn request_that_breaks_off_is_400() {
    for form in FORMS {
        let declared = exchange(head(form, "Content-Length: 5\r\n") + "hell", true).await;
        assert!(declared.starts_with("HTTP/1.1 400 "), "{form}: {declared}");
        let message = "body failed: 4 of 5 declared bytes received";
        assert!(declared.ends_with(message), "{form}: {declared}");
        let fields = "Transfer-Encoding: chunked\r\n";
        let chunked = exchange(head(form, fields) + "4\r\nhell\r\n", true).await;
        assert!(chunked.starts_with("HTTP/1.1 400 "), "{form}: {chunked}");
        assert!(chunked.ends_with("body failed: 4 bytes received"), "{form}: {chunked}");
    }
}

#[tokio::test]
async fn methods_without_content_in_a_response_have_content_in_a_request() {
    // The response to HEAD has no content, and its status tells whether the content was read.
    for (method, form) in [("GET", "/bytes"), ("DELETE", "/presized"), ("OPTIONS", "/limited")] {
        let request = head(form, "Content-Length: 5\r\n").replacen("PUT", method, 1) + "hello";
        let read = exchange(request, false).await;
        assert!(read.ends_with("\r\n\r\nhello"), "{method}: {read}");
    }
    let over = head("/bytes", "Content-Length: 6\r\n").replacen("PUT", "HEAD", 1);
    assert!(exchange(over, false).await.starts_with("HTTP/1.1 413 "));
}

#[tokio::test]
async fn request_without_content_is_empty() {
    for form in FORMS {
        let read = exchange(head(form, ""), false).await;
        assert!(read.starts_with("HTTP/1.1 200 ") && read.ends_with("\r\n\r\n"), "{read}");
    }
}

#[tokio::test]
async fn trailers_of_a_chunked_request_are_read() {
    let fields = "Transfer-Encoding: chunked\r\nTrailer: x-sum\r\n";
    let request = head("/trailers", fields) + "5\r\nhello\r\n0\r\nx-sum: 7\r\n\r\n";
    let trailers = [("x-sum".parse().unwrap(), "7".parse().unwrap())];
    let trailers: HeaderMap = trailers.into_iter().collect();
    let read = exchange(request, false).await;
    assert!(read.ends_with(&format!("\r\n\r\n5 {:?}", Some(trailers))), "{read}");
}
