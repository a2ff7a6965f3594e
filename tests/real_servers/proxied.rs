//! Responses of an upstream that nginx proxies: without a length, truncated, or without content.

use http::header::CONTENT_LENGTH;
use http::{Method, StatusCode};
use presized::{CollectError, ContentLength, Mismatch, Reader, ResponseExt};
use presized_support::pattern::is_whole;
use presized_support::server::Server;

use crate::client::{VERSIONS, field, within_time};
use crate::content;
use crate::nginx::{MIB, Nginx};

/// The paths that nginx proxies with and without buffering.
const PATHS: [&str; 2] = ["/buffered", "/unbuffered"];

/// Starts an upstream that sends this head and these bytes and closes the connection.
fn upstream(head: &str, body: impl IntoIterator<Item = u8>) -> Server {
    let mut response = format!("HTTP/1.1 {head}\r\n\r\n").into_bytes();
    response.extend(body);
    Server::raw(response).unwrap()
}

fn chunk(content: &[u8]) -> Vec<u8> {
    [format!("{:x}\r\n", content.len()).as_bytes(), content, b"\r\n"].concat()
}

#[tokio::test]
async fn body_without_a_length_is_read_to_its_end() {
    let upstreams = [
        upstream("200 OK", content(MIB)),
        upstream(
            "200 OK\r\nTransfer-Encoding: chunked",
            content(MIB).chunks(10_000).chain([&[][..]]).flat_map(chunk),
        ),
    ];
    for upstream in &upstreams {
        let Some(nginx) = Nginx::before(upstream.endpoint().address) else { return };
        within_time(async {
            for (version, path) in VERSIONS.into_iter().flat_map(|v| PATHS.map(|path| (v, path))) {
                let response = nginx.connect(version).await.get(path).await;
                assert_eq!(field(&response, CONTENT_LENGTH), None);
                let read = response.collect_presized(&Method::GET, MIB).collected().await.unwrap();
                assert!(is_whole(&read.content, MIB), "{version:?} {path}");
                assert_eq!(read.stats.content_length, ContentLength::Unknown);
                assert!(read.stats.peak < 2 * MIB + MIB / 16, "{}", read.stats.peak);

                let response = nginx.connect(version).await.get(path).await;
                let collect = response.collect_presized(&Method::GET, MIB - 1);
                let error = collect.bytes().await.unwrap_err();
                assert!(matches!(error, CollectError::TooLarge { .. }), "{version:?} {error:?}");
                assert!(is_whole(&error.into_partial(), MIB - 1), "{version:?} {path}");
            }
        })
        .await;
    }
}

#[tokio::test]
async fn truncated_body_fails_with_received_bytes() {
    let upstream = upstream(&format!("200 OK\r\nContent-Length: {MIB}"), content(600_000));
    let Some(nginx) = Nginx::before(upstream.endpoint().address) else { return };
    within_time(async {
        for (version, path) in VERSIONS.into_iter().flat_map(|v| PATHS.map(|path| (v, path))) {
            for mismatch in [Mismatch::RejectShorter, Mismatch::Reject, Mismatch::Allow] {
                let response = nginx.connect(version).await.get(path).await;
                let collect =
                    response.collect_presized(&Method::GET, Reader::new(MIB).mismatch(mismatch));
                let error = collect.bytes().await.unwrap_err();
                // The transport enforces the length, so it is an error even if a shorter body
                // is allowed.
                let CollectError::Body { declared, received, .. } = error else {
                    panic!("{version:?} {path}: {error:?}");
                };
                assert_eq!((declared, received), (Some(MIB), 600_000), "{version:?} {path}");
                assert!(is_whole(&error.into_partial(), 600_000), "{version:?} {path}");
            }
        }
    })
    .await;
}

#[tokio::test]
async fn truncated_chunked_body_fails_with_received_bytes() {
    let upstream = upstream("200 OK\r\nTransfer-Encoding: chunked", chunk(&content(600_000)));
    let Some(nginx) = Nginx::before(upstream.endpoint().address) else { return };
    within_time(async {
        for (version, path) in VERSIONS.into_iter().flat_map(|v| PATHS.map(|path| (v, path))) {
            let response = nginx.connect(version).await.get(path).await;
            let error = response.collect_presized(&Method::GET, MIB).bytes().await.unwrap_err();
            let CollectError::Body { declared, received, .. } = error else {
                panic!("{version:?} {path}: {error:?}");
            };
            assert_eq!((declared, received), (None, 600_000), "{version:?} {path}");
            assert!(is_whole(&error.into_partial(), 600_000), "{version:?} {path}");
        }
    })
    .await;
}

#[tokio::test]
async fn prefix_that_ends_before_the_truncation_succeeds() {
    let upstream = upstream(&format!("200 OK\r\nContent-Length: {MIB}"), content(600_000));
    let Some(nginx) = Nginx::before(upstream.endpoint().address) else { return };
    within_time(async {
        for version in VERSIONS {
            let response = nginx.connect(version).await.get("/unbuffered").await;
            let prefix = response.collect_presized(&Method::GET, 100_000).prefix().await.unwrap();
            assert!(is_whole(&prefix.content, 100_000), "{version:?}");
            assert!(prefix.truncated);
        }
    })
    .await;
}

#[tokio::test]
async fn upstream_without_a_response_yields_an_error_page() {
    let upstream = Server::raw("").unwrap();
    let Some(nginx) = Nginx::before(upstream.endpoint().address) else { return };
    within_time(async {
        for version in VERSIONS {
            let response = nginx.connect(version).await.get("/buffered").await;
            assert_eq!(response.status(), StatusCode::BAD_GATEWAY);
            let collect = response.collect_presized(&Method::GET, 1000);
            assert!(collect.text().await.unwrap().contains("502 Bad Gateway"), "{version:?}");
        }
    })
    .await;
}

#[tokio::test]
async fn declared_length_of_a_response_without_content_is_not_awaited() {
    let table = [
        (Method::HEAD, "200 OK"),
        (Method::HEAD, "404 Not Found"),
        (Method::GET, "304 Not Modified"),
    ];
    for (method, status) in table {
        let upstream = upstream(&format!("{status}\r\nContent-Length: 3501"), []);
        let Some(nginx) = Nginx::before(upstream.endpoint().address) else { return };
        within_time(async {
            for version in VERSIONS {
                let mut connection = nginx.connect(version).await;
                let response = connection.send(&method, "/buffered", &[]).await;
                assert_eq!(response.status().to_string(), status);
                assert_eq!(field(&response, CONTENT_LENGTH).unwrap(), "3501");
                let read = response.collect_presized(&method, 0).collected().await.unwrap();
                assert_eq!(read.content, "");
                assert_eq!(read.stats.content_length, ContentLength::Exact(0), "{version:?}");
            }
        })
        .await;
    }
}
