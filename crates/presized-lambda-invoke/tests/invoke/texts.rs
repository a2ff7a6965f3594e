//! The texts of errors: each says why the call failed and whether the function may have run.

use std::time::Duration;

use bytes::Bytes;
use presized_lambda_invoke::{ConnectErrorKind, Error, ErrorKind, HttpVersion};
use presized_support::chain::messages;
use presized_support::scripted::{Reply, Scripted};

use super::{builder, ok, service_error};

/// Returns the text of an error and of its sources, with `TIME` for the time since the call began.
pub(crate) fn text(error: &Error) -> String {
    let text = messages(error).join(": ");
    let Some((before, rest)) = text.split_once("timed out after ") else { return text };
    let (_, rest) = rest.split_once(':').expect("the limit follows");
    format!("{before}timed out after TIME:{rest}")
}

fn kind(error: &Error) -> &'static str {
    match error.kind() {
        ErrorKind::Config(_) => "config",
        ErrorKind::BadInput(_) => "input",
        ErrorKind::Credentials(_) => "credentials",
        ErrorKind::Connect(_) => "connect",
        ErrorKind::Service(_) => "service",
        ErrorKind::Function(_) => "function",
        ErrorKind::Timeout { .. } => "timeout",
        ErrorKind::BudgetFull { .. } => "budget",
        ErrorKind::Broken(_) => "broken",
        ErrorKind::TooLarge(_) => "large",
        ErrorKind::Memory(_) => "memory",
        _ => "other",
    }
}

fn close(bytes: &'static [u8]) -> Reply {
    Reply::Close(Bytes::from_static(bytes))
}

fn hang(bytes: &'static [u8]) -> Reply {
    Reply::Hang(Bytes::from_static(bytes))
}

const HALF: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf";
const HALF_CHUNKED: &[u8] = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n";

/// The columns after the text: the kind, whether the function may have run, whether a later call
/// can succeed.
#[tokio::test]
async fn error_of_a_call_says_what_happened_and_whether_the_function_may_have_run() {
    for (reply, expected, expected_kind, may_have_run, is_transient) in [
        (
            close(b""),
            "no response: the connection was closed; the function may have run: request to HOST \
             failed: connection closed before message completed",
            "broken",
            true,
            true,
        ),
        (
            close(b"220 ready\r\n\r\n"),
            "no response: the server sent no valid HTTP; the function may have run: request to HOST \
             failed: the head of the response cannot be parsed; if the server expects TLS, use \
             https in the endpoint URL: invalid HTTP version parsed",
            "broken",
            true,
            true,
        ),
        (
            close(HALF),
            "response is incomplete: the connection was closed after 4 of 9 bytes; the function may \
             have run: error reading a body from connection: end of file before message length \
             reached",
            "broken",
            true,
            true,
        ),
        (
            close(HALF_CHUNKED),
            "response is incomplete: the connection was closed after 4 bytes; the function may have \
             run: error reading a body from connection: unexpected EOF during chunk size line",
            "broken",
            true,
            true,
        ),
        (
            hang(b""),
            "timed out after TIME: the attempt timeout of 1s passed while waiting for the \
             response; the function may have run",
            "timeout",
            true,
            true,
        ),
        (
            hang(HALF),
            "timed out after TIME: the attempt timeout of 1s passed while reading the response, \
             after 4 of 9 bytes; the function may have run",
            "timeout",
            true,
            true,
        ),
        (
            ok(vec![0; 101]),
            "response is too large; the function may have run: body declares 101 bytes, over the \
             limit of 100 bytes",
            "large",
            true,
            false,
        ),
        (
            service_error("404 Not Found", "ResourceNotFoundException"),
            "ResourceNotFoundException (status 404): m",
            "service",
            false,
            false,
        ),
        (
            service_error("429 Too Many Requests", "TooManyRequestsException"),
            "TooManyRequestsException (status 429): m",
            "service",
            false,
            true,
        ),
        (
            Reply::response("502 Bad Gateway", &[], "<html>nginx</html>"),
            "service error (status 502): response body begins with \"<html>nginx</html>\"; the \
             function may have run",
            "service",
            true,
            true,
        ),
    ] {
        let server = Scripted::in_turn([reply]);
        let client = builder(&server).max_attempts(1).build().unwrap();
        let call = client.invoke("f").limit(100).attempt_timeout(Duration::from_secs(1));
        let error = call.send().await.unwrap_err();
        let shown = text(&error).replace(&server.address().to_string(), "HOST");
        assert_eq!(shown, expected);
        let columns = (kind(&error), error.may_have_run(), error.is_transient());
        assert_eq!(columns, (expected_kind, may_have_run, is_transient), "{expected}");
    }
}

#[tokio::test]
async fn reset_of_a_connection_is_told_from_its_close() {
    let server = Scripted::in_turn([Reply::Reset(Bytes::from_static(HALF))]);
    let error = builder(&server).build().unwrap().invoke("f").send().await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "response is incomplete: the connection was reset after 4 of 9 bytes; the function may have \
         run"
    );
}

