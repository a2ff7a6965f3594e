//! Responses to requests whose payload the server does not read.

use std::io::{Read, Write};
use std::net::Shutdown;
use std::{net, thread};

use http::StatusCode;
use tokio::runtime;

use super::http2::{GOAWAY, HEADERS, RST_STREAM, SETTINGS, WINDOW_UPDATE, flagged, frame};
use super::*;

#[test]
fn response_to_an_unread_payload_arrives_although_the_connection_breaks() {
    for end in [End::Reset, End::HalfClose] {
        let response = RESPONSE.as_bytes().to_vec();
        assert_eq!(lost(HttpVersion::Http1, Vec::new(), response, end), 0, "{end:?}");
    }
}

#[test]
fn response_over_http2_to_an_unread_payload_arrives_although_the_connection_breaks() {
    // Windows that do not stop the payload (RFC 9113, sections 6.5.2 and 6.9.1).
    let settings = frame(SETTINGS, 0, &[0, 4, 0x7f, 0xff, 0xff, 0xff]);
    let window = frame(WINDOW_UPDATE, 0, &[0x7f, 0xff, 0, 0]);
    // `:status: 413` as a literal (RFC 7541, section 6.2.1). It ends the headers and the stream.
    let response = flagged(HEADERS, 0x5, 1, b"\x48\x03413");
    let reset = frame(RST_STREAM, 1, &[0; 4]);
    let goaway = frame(GOAWAY, 0, &[0, 0, 0, 1, 0, 0, 0, 0]);
    for end in [End::Reset, End::HalfClose] {
        let (first, last) = (
            [&settings[..], &window].concat(),
            [response.clone(), reset.clone(), goaway.clone()].concat(),
        );
        assert_eq!(lost(HttpVersion::Http2, first, last, end), 0, "{end:?}");
    }
}

#[tokio::test]
async fn request_without_a_response_to_its_unread_payload_may_have_run() {
    for end in [End::Reset, End::HalfClose] {
        let address = serve(Vec::new(), b"HTTP/1.1 413 Pay".to_vec(), end);
        let sending = transport(HttpVersion::Http1).send(post(address, payload()));
        assert_eq!(within(exchange(sending)).await, Err(Phase::MaybeSent), "{end:?}");
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// The server closes the connection, which the kernel resets because bytes are unread.
    Reset,
    /// The server ends its side of the connection first.
    HalfClose,
}

/// Sends requests to a server that does not read their payload, and returns how many of them get
/// another result than the response.
fn lost(version: HttpVersion, first: Vec<u8>, last: Vec<u8>, end: End) -> usize {
    let address = serve(first, last, end);
    let mut lost = 0;
    for threads in [1, 2] {
        let mut builder = match threads {
            1 => runtime::Builder::new_current_thread(),
            _ => runtime::Builder::new_multi_thread(),
        };
        let runtime = builder.worker_threads(threads).enable_all().build().unwrap();
        lost += runtime.block_on(async {
            let mut lost = 0;
            for _ in 0..ROUNDS {
                // A request must not meet the connection of the last one, which is ending.
                let transport = transport(version);
                // A task of its own, so that the connection runs on another thread.
                let sending = transport.send(post(address, payload()));
                let result = tokio::spawn(within(sending)).await.unwrap();
                let status = result.map(|response| response.status());
                lost += usize::from(!matches!(status, Ok(StatusCode::PAYLOAD_TOO_LARGE)));
            }
            lost
        });
    }
    lost
}

/// Starts a server that writes `first`, reads some bytes, writes `last` and closes the connection.
fn serve(first: Vec<u8>, last: Vec<u8>, end: End) -> SocketAddr {
    let listener = net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = listener.local_addr().unwrap();
    // It ends with the process.
    thread::spawn(move || {
        for stream in listener.incoming() {
            let (mut stream, first, last) = (stream.unwrap(), first.clone(), last.clone());
            thread::spawn(move || {
                stream.write_all(&first).unwrap();
                stream.read_exact(&mut [0; 16 << 10]).unwrap();
                stream.write_all(&last).unwrap();
                if end == End::HalfClose {
                    stream.shutdown(Shutdown::Write).unwrap();
                    thread::sleep(Duration::from_millis(20));
                }
            });
        }
    });
    address
}

/// Longer than the buffers of a connection on the loopback interface.
fn payload() -> Bytes {
    Bytes::from_static(&[b'x'; 7 << 20])
}

const RESPONSE: &str = "HTTP/1.1 413 Payload Too Large\r\nContent-Length: 2\r\n\r\n{}";

const ROUNDS: usize = 50;
