use presized::lambda::emulator::{Emulator, Function};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::join;
use tokio::net::TcpStream;

use super::runtime::{Runtime, within};
use super::{NAME, client, emulator};

/// Writes bytes and reads the status of what comes, if anything does.
async fn status(address: &str, request: &[u8]) -> Option<String> {
    let mut stream = TcpStream::connect(address).await.unwrap();
    // The other side may have seen enough.
    let _ = stream.write_all(request).await;
    let _ = stream.shutdown().await;
    let mut answer = Vec::new();
    let _ = within(stream.read_to_end(&mut answer)).await;
    let answer = String::from_utf8_lossy(&answer).into_owned();
    answer.split(' ').nth(1).map(str::to_owned)
}

async fn still_serves(emulator: &Emulator) {
    let mut runtime = Runtime::connect(emulator, NAME).await;
    let client = client(emulator);
    let (answer, ()) = join!(client.invoke(NAME).send(), async {
        let event = runtime.next().await;
        runtime.respond(&event.id, "x").await;
    });
    assert_eq!(answer.unwrap().payload, "x");
}

#[tokio::test]
async fn whatever_comes_the_next_one_is_served() {
    let emulator = emulator(Function::new()).await;
    let invoke = emulator.url().replace("http://", "");
    let runtime = emulator.runtime_api(NAME).unwrap();
    let long = format!("GET / HTTP/1.1\r\nHost: x\r\nX: {}\r\n\r\n", "x".repeat(1 << 20));
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
    // What these come to is a matter of who is faster.
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
