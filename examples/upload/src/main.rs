//! An axum server that reads uploads into memory, with a limit for each and one budget for all.
//!
//! ```sh
//! cargo run --release -p upload
//! curl -T picture.jpg http://127.0.0.1:3000/picture
//! curl --json '{"name":"Ada"}' http://127.0.0.1:3000/user
//! ```

use std::time::Duration;

use axum::Router;
use axum::routing::{post, put};
use presized::{BufferPool, MemoryBudget, MinRate, Reader};
use presized_axum::{PresizedBytes, PresizedJson};
use serde::Deserialize;
use tokio::net::TcpListener;
use tokio::time::sleep;

const ADDRESS: &str = "127.0.0.1:3000";

#[derive(Deserialize)]
struct User {
    name: String,
}

async fn picture(PresizedBytes(content): PresizedBytes) -> String {
    format!("{} bytes\n", content.len())
}

async fn user(PresizedJson(user): PresizedJson<User>) -> String {
    format!("hello {}\n", user.name)
}

/// Returns routes whose uploads take at most `memory` bytes together. Further uploads wait.
fn app(memory: u64) -> Router {
    let reader = Reader::new(4096) // bytes
        .budget(&MemoryBudget::new(memory))
        .pool(&BufferPool::new(64 << 20))
        // A slow upload keeps its memory, and others wait for it. 10 KiB must arrive every 10 s.
        .min_rate(MinRate::new(10 << 10, Duration::from_secs(10), sleep));
    // Pictures may be larger, and share the budget and the pool.
    let pictures = reader.clone().limit(8 << 20);
    Router::new()
        .route("/picture", put(picture).with_state(pictures))
        .route("/user", post(user))
        .with_state(reader)
}

#[tokio::main]
async fn main() -> std::io::Result<()> {
    let listener = TcpListener::bind(ADDRESS).await?;
    println!("listening on http://{ADDRESS}");
    axum::serve(listener, app(256 << 20)).await
}

#[cfg(test)]
mod tests {
    use std::io;

    use axum::body::{Body, Bytes};
    use axum::http::Request;
    use futures_util::stream;
    use http_body_util::BodyExt;
    use tower::ServiceExt;

    use super::*;

    async fn send(request: Request<Body>, memory: u64) -> (u16, String) {
        let response = app(memory).oneshot(request).await.unwrap();
        let status = response.status().as_u16();
        let text = response.into_body().collect().await.unwrap().to_bytes();
        (status, String::from_utf8(text.to_vec()).unwrap())
    }

    #[tokio::test]
    async fn each_route_has_its_limit() {
        let picture = |length| Request::put("/picture").body(vec![7; length].into()).unwrap();
        assert_eq!(send(picture(8 << 20), 64 << 20).await, (200, "8388608 bytes\n".to_owned()));
        assert_eq!(send(picture((8 << 20) + 1), 64 << 20).await.0, 413);
        // A picture that can never fit into the budget.
        assert_eq!(send(picture(5), 4096).await.0, 503);

        let user = |json: &str| {
            let request = Request::post("/user").header("content-type", "application/json");
            request.body(json.to_owned().into()).unwrap()
        };
        assert_eq!(send(user(r#"{"name":"Ada"}"#), 4096).await, (200, "hello Ada\n".to_owned()));
        assert_eq!(send(user("{}"), 4096).await.0, 422);
        assert_eq!(send(user(&" ".repeat(4097)), 4096).await.0, 413);
    }

    #[tokio::test(start_paused = true)]
    async fn slow_upload_is_rejected() {
        let slow = stream::pending::<Result<Bytes, io::Error>>();
        let request = Request::put("/picture").body(Body::from_stream(slow)).unwrap();
        assert_eq!(send(request, 64 << 20).await.0, 408);
    }
}
