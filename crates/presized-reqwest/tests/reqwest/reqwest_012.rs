//! reqwest 0.12, whose responses are read through `http::Response` by the trait of the core.

use presized::{Collect, CollectError, ContentLength, ResponseExt};
use presized_support::coded::coded;
use presized_support::server::Server;
use reqwest::Method;
use reqwest_012::{Body, Client};

use crate::{coded_response, whole_response};

/// Sends one request and reads the response with this limit in bytes.
async fn read(method: Method, response: Vec<u8>, limit: u64) -> (Collect<Body>, Server) {
    let server = Server::raw(response).unwrap();
    let client = Client::builder().no_proxy().build().unwrap();
    let request = client.request(method.clone(), server.endpoint().url("/"));
    let response = http::Response::from(request.send().await.unwrap());
    (response.collect_presized(&method, limit), server)
}

#[tokio::test]
async fn response_is_read_into_one_reservation_of_its_declared_length() {
    let (collect, _server) = read(Method::GET, whole_response("", b"hello"), 5).await;
    let read = collect.collected().await.unwrap();
    assert_eq!(read.content, "hello");
    assert_eq!(read.stats.content_length, ContentLength::Exact(5));
    assert_eq!(read.stats.reservations, 1);
}

#[tokio::test]
async fn declared_length_over_the_limit_is_refused() {
    let (collect, _server) = read(Method::GET, whole_response("", b"hello"), 4).await;
    let error = collect.await.unwrap_err();
    assert!(matches!(error, CollectError::DeclaredTooLarge { declared: 5, .. }), "{error}");
}

#[tokio::test]
async fn limit_counts_decoded_bytes() {
    let wire = coded_response("gzip", &coded("gzip", &[7; 10_000]));
    let (collect, _server) = read(Method::GET, wire.clone(), 10_000).await;
    assert_eq!(collect.await.unwrap(), [7; 10_000][..]);
    let (collect, _server) = read(Method::GET, wire, 9_999).await;
    let error: CollectError<reqwest_012::Error> = collect.await.unwrap_err();
    assert!(matches!(error, CollectError::TooLarge { .. }), "{error}");
    assert_eq!(error.into_partial(), [7; 9_999][..]);
}

#[tokio::test]
async fn connection_that_breaks_fails_with_the_bytes_that_arrived() {
    let wire = b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello".to_vec();
    let (collect, _server) = read(Method::GET, wire, 10).await;
    let error = collect.await.unwrap_err();
    assert!(matches!(error, CollectError::Body { declared: Some(10), .. }), "{error}");
    assert_eq!(error.into_partial(), "hello");
}

#[tokio::test]
async fn response_to_head_is_empty_whatever_it_declares() {
    let wire = b"HTTP/1.1 200 OK\r\nContent-Length: 3501\r\n\r\n".to_vec();
    let (collect, _server) = read(Method::HEAD, wire, 0).await;
    assert_eq!(collect.await.unwrap(), "");
}
