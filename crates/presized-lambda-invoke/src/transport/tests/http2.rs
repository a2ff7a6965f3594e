use tokio::io::AsyncWriteExt;
use tokio::task;

use super::*;

#[tokio::test]
async fn reset_and_goaway_tell_whether_a_request_was_processed() {
    // A client opens stream 1 first.
    let refused = frame(RST_STREAM, 1, &[0, 0, 0, 7]);
    let canceled = frame(RST_STREAM, 1, &[0, 0, 0, 8]);
    let failed = frame(RST_STREAM, 1, &[0, 0, 0, 2]);
    // The last stream that was processed, and the reason.
    let gone_before = frame(GOAWAY, 0, &[0, 0, 0, 0, 0, 0, 0, 0]);
    let failed_before = frame(GOAWAY, 0, &[0, 0, 0, 0, 0, 0, 0, 2]);
    let gone_after = frame(GOAWAY, 0, &[0, 0, 0, 1, 0, 0, 0, 0]);
    let failed_after = frame(GOAWAY, 0, &[0, 0, 0, 1, 0, 0, 0, 2]);
    let last = frame(GOAWAY, 0, &[0x7f, 0xff, 0xff, 0xff, 0, 0, 0, 0]);
    let cases = [
        ("REFUSED_STREAM", refused, "{}", Phase::NotSent),
        ("CANCEL", canceled, "{}", Phase::MaybeSent),
        ("INTERNAL_ERROR", failed, "{}", Phase::MaybeSent),
        ("GOAWAY below", gone_before.clone(), "{}", Phase::NotSent),
        ("GOAWAY below, INTERNAL_ERROR", failed_before, "{}", Phase::NotSent),
        (
            "GOAWAY, then GOAWAY below",
            [last.clone(), gone_before.clone()].concat(),
            "{}",
            Phase::NotSent,
        ),
        ("GOAWAY at", gone_after, "{}", Phase::MaybeSent),
        ("GOAWAY at, INTERNAL_ERROR", failed_after, "{}", Phase::MaybeSent),
        ("GOAWAY above all streams", last, "{}", Phase::MaybeSent),
        // An empty payload is never polled.
        ("GOAWAY below, empty payload", gone_before, "", Phase::MaybeSent),
        ("end", Vec::new(), "{}", Phase::MaybeSent),
        ("HTTP/1.1", b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec(), "{}", Phase::MaybeSent),
    ];
    for (name, response, payload, expected) in cases {
        let (listener, address) = listen().await;
        let server = task::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            read_stream(&mut stream).await;
            stream.write_all(&response).await.unwrap();
            stream.shutdown().await.unwrap();
            // Reads the rest of the client, so that the kernel sends no reset.
            let _ = stream.read_to_end(&mut Vec::new()).await;
        });
        let sending = transport(HttpVersion::Http2).send(post(address, payload));
        assert_eq!(within(exchange(sending)).await, Err(expected), "{name}");
        within(server).await.unwrap();
    }
}

#[tokio::test]
async fn request_has_the_authority_of_the_uri_and_no_host() {
    let (listener, address) = listen().await;
    let server = task::spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        let mut connection = h2::server::handshake(stream).await.unwrap();
        let (request, mut respond) = connection.accept().await.unwrap().unwrap();
        respond.send_response(http::Response::new(()), true).unwrap();
        connection.graceful_shutdown();
        while connection.accept().await.is_some() {}
        (request.uri().to_string(), request.headers().contains_key("host"))
    });
    let mut request = post(address, "{}");
    request.headers_mut().insert("host", "signed.example".parse().unwrap());
    within(exchange(transport(HttpVersion::Http2).send(request))).await.unwrap();
    let expected = format!("http://{address}/functions/f");
    assert_eq!(within(server).await.unwrap(), (expected, false));
}

