//! The shutdown of a runtime, by its signal and by SIGTERM.

use std::convert::Infallible;
use std::process::{Command, ExitStatus};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use bytes::Bytes;
use presized_lambda_runtime::{Context, Runtime, RuntimeClient, raw};
use presized_support::process::example;
use presized_support::scripted::{Reply, Scripted};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use tokio::time::timeout;

use super::{Api, PATIENCE, accepted, event, is_post, path};

#[tokio::test]
async fn current_invocation_is_finished_after_the_shutdown_signal() {
    for concurrency in [None, Some(3)] {
        let api = Api::start(concurrency, [event("a", "hello")], |_| accepted());
        let (stop, called, go_on) = (Notify::new(), Notify::new(), Notify::new());
        let [stop, called, go_on] = [stop, called, go_on].map(Arc::new);
        let (signal, in_handler, finish) =
            (Arc::clone(&stop), Arc::clone(&called), Arc::clone(&go_on));
        let slow = raw(move |event: Bytes, _: Context| {
            let (called, go_on) = (Arc::clone(&called), Arc::clone(&go_on));
            async move {
                called.notify_one();
                go_on.notified().await;
                Ok::<_, Infallible>(event)
            }
        });
        let runtime = api.runtime(slow).shutdown(async move { stop.notified().await });
        let running = tokio::spawn(runtime.run());
        in_handler.notified().await;
        signal.notify_one();
        // Long enough for the runtime to end if it did not wait for the invocation.
        let early = timeout(Duration::from_millis(50), async {
            while !running.is_finished() {
                tokio::task::yield_now().await;
            }
        });
        assert!(early.await.is_err(), "{concurrency:?}");
        finish.notify_one();
        timeout(PATIENCE, running).await.expect("ends in 20 s").unwrap().unwrap();
        assert_eq!(api.posted(), super::pairs(&[("a/response", "hello")]), "{concurrency:?}");
    }
}

/// Lambda sends an event once, so that it would be lost otherwise.
#[tokio::test]
async fn invocation_whose_event_arrives_is_finished_after_the_shutdown_signal() {
    for concurrency in [None, Some(1)] {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let endpoint = listener.local_addr().unwrap().to_string();
        let client = RuntimeClient::builder().endpoint(endpoint).build().unwrap();
        let pool = client.pool().clone();
        let echo = raw(async |event: Bytes, _: Context| Ok::<_, Infallible>(event));
        let stop = Arc::new(Notify::new());
        let signal = Arc::clone(&stop);
        let runtime =
            Runtime::new(echo).client(client).shutdown(async move { signal.notified().await });
        let runtime = match concurrency {
            Some(concurrency) => runtime.concurrency(concurrency),
            None => runtime,
        };
        let running = tokio::spawn(runtime.run());
        let serving = async {
            let (mut stream, _) = listener.accept().await.unwrap();
            read_until(&mut stream, "\r\n\r\n").await;
            let head = "HTTP/1.1 200 OK\r\nLambda-Runtime-Aws-Request-Id: a\r\n\
                        Content-Length: 65536\r\n\r\n";
            stream.write_all(head.as_bytes()).await.unwrap();
            stream.write_all(&[b'e'; 32 << 10]).await.unwrap();
            // The pool has lent a buffer as soon as the first half was read.
            while pool.stats().outstanding == 0 {
                tokio::task::yield_now().await;
            }
            stop.notify_one();
            for _ in 0..100 {
                tokio::task::yield_now().await;
            }
            stream.write_all(&[b'e'; 32 << 10]).await.unwrap();
            read_until(&mut stream, &"e".repeat(65536)).await;
            stream.write_all(b"HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n").await.unwrap();
        };
        timeout(PATIENCE, serving).await.expect("a response in 20 s");
        timeout(PATIENCE, running).await.expect("ends in 20 s").unwrap().unwrap();
    }
}

async fn read_until(stream: &mut TcpStream, end: &str) {
    let mut read = Vec::new();
    while !read.ends_with(end.as_bytes()) {
        assert_ne!(
            stream.read_buf(&mut read).await.unwrap(),
            0,
            "the function closed the connection"
        );
    }
}

/// Runs a function with these variables, sends its process id, and waits for its end.
fn run_function(
    server: &Scripted,
    started: mpsc::Sender<u32>,
    variables: &[(&str, &str)],
) -> ExitStatus {
    let mut child = Command::new(example("test_function"))
        .env("AWS_LAMBDA_RUNTIME_API", server.address().to_string())
        .envs(variables.iter().copied())
        .spawn()
        .unwrap();
    started.send(child.id()).unwrap();
    let begin = Instant::now();
    while begin.elapsed() < PATIENCE {
        if let Some(status) = child.try_wait().unwrap() {
            return status;
        }
        thread::sleep(Duration::from_millis(10));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    panic!("the function does not end in 20 s: {:?}", server.requests());
}

/// Sends SIGTERM while the handler runs, which takes 300 ms.
fn terminate_soon(started: mpsc::Receiver<u32>) {
    thread::spawn(move || {
        let id = started.recv().unwrap();
        thread::sleep(Duration::from_millis(100));
        assert!(Command::new("kill").args(["-TERM", &id.to_string()]).status().unwrap().success());
    });
}

#[test]
fn sigterm_ends_the_process_after_the_current_invocation() {
    let cases: [&[(&str, &str)]; 3] = [
        &[],
        &[("AWS_LAMBDA_MAX_CONCURRENCY", "2")],
        &[("AWS_LAMBDA_INITIALIZATION_TYPE", "snap-start")],
    ];
    for variables in cases {
        let (starts, started) = mpsc::channel();
        let started = Mutex::new(Some(started));
        let server = Scripted::start(move |_, request| match path(request) {
            "restore/next" => Reply::response("200 OK", &[], ""),
            "invocation/next" => match started.lock().unwrap().take() {
                Some(started) => {
                    terminate_soon(started);
                    event("a", "late 300")
                }
                None => Reply::Hang("".into()),
            },
            _ => accepted(),
        });
        let status = run_function(&server, starts, variables);
        assert!(status.success(), "{variables:?} {status}");
        let posted: Vec<_> = server.requests().into_iter().filter(is_post).collect();
        assert_eq!(posted.len(), 1, "{variables:?}");
        assert_eq!((path(&posted[0]), &posted[0].body[..]), ("a/response", &b"late"[..]));
        let is_restored = path(&server.requests()[0]) == "restore/next";
        assert_eq!(is_restored, variables.iter().any(|(_, value)| *value == "snap-start"));
    }
}
