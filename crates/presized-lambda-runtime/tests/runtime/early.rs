//! Replies of the Runtime API before the end of a response.

use std::io;
use std::time::Duration;

use bytes::Bytes;
use futures_util::{StreamExt, stream};
use presized_lambda_runtime::{ErrorReport, Outcome, RuntimeClient};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;

use super::{in_time, next};

const EVENT: &str =
    "HTTP/1.1 200 OK\r\nLambda-Runtime-Aws-Request-Id: a\r\nContent-Length: 0\r\n\r\n";

#[tokio::test]
async fn response_that_is_accepted_early_is_sent_to_its_end() {
    let (listener, client) = listen().await;
    let (go_on, waiting) = oneshot::channel::<()>();
    let server = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await?;
        read_until(&mut stream, "\r\n\r\n").await?;
        stream.write_all(EVENT.as_bytes()).await?;
        read_until(&mut stream, "1\r\na\r\n").await?;
        stream.write_all(b"HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n").await?;
        // Gives the client time to read it. With less the test proves less, and does not fail.
        tokio::time::sleep(Duration::from_millis(50)).await;
        let _ = go_on.send(());
        let rest = read_until(&mut stream, "0\r\n\r\n").await?;
        let (mut other, _) = listener.accept().await?;
        read_until(&mut other, "\r\n\r\n").await?;
        other.write_all(EVENT.as_bytes()).await?;
        io::Result::Ok(rest)
    });
    let chunks = stream::iter([Ok::<_, ErrorReport>("a")]).chain(stream::once(async {
        let _ = waiting.await;
        Ok("b")
    }));
    let chunks = chunks.map(|chunk: Result<&str, _>| chunk.map(Bytes::from));
    let outcome = in_time(next(&client).await.respond_streaming(chunks)).await.unwrap();
    assert_eq!(outcome, Outcome::Accepted);
    drop(next(&client).await);
    assert_eq!(server.await.unwrap().unwrap(), "1\r\nb\r\n0\r\n\r\n");
}

/// The server does not read the rest.
#[tokio::test]
async fn response_that_is_refused_early_is_not_sent_to_its_end() {
    let (listener, client) = listen().await;
    let server = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await?;
        read_until(&mut stream, "\r\n\r\n").await?;
        stream.write_all(EVENT.as_bytes()).await?;
        read_until(&mut stream, "\r\n\r\n").await?;
        let refused = "HTTP/1.1 413 Request Entity Too Large\r\nContent-Length: 0\r\n\r\n";
        stream.write_all(refused.as_bytes()).await?;
        let (mut other, _) = listener.accept().await?;
        read_until(&mut other, "\r\n\r\n").await?;
        other.write_all(EVENT.as_bytes()).await?;
        io::Result::Ok(stream)
    });
    let response = vec![b'a'; 64 << 20];
    let outcome = in_time(next(&client).await.respond(response)).await.unwrap();
    assert!(matches!(outcome, Outcome::TooLarge(_)), "{outcome:?}");
    drop(next(&client).await);
    server.await.unwrap().unwrap();
}

async fn listen() -> (TcpListener, RuntimeClient) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let endpoint = listener.local_addr().unwrap().to_string();
    (listener, RuntimeClient::builder().endpoint(endpoint).build().unwrap())
}

/// Reads byte by byte and stops after `end`.
async fn read_until(stream: &mut TcpStream, end: &str) -> io::Result<String> {
    let mut read = String::new();
    while !read.ends_with(end) {
        read.push(stream.read_u8().await?.into());
    }
    Ok(read)
}
