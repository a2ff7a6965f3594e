use std::io::{Read, Write};
use std::sync::Barrier;
use std::{net, thread};

use socket2::SockRef;
use tokio::io::AsyncWriteExt;
use tokio::task;

use super::*;

#[tokio::test]
async fn request_has_the_target_of_the_uri_and_the_signed_host() {
    let (listener, address) = listen().await;
    let server = task::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let request = read_request(&mut stream).await;
        stream.write_all(RESPONSE).await.unwrap();
        request
    });
    let request = Request::post(format!("http://{address}/f/arn%3Aaws%3A%24x?Qualifier=%24LATEST"))
        .header("Host", "signed.example")
        .header("X-Amz-Date", "now")
        .body(Full::from("{}"))
        .unwrap();
    within(exchange(transport(HttpVersion::Negotiated).send(request))).await.unwrap();
    let expected = "POST /f/arn%3Aaws%3A%24x?Qualifier=%24LATEST HTTP/1.1\r\n\
         host: signed.example\r\nx-amz-date: now\r\ncontent-length: 2\r\n\r\n{}";
    assert_eq!(within(server).await.unwrap(), expected);
}

#[tokio::test]
async fn idle_connection_is_used_again() {
    let (listener, address) = listen().await;
    let server = task::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        for _ in 0..2 {
            read_request(&mut stream).await;
            stream.write_all(RESPONSE).await.unwrap();
        }
    });
    let transport = transport(HttpVersion::Http1);
    for _ in 0..2 {
        let outcome = within(exchange(transport.send(post(address, "{}")))).await;
        assert_eq!(outcome.as_deref(), Ok(&b"ok"[..]));
    }
    within(server).await.unwrap();
}

/// serverless-offline closes connections after five seconds. The thread of the runtime is busy
/// meanwhile, as if the process were frozen.
#[tokio::test]
async fn idle_connection_that_the_server_closed_is_replaced() {
    for reset in [false, true] {
        let listener = net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let in_turn = Arc::new(Barrier::new(2));
        let server = thread::spawn({
            let in_turn = Arc::clone(&in_turn);
            move || {
                for _ in 0..2 {
                    let (mut stream, _) = listener.accept().unwrap();
                    let mut request = Vec::new();
                    while !request.ends_with(b"{}") {
                        let mut byte = [0];
                        stream.read_exact(&mut byte).unwrap();
                        request.extend_from_slice(&byte);
                    }
                    stream.write_all(RESPONSE).unwrap();
                    in_turn.wait();
                    if reset {
                        SockRef::from(&stream).set_linger(Some(Duration::ZERO)).unwrap();
                    }
                    drop(stream);
                    in_turn.wait();
                }
            }
        });
        let transport = transport(HttpVersion::Http1);
        for _ in 0..2 {
            let outcome = within(exchange(transport.send(post(address, "{}")))).await;
            assert_eq!(outcome.as_deref(), Ok(&b"ok"[..]), "reset: {reset}");
            in_turn.wait();
            in_turn.wait();
            thread::sleep(2 * Duration::from_micros(RECENT));
        }
        server.join().unwrap();
    }
}

#[tokio::test]
async fn request_that_the_server_read_may_have_run() {
    let responses: [&[u8]; 4] = [
        b"",
        b"HTTP/1.1 200 OK\r\nContent-Le",
        b"HTTP/1.1 100 Continue\r\n\r\n",
        b"\x15\x03\x03\x00\x02\x02\x16",
    ];
    for response in responses {
        for reset in [false, true] {
            let (listener, address) = listen().await;
            let server = task::spawn(async move {
                let (mut stream, _) = listener.accept().await.unwrap();
                read_request(&mut stream).await;
                stream.write_all(response).await.unwrap();
                close(stream, reset);
            });
            let outcome =
                within(exchange(transport(HttpVersion::Http1).send(post(address, "{}")))).await;
            assert_eq!(outcome, Err(Phase::MaybeSent), "{response:?}, reset: {reset}");
            within(server).await.unwrap();
        }
    }
}

#[tokio::test]
async fn request_that_the_server_did_not_read_may_have_run() {
    let (listener, address) = listen().await;
    let server = task::spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        assert_eq!(stream.peek(&mut [0]).await.unwrap(), 1, "the request is there");
        close(stream, true);
    });
    let outcome = within(exchange(transport(HttpVersion::Http1).send(post(address, "{}")))).await;
    assert_eq!(outcome, Err(Phase::MaybeSent));
    within(server).await.unwrap();
}

/// A server that closes each connection at once races with the request.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn request_that_counts_as_unsent_did_not_arrive() {
    let mut unsent = 0;
    for _ in 0..20 {
        let (listener, address) = listen().await;
        let server = task::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            stream.shutdown().await.unwrap();
            let mut received = Vec::new();
            stream.read_to_end(&mut received).await.map(|_| received.len())
        });
        let phase = within(exchange(transport(HttpVersion::Http1).send(post(address, "{}")))).await;
        let received = within(server).await.unwrap();
        if phase.unwrap_err() != Phase::MaybeSent {
            assert_eq!(received.unwrap(), 0);
            unsent += 1;
        }
    }
    assert_ne!(unsent, 0, "the server never closed first");
}

#[tokio::test]
async fn connection_with_an_unfinished_response_is_not_used_again() {
    // The request is dropped before the head or the body is complete.
    for response in ["HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\no"] {
        let (listener, address) = listen().await;
        let server = task::spawn(async move {
            let (mut first, _) = listener.accept().await.unwrap();
            read_request(&mut first).await;
            first.write_all(response.as_bytes()).await.unwrap();
            let (mut second, _) = listener.accept().await.unwrap();
            read_request(&mut second).await;
            second.write_all(RESPONSE).await.unwrap();
            let mut more = Vec::new();
            first.read_to_end(&mut more).await.map(|_| more.len())
        });
        let transport = transport(HttpVersion::Http1);
        let mut sending = transport.send(post(address, "{}"));
        match timeout(Duration::from_millis(50), &mut sending).await {
            Ok(response) => drop(response.unwrap()),
            Err(_elapsed) => assert_eq!(sending.abandon(), Phase::MaybeSent),
        }
        let outcome = within(exchange(transport.send(post(address, "{}")))).await;
        assert_eq!(outcome.as_deref(), Ok(&b"ok"[..]));
        assert_eq!(within(server).await.unwrap().unwrap(), 0, "bytes of the second request");
    }
}

#[tokio::test]
async fn connection_is_closed_after_the_idle_timeout() {
    let (listener, address) = listen().await;
    let server = task::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        read_request(&mut stream).await;
        stream.write_all(RESPONSE).await.unwrap();
        stream.read(&mut [0]).await.unwrap()
    });
    let transport = Transport::new(plain(HttpVersion::Http1), Duration::from_millis(50));
    within(exchange(transport.send(post(address, "{}")))).await.unwrap();
    assert_eq!(within(server).await.unwrap(), 0);
}

fn close(stream: TcpStream, reset: bool) {
    if reset {
        stream.set_zero_linger().unwrap();
    }
    drop(stream);
}

const RESPONSE: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
