//! Files that nginx serves with a Content-Length.

use http::header::{CONTENT_LENGTH, CONTENT_RANGE, ETAG, LAST_MODIFIED};
use http::{Method, StatusCode};
use http_body_util::BodyExt;
use presized::{ContentLength, ResponseExt, payload};
use presized_support::pattern::is_whole;

use crate::client::{VERSIONS, field, within_time};
use crate::nginx::{MIB, Nginx, SIZES, text};

#[tokio::test]
async fn file_takes_one_reservation_of_its_length() {
    let Some(nginx) = Nginx::start() else { return };
    within_time(async {
        for version in VERSIONS {
            let mut connection = nginx.connect(version).await;
            for size in SIZES {
                let response = connection.get(&format!("/{size}")).await;
                assert_eq!(response.status(), StatusCode::OK);
                assert_eq!(field(&response, CONTENT_LENGTH), Some(size.to_string()));
                let read = response.collect_presized(&Method::GET, 8 * MIB).collected().await;
                let read = read.unwrap();
                assert!(is_whole(&read.content, size), "{version:?} {size}");
                assert_eq!(read.stats.content_length, ContentLength::Exact(size));
                assert_eq!(read.stats.received, size);
                assert_eq!(read.stats.reservations, u32::from(size > 0), "{version:?} {size}");
                assert_eq!(read.stats.peak, size);
                assert_eq!(read.trailers, None);
            }
        }
    })
    .await;
}

#[tokio::test]
async fn every_form_returns_the_file() {
    let Some(nginx) = Nginx::start() else { return };
    within_time(async {
        for version in VERSIONS {
            let mut connection = nginx.connect(version).await;
            let collect = connection.get("/text.txt").await.collect_presized(&Method::GET, MIB);
            assert_eq!(collect.text().await.unwrap(), text());

            let collect = connection.get("/text.txt").await.collect_presized(&Method::GET, MIB);
            assert_eq!(collect.vec().await.unwrap(), text().as_bytes());

            let collect = connection.get("/text.txt").await.collect_presized(&Method::GET, MIB);
            let mut buffer = b"before ".to_vec();
            collect.append_to(&mut buffer).await.unwrap();
            assert_eq!(buffer, format!("before {}", text()).as_bytes());

            let response = connection.get("/text.txt").await;
            assert_eq!(payload::text(response, MIB).await.unwrap(), text());

            let response = connection.get("/1048576").await;
            assert!(is_whole(&payload::blob(response, MIB).await.unwrap(), MIB));

            let mut response = connection.get("/1048576").await.into_presized(&Method::GET, MIB);
            let frame = response.frame().await.unwrap().unwrap();
            assert!(
                is_whole(frame.data_ref().unwrap(), MIB),
                "{version:?}: the first frame is the whole content"
            );
            assert!(response.frame().await.is_none());
        }
    })
    .await;
}

#[tokio::test]
async fn response_to_head_is_empty_whatever_it_declares() {
    let Some(nginx) = Nginx::start() else { return };
    within_time(async {
        for version in VERSIONS {
            let mut connection = nginx.connect(version).await;
            let response = connection.send(&Method::HEAD, "/6291456", &[]).await;
            assert_eq!(field(&response, CONTENT_LENGTH).unwrap(), "6291456");
            // The limit is below the declared length, but no content follows.
            let read = response.collect_presized(&Method::HEAD, 0).collected().await.unwrap();
            assert_eq!(read.content, "");
            assert_eq!(read.stats.content_length, ContentLength::Exact(0), "{version:?}");
            assert_eq!(read.stats.reservations, 0);

            // The connection is ready for the next response.
            let response = connection.get("/1").await;
            assert_eq!(response.collect_presized(&Method::GET, 1).bytes().await.unwrap().len(), 1);
        }
    })
    .await;
}

#[tokio::test]
async fn response_with_status_204_is_empty() {
    let Some(nginx) = Nginx::start() else { return };
    within_time(async {
        for version in VERSIONS {
            let response = nginx.connect(version).await.get("/no-content").await;
            assert_eq!(response.status(), StatusCode::NO_CONTENT);
            let read = response.collect_presized(&Method::GET, 0).collected().await.unwrap();
            assert_eq!(read.content, "");
            assert_eq!(read.stats.content_length, ContentLength::Exact(0), "{version:?}");
        }
    })
    .await;
}

#[tokio::test]
async fn response_with_status_304_is_empty() {
    let Some(nginx) = Nginx::start() else { return };
    within_time(async {
        for version in VERSIONS {
            let mut connection = nginx.connect(version).await;
            let fresh = connection.send(&Method::HEAD, "/1048576", &[]).await;
            let tag = field(&fresh, ETAG).unwrap();
            let date = field(&fresh, LAST_MODIFIED).unwrap();
            for condition in [("if-none-match", &*tag), ("if-modified-since", &*date)] {
                let response = connection.send(&Method::GET, "/1048576", &[condition]).await;
                assert_eq!(response.status(), StatusCode::NOT_MODIFIED);
                let read = response.collect_presized(&Method::GET, 0).collected().await.unwrap();
                assert_eq!(read.content, "");
                assert_eq!(read.stats.content_length, ContentLength::Exact(0), "{version:?}");
            }
        }
    })
    .await;
}

#[tokio::test]
async fn partial_response_has_the_length_of_its_range() {
    let Some(nginx) = Nginx::start() else { return };
    within_time(async {
        for version in VERSIONS {
            let mut connection = nginx.connect(version).await;
            let response =
                connection.send(&Method::GET, "/text.txt", &[("range", "bytes=100-1099")]).await;
            assert_eq!(response.status(), StatusCode::PARTIAL_CONTENT);
            assert_eq!(field(&response, CONTENT_RANGE).unwrap(), "bytes 100-1099/200000");
            let read = response.collect_presized(&Method::GET, 1000).collected().await.unwrap();
            assert_eq!(read.content, &text()[100..1100]);
            assert_eq!(read.stats.content_length, ContentLength::Exact(1000), "{version:?}");
        }
    })
    .await;
}

#[tokio::test]
async fn trailers_are_kept_with_the_content() {
    let Some(nginx) = Nginx::start() else { return };
    within_time(async {
        for version in VERSIONS {
            let mut connection = nginx.connect(version).await;
            let response =
                connection.send(&Method::GET, "/trailers/text.txt", &[("te", "trailers")]).await;
            let read = response.collect_presized(&Method::GET, MIB).collected().await.unwrap();
            assert_eq!(read.content, text());
            assert_eq!(read.trailers.unwrap()["x-sum"], "1234", "{version:?}");
        }
    })
    .await;
}
