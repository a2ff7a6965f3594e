//! The limit of the reader beside the limits of axum and of layers.

use axum::Router;
use axum::body::Bytes;
use axum::extract::DefaultBodyLimit;
use axum::routing::put;
use presized::{MemoryBudget, Reader};
use presized_axum::PresizedBytes;
use presized_tower::{Delivery, PresizedRequestLayer};
use tower_http::limit::RequestBodyLimitLayer;

use crate::server::{connect, exchange, head};

const CHUNKED: &str = "Transfer-Encoding: chunked\r\n";

fn app(limit: u64) -> Router {
    let upload = async |PresizedBytes(content): PresizedBytes| content.len().to_string();
    let plain = async |content: Bytes| content.len().to_string();
    Router::new()
        .route("/upload", put(upload))
        .route("/plain", put(plain))
        .with_state(Reader::new(limit))
}

/// Sends `length` bytes in one chunk.
async fn upload(app: Router, path: &str, length: usize) -> (u16, String) {
    let chunk = format!("{length:x}\r\n{}\r\n0\r\n\r\n", "a".repeat(length));
    let request = head(CHUNKED).replace("/upload", path) + &chunk;
    let (head, text) = exchange(&mut connect(app, 8 << 20), request).await;
    (head[9..12].parse().unwrap(), text)
}

#[tokio::test]
async fn default_body_limit_applies_to_the_extractors_of_axum_only() {
    const LENGTH: usize = 3 << 20;
    // Neither the default of 2 MB nor another value lowers the limit of the reader.
    for app in [app(LENGTH as u64), app(LENGTH as u64).layer(DefaultBodyLimit::max(1000))] {
        let accepted = (200, LENGTH.to_string());
        assert_eq!(upload(app.clone(), "/upload", LENGTH).await, accepted);
        assert_eq!(upload(app, "/plain", LENGTH).await.0, 413);
    }
    // And disabling it does not raise the limit.
    let app = app(1000).layer(DefaultBodyLimit::disable());
    assert_eq!(upload(app.clone(), "/upload", 1001).await.0, 413);
    assert_eq!(upload(app, "/plain", 1001).await, (200, "1001".to_owned()));
}

#[tokio::test]
async fn lower_limit_of_a_layer_is_rejected_with_413_too() {
    let presized = PresizedRequestLayer::new(1000);
    let streamed = presized.clone().delivery(Delivery::Streamed);
    let apps = [
        app(2000).layer(RequestBodyLimitLayer::new(1000)),
        app(2000).layer(presized),
        app(2000).layer(streamed),
    ];
    for app in apps {
        assert_eq!(upload(app.clone(), "/upload", 1000).await, (200, "1000".to_owned()));
        assert_eq!(upload(app.clone(), "/upload", 1001).await.0, 413);
        assert_eq!(upload(app, "/upload", 2001).await.0, 413);
    }
}

/// The content of a layer keeps its share while an extractor copies it.
#[tokio::test]
async fn budget_of_a_layer_and_of_an_extractor_counts_content_twice() {
    let budget = MemoryBudget::new(7).fail_fast();
    let reader = Reader::new(4).budget(&budget);
    let layer = PresizedRequestLayer::new(reader.clone());
    assert_eq!(upload(app(4).layer(layer.clone()), "/upload", 4).await.0, 200);
    let content = async |PresizedBytes(content): PresizedBytes| content.len().to_string();
    let both = Router::new().route("/upload", put(content)).with_state(reader).layer(layer);
    assert_eq!(upload(both, "/upload", 4).await.0, 503);
    assert_eq!(budget.in_use(), 0);
}