/// RFC 9113, section 8.1: the server may ask the client with NO_ERROR to stop the payload.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn response_to_an_unread_payload_arrives_although_the_stream_is_reset() {
    let (listener, address) = listen().await;
    let server = task::spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        let mut connection = h2::server::handshake(stream).await.unwrap();
        let mut count = 0;
        while let Some(Ok((_unread, mut respond))) = connection.accept().await {
            let response = http::Response::builder().status(413).body(()).unwrap();
            let mut body = respond.send_response(response, false).unwrap();
            body.send_data(Bytes::from_static(b"{}"), true).unwrap();
            // h2 resets the stream with NO_ERROR when the unread request is dropped.
            count += 1;
        }
        count
    });
    let transport = transport(HttpVersion::Http2);
    for _ in 0..100 {
        let payload = Bytes::from_static(&[b'x'; 7 << 20]);
        let response = within(transport.send(post(address, payload))).await.unwrap();
        assert_eq!(response.status(), 413);
        let body = within(response.into_body().collect()).await.unwrap().to_bytes();
        assert_eq!(body, "{}");
    }
    drop(transport);
    assert_eq!(within(server).await.unwrap(), 100, "on one connection");
}

#[tokio::test]
async fn connection_is_replaced_after_goaway() {
    let (listener, address) = listen().await;
    let server = task::spawn(async move {
        for _ in 0..2 {
            let (stream, _) = listener.accept().await.unwrap();
            let mut connection = h2::server::handshake(stream).await.unwrap();
            let (_request, mut respond) = connection.accept().await.unwrap().unwrap();
            respond.send_response(http::Response::new(()), true).unwrap();
            connection.graceful_shutdown();
            assert!(connection.accept().await.is_none(), "one request a connection");
        }
    });
    let transport = transport(HttpVersion::Http2);
    for _ in 0..2 {
        assert_eq!(within(exchange(transport.send(post(address, "{}")))).await, Ok(Bytes::new()));
    }
    within(server).await.unwrap();
}

#[tokio::test]
async fn unread_responses_do_not_block_other_responses() {
    const UNREAD: usize = 20;
    let (listener, address) = listen().await;
    let server = task::spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        let mut connection = h2::server::handshake(stream).await.unwrap();
        let mut number = 0;
        while let Some(Ok((_, mut respond))) = connection.accept().await {
            number += 1;
            // The whole window of each stream, which the client does not read.
            let len = if number <= UNREAD { HTTP2_STREAM_WINDOW as usize } else { 1 };
            let mut body = respond.send_response(http::Response::new(()), false).unwrap();
            body.send_data(vec![b'x'; len].into(), true).unwrap();
        }
    });
    let transport = transport(HttpVersion::Http2);
    let mut unread = Vec::new();
    for _ in 0..UNREAD {
        unread.push(within(transport.send(post(address, "{}"))).await.unwrap());
    }
    let response = within(exchange(transport.send(post(address, "{}")))).await;
    assert_eq!(response, Ok(Bytes::from_static(b"x")));
    // The unread responses are complete.
    for response in unread {
        let body = within(response.into_body().collect()).await.unwrap().to_bytes();
        assert_eq!(body.len(), HTTP2_STREAM_WINDOW as usize);
    }
    drop(transport);
    within(server).await.unwrap();
}

/// Reads from a client up to the end of its first stream.
async fn read_stream(stream: &mut TcpStream) {
    stream.write_all(&frame(SETTINGS, 0, &[])).await.unwrap();
    stream.read_exact(&mut [0; PREFACE.len()]).await.unwrap();
    loop {
        let mut head = [0; 9];
        stream.read_exact(&mut head).await.unwrap();
        let length = u32::from_be_bytes([0, head[0], head[1], head[2]]);
        stream.read_exact(&mut vec![0; length as usize]).await.unwrap();
        let ends = matches!(head[3], DATA | HEADERS) && head[4] & END_STREAM != 0;
        if ends {
            break;
        }
    }
}

pub(super) fn frame(kind: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    flagged(kind, 0, stream, payload)
}

pub(super) fn flagged(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
const DATA: u8 = 0;
pub(super) const HEADERS: u8 = 1;
pub(super) const RST_STREAM: u8 = 3;
pub(super) const SETTINGS: u8 = 4;
pub(super) const GOAWAY: u8 = 7;
pub(super) const WINDOW_UPDATE: u8 = 8;
const END_STREAM: u8 = 1;
