//! Content that nginx compresses. The client does not decode it and reads the coded form.

use std::io::Read;

use flate2::read::GzDecoder;
use http::Method;
use http::header::{CONTENT_ENCODING, CONTENT_LENGTH};
use http_body::Body;
use presized::{CollectError, ContentLength, ResponseExt};

use crate::client::{VERSIONS, Version, field, within_time};
use crate::nginx::{MIB, Nginx, gzip, text};

const ACCEPT_GZIP: (&str, &str) = ("accept-encoding", "gzip");

#[tokio::test]
async fn content_compressed_by_the_server_has_no_length() {
    let Some(nginx) = Nginx::start() else { return };
    within_time(async {
        for version in VERSIONS {
            let mut connection = nginx.connect(version).await;
            let response = connection.send(&Method::GET, "/gzip/text.txt", &[ACCEPT_GZIP]).await;
            assert_eq!(field(&response, CONTENT_ENCODING).unwrap(), "gzip");
            assert_eq!(field(&response, CONTENT_LENGTH), None);
            let chunked = (version == Version::Http1).then(|| "chunked".to_owned());
            assert_eq!(field(&response, "transfer-encoding"), chunked);

            let read = response.collect_presized(&Method::GET, MIB).collected().await.unwrap();
            assert_eq!(decoded(&read.content), text(), "{version:?}");
            assert_eq!(read.stats.content_length, ContentLength::Unknown, "{version:?}");
            assert!(read.content.len() < 100_000, "the content is coded");
        }
    })
    .await;
}

#[tokio::test]
async fn compressed_file_declares_its_coded_length() {
    let Some(nginx) = Nginx::start() else { return };
    let coded = gzip(text().as_bytes());
    within_time(async {
        for version in VERSIONS {
            let mut connection = nginx.connect(version).await;
            let path = "/gzip-static/text.txt";
            let response = connection.send(&Method::GET, path, &[ACCEPT_GZIP]).await;
            assert_eq!(field(&response, CONTENT_ENCODING).unwrap(), "gzip");
            assert_eq!(field(&response, CONTENT_LENGTH).unwrap(), coded.len().to_string());

            // The head alone gives a hint. The size hint of the transport is exact, because
            // the body is the coded form.
            let length = ContentLength::from_headers(response.headers());
            assert_eq!(length, ContentLength::Hint(coded.len() as u64));
            assert_eq!(response.body().size_hint().exact(), Some(coded.len() as u64));

            let limit = coded.len() as u64;
            let read = response.collect_presized(&Method::GET, limit).collected().await.unwrap();
            assert_eq!(read.content, coded, "{version:?}");
            assert_eq!(read.stats.content_length, ContentLength::Exact(limit), "{version:?}");

            let response = connection.send(&Method::GET, path, &[ACCEPT_GZIP]).await;
            let error =
                response.collect_presized(&Method::GET, limit - 1).bytes().await.unwrap_err();
            assert!(
                matches!(error, CollectError::DeclaredTooLarge { .. }),
                "{version:?} {error:?}"
            );

            // A client that does not accept gzip gets the plain file.
            let response = connection.send(&Method::GET, path, &[]).await;
            assert_eq!(field(&response, CONTENT_ENCODING), None);
            let plain = response.collect_presized(&Method::GET, MIB).text().await.unwrap();
            assert_eq!(plain, text(), "{version:?}");
        }
    })
    .await;
}

#[tokio::test]
async fn response_to_head_of_a_compressed_file_is_empty() {
    let Some(nginx) = Nginx::start() else { return };
    within_time(async {
        for version in VERSIONS {
            for path in ["/gzip/text.txt", "/gzip-static/text.txt"] {
                let mut connection = nginx.connect(version).await;
                let response = connection.send(&Method::HEAD, path, &[ACCEPT_GZIP]).await;
                assert_eq!(field(&response, CONTENT_ENCODING).unwrap(), "gzip");
                let read = response.collect_presized(&Method::HEAD, 0).collected().await.unwrap();
                assert_eq!(read.content, "");
                assert_eq!(
                    read.stats.content_length,
                    ContentLength::Exact(0),
                    "{version:?} {path}"
                );
            }
        }
    })
    .await;
}

fn decoded(coded: &[u8]) -> String {
    let mut text = String::new();
    GzDecoder::new(coded).read_to_string(&mut text).unwrap();
    text
}
