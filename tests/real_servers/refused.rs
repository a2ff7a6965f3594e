//! Bodies over the limit, and bodies of error responses.

use http::{Method, StatusCode};
use presized::{CollectError, ResponseExt};
use presized_support::pattern::is_whole;

use crate::client::{Unpolled, VERSIONS, Version, within_time};
use crate::nginx::{MIB, Nginx};

#[tokio::test]
async fn declared_length_over_the_limit_is_refused_before_polling() {
    let Some(nginx) = Nginx::start() else { return };
    within_time(async {
        for version in VERSIONS {
            let response = nginx.connect(version).await.get("/6291456").await.map(Unpolled);
            let error =
                response.collect_presized(&Method::GET, 6 * MIB - 1).bytes().await.unwrap_err();
            let CollectError::DeclaredTooLarge { declared, limit, .. } = error else {
                panic!("{version:?}: {error:?}");
            };
            assert_eq!((declared, limit), (6_291_456, 6_291_455));
        }
    })
    .await;
}

#[tokio::test]
async fn body_of_unknown_length_fails_at_the_limit() {
    let Some(nginx) = Nginx::start() else { return };
    within_time(async {
        for version in VERSIONS {
            let mut connection = nginx.connect(version).await;
            let coded = [("accept-encoding", "gzip")];
            let response = connection.send(&Method::GET, "/gzip/text.txt", &coded).await;
            let whole = response.collect_presized(&Method::GET, MIB).bytes().await.unwrap();

            let response = connection.send(&Method::GET, "/gzip/text.txt", &coded).await;
            let error = response.collect_presized(&Method::GET, 1000).bytes().await.unwrap_err();
            let CollectError::TooLarge { limit, received, .. } = error else {
                panic!("{version:?}: {error:?}");
            };
            assert_eq!(limit, 1000);
            assert!(received > 1000);
            assert_eq!(error.into_partial(), whole[..1000], "{version:?}");

            let response = connection.send(&Method::GET, "/gzip/text.txt", &coded).await;
            let length = whole.len() as u64;
            let at_limit = response.collect_presized(&Method::GET, length).bytes().await;
            assert_eq!(at_limit.unwrap(), whole, "the limit is inclusive");
        }
    })
    .await;
}

#[tokio::test]
async fn refused_bodies_do_not_block_their_connection() {
    let Some(nginx) = Nginx::start() else { return };
    within_time(async {
        // The refused bodies are many times the flow-control window of the connection. A dropped
        // body has to release it.
        let mut connection = nginx.connect(Version::Http2).await;
        for _ in 0..20 {
            let response = connection.get("/6291456").await;
            response.collect_presized(&Method::GET, MIB).bytes().await.unwrap_err();
            let response = connection.get("/6291456").await;
            let prefix = response.collect_presized(&Method::GET, 10_000).prefix().await.unwrap();
            assert_eq!((prefix.content.len(), prefix.truncated), (10_000, true));
        }
        let response = connection.get("/6291456").await;
        let content = response.collect_presized(&Method::GET, 6 * MIB).bytes().await.unwrap();
        assert!(is_whole(&content, 6 * MIB));
    })
    .await;
}

#[tokio::test]
async fn prefix_reads_the_start_of_an_error_body() {
    let Some(nginx) = Nginx::start() else { return };
    within_time(async {
        for version in VERSIONS {
            let mut connection = nginx.connect(version).await;
            let response = connection.get("/unavailable").await;
            assert_eq!(response.status(), StatusCode::SERVICE_UNAVAILABLE);
            let prefix = response.collect_presized(&Method::GET, 1000).prefix().await.unwrap();
            assert_eq!(prefix.content, "no backend is available at the moment");
            assert!(!prefix.truncated, "{version:?}");

            let response = connection.get("/no-such-file").await;
            assert_eq!(response.status(), StatusCode::NOT_FOUND);
            let prefix = response.collect_presized(&Method::GET, 6).prefix().await.unwrap();
            assert_eq!(prefix.content, "<html>");
            assert!(prefix.truncated, "{version:?}");
        }
    })
    .await;
}
