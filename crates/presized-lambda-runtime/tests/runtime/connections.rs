//! Reuse of connections, and requests whose connection breaks.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use bytes::Bytes;
use presized_lambda_runtime::{ErrorKind, ErrorReport, RuntimeClient};
use presized_support::scripted::{Recorded, Reply, Scripted};

use super::{GET_NEXT, POST_ERROR, POST_RESPONSE, accepted, client, event, in_time, next, seen};

#[tokio::test]
async fn endpoint_may_have_a_scheme_and_a_path() {
    let server = Scripted::start(|_, _| event(""));
    let address = server.address();
    let table = [
        (format!("{address}"), ""),
        (format!("http://{address}"), ""),
        (format!("http://{address}/.rt"), "/.rt"),
        (format!("http://{address}/.rt/"), "/.rt"),
    ];
    for (endpoint, base) in table {
        let client = RuntimeClient::builder().endpoint(&endpoint).build().unwrap();
        drop(next(&client).await);
        let last = server.requests().pop().unwrap();
        assert_eq!(last.target(), format!("{base}/2018-06-01/runtime/invocation/next"));
        assert_eq!(last.header("host"), Some(&*address.to_string()), "{endpoint}");
    }
}

#[tokio::test]
async fn sequential_invocations_share_a_connection() {
    let server = Scripted::start(|_, request| match request.head.split(' ').next() {
        Some("GET") => event("x"),
        _ => accepted(),
    });
    let client = client(&server);
    for _ in 0..3 {
        assert!(next(&client).await.respond("y").await.unwrap().is_accepted());
    }
    assert_eq!(connections(&server.requests()), [0; 6]);
}

#[tokio::test]
async fn concurrent_invocations_have_a_connection_each() {
    let server = Scripted::start(|_, request| match request.head.split(' ').next() {
        Some("GET") => event("x"),
        _ => accepted(),
    });
    let client = client(&server);
    let (one, other) = tokio::join!(next(&client), next(&client));
    let (one, other) = tokio::join!(one.respond("1"), other.respond("2"));
    assert!(one.unwrap().is_accepted() && other.unwrap().is_accepted());
    let mut connections = connections(&server.requests());
    connections.sort_unstable();
    assert_eq!(connections, [0, 0, 1, 1]);
}

/// Some emulators close idle connections, and connections end while the process is frozen. No
/// request may be lost by that, and a stream cannot be sent again.
#[tokio::test]
async fn connection_that_was_closed_while_idle_is_replaced() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = listener.local_addr().unwrap().to_string();
    let (close, closing) = mpsc::channel();
    let (closed, is_closed) = mpsc::channel();
    let server = thread::spawn(move || {
        let response =
            b"HTTP/1.1 200 OK\r\nLambda-Runtime-Aws-Request-Id: a\r\nContent-Length: 0\r\n\r\n";
        for stream in listener.incoming().take(4) {
            let mut stream = stream.unwrap();
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                let mut byte = [0];
                stream.read_exact(&mut byte).unwrap();
                head.extend(byte);
            }
            stream.write_all(response).unwrap();
            closing.recv().unwrap();
            drop(stream);
            closed.send(()).unwrap();
        }
    });
    let client = RuntimeClient::builder().endpoint(endpoint).build().unwrap();
    for _ in 0..2 {
        let invocation = next(&client).await;
        // Blocks the thread as a freeze would, so that tokio sees no event.
        close.send(()).unwrap();
        is_closed.recv().unwrap();
        thread::sleep(LULL);
        assert!(in_time(invocation.respond("")).await.unwrap().is_accepted());
        close.send(()).unwrap();
        is_closed.recv().unwrap();
        thread::sleep(LULL);
    }
    server.join().unwrap();
}

/// The Runtime API accepts one response for each request id, so that a second one does no harm.
#[tokio::test]
async fn response_is_sent_twice_if_its_connection_breaks() {
    for broken in [Reply::Close(Bytes::new()), Reply::Reset(Bytes::new())] {
        let server = Scripted::in_turn([event("1"), broken.clone(), accepted(), event("2")]);
        let client = client(&server);
        let outcome = in_time(next(&client).await.respond("response")).await.unwrap();
        assert!(outcome.is_accepted());
        assert_eq!(next(&client).await.event, "2");
        assert_eq!(seen(&server), [GET_NEXT, POST_RESPONSE, POST_RESPONSE, GET_NEXT]);
        assert_eq!(server.requests()[2].body, b"response");

        let server = Scripted::in_turn([event("1"), broken.clone(), broken]);
        let report = ErrorReport::new("A", "");
        let error = in_time(next(&super::client(&server)).await.fail(&report)).await.unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Broken(_)) && !error.is_fatal(), "{error:?}");
        assert_eq!(seen(&server), [GET_NEXT, POST_ERROR, POST_ERROR]);
    }
}

/// The Runtime API may have sent the event before the connection broke.
#[tokio::test]
async fn request_for_an_invocation_is_not_sent_twice() {
    let not_http = Bytes::from_static(b"SSH-2.0-OpenSSH_9.2\r\n");
    for broken in [Reply::Close(Bytes::new()), Reply::Reset(Bytes::new()), Reply::Close(not_http)] {
        let server = Scripted::start(move |_, _| broken.clone());
        let error = in_time(client(&server).next()).await.unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Broken(_)) && !error.is_fatal(), "{error:?}");
        assert!(error.into_responder().is_none());
        assert_eq!(seen(&server), [GET_NEXT]);
    }
}

#[tokio::test]
async fn refused_connection_is_not_fatal() {
    let address = Scripted::in_turn([]).address();
    let client = RuntimeClient::builder().endpoint(address.to_string()).build().unwrap();
    let error = in_time(client.next()).await.unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Connect(_)) && !error.is_fatal(), "{error:?}");
}

#[tokio::test]
async fn connections_are_replaced_after_a_restore() {
    let server = Scripted::start(|_, request| match request.target() {
        "/2018-06-01/runtime/invocation/next" => event("x"),
        _ => accepted(),
    });
    let client = client(&server);
    let (_one, _other) = tokio::join!(next(&client), next(&client));
    in_time(client.restore_next()).await.unwrap();
    assert!(next(&client).await.respond("x").await.unwrap().is_accepted());
    let connections = connections(&server.requests());
    assert!(connections[2] < 2, "{connections:?}");
    assert_eq!(connections[3..], [2, 2]);
    in_time(async {
        while server.closed() < 2 {
            tokio::task::yield_now().await;
        }
    })
    .await;
}

fn connections(requests: &[Recorded]) -> Vec<usize> {
    requests.iter().map(|request| request.connection).collect()
}

/// Longer than the time for which a connection is used again without a check.
const LULL: Duration = Duration::from_millis(1);
