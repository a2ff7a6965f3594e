//! A function as a program, which the process tests start. It uses the Runtime API by hand.
//!
//! It is a Cargo example, so that Cargo builds it with the tests. It exits when the emulator closes
//! the connection, or at once with the argument `fail`.

use std::env;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{exit, id};
use std::thread::park;

fn main() {
    if env::args().any(|argument| argument == "fail") {
        exit(3);
    }
    let stream = TcpStream::connect(env::var("AWS_LAMBDA_RUNTIME_API").unwrap()).unwrap();
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    if env::var("AWS_LAMBDA_INITIALIZATION_TYPE").unwrap() == "snap-start" {
        let head = "GET /2018-06-01/runtime/restore/next HTTP/1.1\r\nHost: x\r\n\r\n";
        exchange(&stream, &mut reader, head);
        println!("restored");
    }
    loop {
        let head = "GET /2018-06-01/runtime/invocation/next HTTP/1.1\r\nHost: x\r\n\r\n";
        let (request, event) = exchange(&stream, &mut reader, head);
        println!("out of {}: {event}", env::var("AWS_LAMBDA_FUNCTION_NAME").unwrap());
        eprintln!("err: {event}");
        match event.as_str() {
            "exit" => exit(7),
            "hang" => loop {
                park();
            },
            _ => {}
        }
        let path = format!("/2018-06-01/runtime/invocation/{request}/response");
        let body = if event == "pid" { id().to_string() } else { event };
        let length = body.len();
        let head = format!("POST {path} HTTP/1.1\r\nHost: x\r\nContent-Length: {length}\r\n\r\n");
        exchange(&stream, &mut reader, &(head + &body));
    }
}

/// Sends a request, and returns the request id and the body of the response.
fn exchange(
    mut stream: &TcpStream,
    reader: &mut BufReader<TcpStream>,
    request: &str,
) -> (String, String) {
    stream.write_all(request.as_bytes()).unwrap();
    let (mut id, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        assert_ne!(
            reader.read_line(&mut line).unwrap(),
            0,
            "the emulator has closed the connection"
        );
        let line = line.trim_end();
        match line.split_once(": ") {
            Some(("content-length", value)) => length = value.parse().unwrap(),
            Some(("lambda-runtime-aws-request-id", value)) => id = value.to_owned(),
            _ if line.is_empty() => break,
            _ => {}
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    (id, String::from_utf8(body).unwrap())
}
