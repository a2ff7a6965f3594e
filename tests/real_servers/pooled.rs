//! Bodies read through the client of hyper-util, which has a connection pool.

use std::cell::Cell;
use std::future::{Future, poll_fn};
use std::ops::ControlFlow;
use std::pin::pin;
use std::task::Poll;

use bytes::Bytes;
use futures_util::future::join_all;
use http::{Method, Response, Uri};
use http_body_util::{BodyExt, Empty};
use hyper::body::Incoming;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use presized::ResponseExt;
use presized_support::pattern::is_whole;

use crate::client::{VERSIONS, Version, within_time};
use crate::nginx::{MIB, Nginx, SIZES};

struct Pool {
    client: Client<HttpConnector, Empty<Bytes>>,
    base: String,
}

impl Pool {
    fn of(nginx: &Nginx, version: Version) -> Self {
        let client = Client::builder(TokioExecutor::new())
            .http2_only(version == Version::Http2)
            .build_http();
        Self { client, base: format!("http://{}", nginx.address(version)) }
    }

    async fn get(&self, path: &str) -> Response<Incoming> {
        let uri: Uri = format!("{}{path}", self.base).parse().unwrap();
        self.client.get(uri).await.unwrap()
    }
}

#[tokio::test]
async fn unread_bytes_never_reach_the_next_response() {
    let Some(nginx) = Nginx::start() else { return };
    within_time(async {
        for version in VERSIONS {
            let pool = Pool::of(&nginx, version);
            for size in SIZES.repeat(5) {
                // One body is refused unread, one is dropped in the middle, and one is read.
                let collect = pool.get("/6291456").await.collect_presized(&Method::GET, MIB);
                assert!(collect.bytes().await.unwrap_err().is_too_large());
                let collect = pool.get("/6291456").await.collect_presized(&Method::GET, 100);
                assert!(collect.prefix().await.unwrap().truncated);
                let path = format!("/{size}");
                let collect = pool.get(&path).await.collect_presized(&Method::GET, 6 * MIB);
                assert!(is_whole(&collect.bytes().await.unwrap(), size), "{version:?} {size}");
            }
        }
    })
    .await;
}

#[tokio::test]
async fn dropped_read_leaves_the_client_usable() {
    let Some(nginx) = Nginx::start() else { return };
    within_time(async {
        for version in VERSIONS {
            let pool = Pool::of(&nginx, version);
            for _ in 0..5 {
                read_some(pool.get("/6291456").await).await;
                let collect = pool.get("/1048576").await.collect_presized(&Method::GET, MIB);
                assert!(is_whole(&collect.bytes().await.unwrap(), MIB), "{version:?}");
            }
        }
    })
    .await;
}

/// Reads until some bytes have arrived, and drops the read.
async fn read_some(response: Response<Incoming>) {
    let received = Cell::new(0);
    let collect = response.collect_presized(&Method::GET, 6 * MIB).on_progress(|progress| {
        received.set(progress.received);
        ControlFlow::Continue(())
    });
    let mut read = pin!(collect.bytes());
    poll_fn(|cx| {
        assert!(read.as_mut().poll(cx).is_pending());
        if received.get() > 0 { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
}

#[tokio::test]
async fn bodies_are_read_concurrently() {
    let Some(nginx) = Nginx::start() else { return };
    within_time(async {
        for version in VERSIONS {
            let pool = Pool::of(&nginx, version);
            let reads = (0..16).map(async |_| {
                let response = pool.get("/6291456").await.into_presized(&Method::GET, 6 * MIB);
                response.collect().await.unwrap().to_bytes()
            });
            for content in join_all(reads).await {
                assert!(is_whole(&content, 6 * MIB), "{version:?}");
            }
        }
    })
    .await;
}