#[tokio::test]
async fn deadline_that_passed_is_told_from_an_attempt_timeout() {
    let server = Scripted::start(|_, _| Reply::Hang(Bytes::new()));
    let client = builder(&server).build().unwrap();
    let error = client.invoke("f").timeout(Duration::from_millis(500)).send().await.unwrap_err();
    assert_eq!(
        text(&error),
        "timed out after TIME: the deadline of the call passed while waiting for the response; the \
         function may have run"
    );
    let error = client.invoke("f").timeout(Duration::ZERO).send().await.unwrap_err();
    assert_eq!(
        text(&error),
        "timed out after TIME: the deadline of the call passed before the request was sent"
    );
}

#[cfg(any(feature = "ring", feature = "aws-lc-rs"))]
#[tokio::test]
async fn deadline_that_passed_in_a_handshake_says_so() {
    let server = Scripted::in_turn([]);
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = format!("https://{}", listener.local_addr().unwrap());
    let client = builder(&server).endpoint(endpoint).build().unwrap();
    let error = client.invoke("f").timeout(Duration::from_millis(500)).send().await.unwrap_err();
    assert_eq!(
        text(&error),
        "timed out after TIME: the deadline of the call passed while waiting for a connection"
    );
}

#[tokio::test]
async fn error_of_a_connection_has_a_kind_and_says_what_to_do() {
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let refused = free.local_addr().unwrap();
    drop(free);
    let server = Scripted::in_turn([]);
    for (endpoint, expected, kind) in [
        (
            format!("http://{refused}"),
            format!(
                "connection failed before the request was processed (after 2 attempts): request to \
                 {refused} failed: host refused the connection: check the host and the port of the \
                 endpoint URL: tcp connect error: "
            ),
            ConnectErrorKind::Refused,
        ),
        (
            // RFC 6761, section 6.4: it never has an address.
            "http://lambda.us-esat-1.invalid".to_owned(),
            "connection failed before the request was processed (after 2 attempts): request to \
             lambda.us-esat-1.invalid failed: name lookup of lambda.us-esat-1.invalid failed: check \
             the region, the endpoint URL or the proxy that names it, and the resolver: "
                .to_owned(),
            ConnectErrorKind::Dns,
        ),
    ] {
        let client = builder(&server).endpoint(endpoint).max_attempts(2).build().unwrap();
        let error = client.invoke("f").send().await.unwrap_err();
        let shown = text(&error);
        // The rest is the text of the system.
        assert!(shown.starts_with(&expected), "{shown}");
        assert_eq!(error.connect_kind(), Some(kind));
        assert_eq!((error.attempts(), error.is_transient(), error.may_have_run()), (2, true, false));
    }
}

#[tokio::test]
async fn error_of_a_request_that_was_not_processed_has_a_kind() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let serving = tokio::spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        let mut connection = h2::server::handshake(stream).await.unwrap();
        while let Some(request) = connection.accept().await {
            request.unwrap().1.send_reset(h2::Reason::REFUSED_STREAM);
        }
    });
    let server = Scripted::in_turn([]);
    let client = builder(&server)
        .endpoint(format!("http://{address}"))
        .http_version(HttpVersion::Http2)
        .max_attempts(1)
        .build()
        .unwrap();
    let error = client.invoke("f").payload("{}").send().await.unwrap_err();
    assert_eq!(
        text(&error),
        format!(
            "connection failed before the request was processed: request to {address} failed: http2 \
             error: stream error received: refused stream before processing any application logic"
        )
    );
    assert_eq!(error.connect_kind(), Some(ConnectErrorKind::Closed));
    assert_eq!((error.is_transient(), error.may_have_run()), (true, false));
    serving.abort();
}

/// The server closes the connection at the first byte of the handshake.
#[cfg(any(feature = "ring", feature = "aws-lc-rs"))]
#[tokio::test]
async fn error_of_a_tls_handshake_has_a_kind() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let serving = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        tokio::io::AsyncReadExt::read_u8(&mut stream).await.unwrap();
        tokio::io::AsyncWriteExt::write_all(&mut stream, &ALERT).await.unwrap();
        tokio::io::AsyncReadExt::read_to_end(&mut stream, &mut Vec::new()).await.unwrap();
    });
    let server = Scripted::in_turn([]);
    let client = builder(&server)
        .endpoint(format!("https://{address}"))
        .system_roots(false)
        .root_certificates_pem(rcgen::generate_simple_self_signed([]).unwrap().cert.pem())
        .max_attempts(1)
        .build()
        .unwrap();
    let error = client.invoke("f").send().await.unwrap_err();
    assert_eq!(
        text(&error),
        format!(
            "connection failed before the request was processed: request to {address} failed: TLS \
             handshake failed: check the endpoint URL, and call client_certificate_pem() if the \
             server requires a certificate: received fatal alert: HandshakeFailure"
        )
    );
    assert_eq!(error.connect_kind(), Some(ConnectErrorKind::Tls));
    assert_eq!((error.is_transient(), error.may_have_run()), (true, false));
    serving.await.unwrap();
}

/// A fatal alert of TLS, handshake_failure (RFC 8446, section 6).
#[cfg(any(feature = "ring", feature = "aws-lc-rs"))]
const ALERT: [u8; 7] = [21, 3, 3, 0, 2, 2, 40];
