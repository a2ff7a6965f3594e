use std::time::Duration;

use presized_lambda_emulator::{Emulator, Function};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::join;
use tokio::net::TcpStream;

use super::runtime::{TestRuntime, pause, within};
use super::{NAME, client, emulator};

/// Writes bytes, and returns the status of the response if there is one.
async fn status(address: &str, request: &[u8]) -> Option<String> {
    let mut stream = TcpStream::connect(address).await.unwrap();
    // The server may close the connection before it has read everything.
    let _ = stream.write_all(request).await;
    let _ = stream.shutdown().await;
    let mut response = Vec::new();
    let _ = within(stream.read_to_end(&mut response)).await;
    let response = String::from_utf8_lossy(&response).into_owned();
    response.split(' ').nth(1).map(str::to_owned)
}

async fn still_serves(emulator: &Emulator) {
    let mut runtime = TestRuntime::connect(emulator, NAME).await;
    let client = client(emulator);
    let (response, ()) = join!(client.invoke(NAME).send(), async {
        let event = runtime.next().await;
        runtime.respond(&event.id, "x").await;
    });
    assert_eq!(response.unwrap().payload, "x");
}

#[tokio::test]
async fn payload_of_a_dry_run_is_read_so_that_the_connection_is_reused() {
    let emulator = emulator(Function::new()).await;
    let mut stream = TcpStream::connect(emulator.url().replace("http://", "")).await.unwrap();
    let head = "POST /2015-03-31/functions/fn/invocations HTTP/1.1\r\nHost: x\r\n\
                X-Amz-Invocation-Type: DryRun\r\nContent-Length: 1048576\r\n\r\n";
    for _ in 0..2 {
        stream.write_all(head.as_bytes()).await.unwrap();
        stream.write_all(&[b'1'; 1 << 20]).await.unwrap();
        let mut response = Vec::new();
        while !response.ends_with(b"\r\n\r\n") {
            assert_ne!(within(stream.read_buf(&mut response)).await.unwrap(), 0);
        }
        assert!(response.starts_with(b"HTTP/1.1 204 "));
    }
}

#[tokio::test]
async fn partial_trace_of_a_call_is_completed() {
    const ROOT: &str = "Root=1-5759e988-bd862e3fe1be46a994272793";
    const FULL: &str = "Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;\
                        Sampled=1;Lineage=a87bd80c:1|68fd508a:5;Self=1-0-1";
    let emulator = emulator(Function::new()).await;
    let address = emulator.url().replace("http://", "");
    let mut runtime = TestRuntime::connect(&emulator, NAME).await;
    for (of_call, start, parts) in [(FULL, FULL, 5), (ROOT, ROOT, 3)] {
        let request = format!(
            "POST /2015-03-31/functions/fn/invocations HTTP/1.1\r\nHost: x\r\n\
             X-Amzn-Trace-Id: {of_call}\r\nContent-Length: 0\r\n\r\n"
        );
        let mut caller = TcpStream::connect(&address).await.unwrap();
        caller.write_all(request.as_bytes()).await.unwrap();
        let event = runtime.next().await;
        assert_eq!(runtime.respond(&event.id, "x").await.status, 202);
        let trace = event.headers["lambda-runtime-trace-id"].to_str().unwrap();
        assert!(trace.starts_with(start), "{trace}");
        assert_eq!(trace.split(';').count(), parts, "{trace}");
    }
}

#[tokio::test]
async fn call_of_a_disconnected_caller_still_times_out() {
    let emulator = emulator(Function::new().init_timeout(Duration::from_millis(100))).await;
    let request = "POST /2015-03-31/functions/fn/invocations HTTP/1.1\r\nHost: x\r\n\
                   Content-Length: 4\r\n\r\nleft";
    let address = emulator.url().replace("http://", "");
    let mut caller = TcpStream::connect(&address).await.unwrap();
    caller.write_all(request.as_bytes()).await.unwrap();
    let stats = || emulator.stats(NAME).unwrap();
    within(async {
        while stats().invoked == 0 {
            pause().await;
        }
        drop(caller);
        while stats().timeouts == 0 {
            pause().await;
        }
    })
    .await;
    still_serves(&emulator).await;
    assert_eq!((stats().invoked, stats().started, stats().timeouts), (2, 1, 1));
}

#[tokio::test]
async fn malformed_request_is_refused_and_the_next_one_is_served() {
    let emulator = emulator(Function::new()).await;
    let invoke = emulator.url().replace("http://", "");
    let runtime = emulator.runtime_api(NAME).unwrap();
    let long = format!("GET / HTTP/1.1\r\nHost: x\r\nX: {}\r\n\r\n", "x".repeat(2 << 20));
    let head = "POST /2015-03-31/functions/fn/invocations HTTP/1.1\r\nHost: x\r\n";
    for (address, request, expected) in [
        (&invoke, "", None),
        (&invoke, "\0\0\0\0\r\n\r\n", Some("400")),
        (&runtime, "GET\r\n\r\n", Some("400")),
        (&runtime, "GET / HTTP/1.1\r\nHost: x\r\n\r\n", Some("404")),
        (&runtime, "OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n", Some("404")),
        (&invoke, "GET / HTTP/1.1\r\nHost: x\r\n\r\n", Some("404")),
        (
            &invoke,
            "PUT /2015-03-31/functions/fn/invocations HTTP/1.1\r\nHost: x\r\n\r\n",
            Some("404"),
        ),
        (
            &invoke,
            &format!("{head}X-Amz-Invocation-Type: Odd\r\nContent-Length: 0\r\n\r\n"),
            Some("400"),
        ),
        (&invoke, &format!("{head}X-Amz-Log-Type: Odd\r\nContent-Length: 0\r\n\r\n"), Some("400")),
        (
            &invoke,
            &format!("{head}X-Amz-Client-Context: ?\r\nContent-Length: 0\r\n\r\n"),
            Some("400"),
        ),
        (&invoke, &format!("{head}Content-Length: -1\r\n\r\n"), Some("400")),
    ] {
        assert_eq!(status(address, request.as_bytes()).await.as_deref(), expected, "{request:?}");
    }
    // The status of these depends on whether the server closes the connection first.
    for (address, request) in [
        (&invoke, long.as_str()),
        (&runtime, long.as_str()),
        (&invoke, &format!("{head}Content-Length: 10\r\n\r\nhalf")),
        (&invoke, &format!("{head}Transfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n")),
        (&invoke, &format!("{head}Content-Length: 18446744073709551615\r\n\r\nx")),
    ] {
        status(address, request.as_bytes()).await;
    }
    assert_eq!(emulator.stats(NAME).unwrap().invoked, 0);
    still_serves(&emulator).await;
}
