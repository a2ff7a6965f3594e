//! Coded bodies through hyper, tower and reqwest, over a socket.

use std::net::{Ipv4Addr, SocketAddr};

use bytes::Bytes;
use http::{Method, Request, Response};
use http_body_util::Empty;
use hyper_util::client::legacy::{Client, connect::HttpConnector};
use hyper_util::rt::TokioExecutor;
use presized::{CollectError, ResponseExt as _};
use presized_decode::{Coding, DecodeError, DecodeExt as _};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use crate::{Form, text};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Framing {
    Length,
    Chunked,
}

/// Responds to every request with this coded content, in writes of `size` bytes.
async fn serve(coding: &str, coded: &[u8], framing: Framing, size: usize) -> SocketAddr {
    let head = match framing {
        Framing::Length => format!("Content-Length: {}", coded.len()),
        Framing::Chunked => "Transfer-Encoding: chunked".to_owned(),
    };
    let head = format!("HTTP/1.1 200 OK\r\nContent-Encoding: {coding}\r\n{head}\r\n\r\n");
    let mut writes = vec![head.into_bytes()];
    for piece in coded.chunks(size) {
        writes.push(match framing {
            Framing::Length => piece.to_vec(),
            Framing::Chunked => {
                [format!("{:x}\r\n", piece.len()).as_bytes(), piece, b"\r\n"].concat()
            }
        });
    }
    if framing == Framing::Chunked {
        writes.push(b"0\r\n\r\n".to_vec());
    }
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            stream.set_nodelay(true).unwrap();
            let mut request = Vec::new();
            while !request.ends_with(b"\r\n\r\n") {
                if stream.read_buf(&mut request).await.unwrap_or(0) == 0 {
                    break;
                }
            }
            for write in &writes {
                // The client may have enough.
                if stream.write_all(write).await.is_err() {
                    break;
                }
                tokio::task::yield_now().await;
            }
        }
    });
    address
}

fn hyper() -> Client<HttpConnector, Empty<Bytes>> {
    Client::builder(TokioExecutor::new()).pool_max_idle_per_host(0).build_http()
}

fn get(address: SocketAddr) -> Request<Empty<Bytes>> {
    Request::get(format!("http://{address}/")).body(Empty::new()).unwrap()
}

type Read = Result<Bytes, (CollectError<DecodeError>, Bytes)>;

/// Reads the content up to `limit` by each client.
async fn read(address: SocketAddr, limit: u64) -> Vec<(&'static str, Read)> {
    let split = |read: Result<Bytes, CollectError<DecodeError>>| {
        read.map_err(|error| {
            let partial = Bytes::from(error.partial().chunks().collect::<Vec<_>>().concat());
            (error, partial)
        })
    };
    let mut read = Vec::new();

    let response = hyper().request(get(address)).await.unwrap();
    let collect = response.decode().unwrap().collect_presized(&Method::GET, limit);
    read.push(("hyper", split(collect.await)));

    let client = crate::reqwest().pool_max_idle_per_host(0).build().unwrap();
    let response = client.get(format!("http://{address}/")).send().await.unwrap();
    let response = Response::<reqwest::Body>::from(response);
    let collect = response.decode().unwrap().collect_presized(&Method::GET, limit);
    read.push(("reqwest", split(collect.await)));

    #[cfg(feature = "tower")]
    {
        use presized_decode::DecodeLayer;
        use tower::{ServiceBuilder, ServiceExt};

        let client = ServiceBuilder::new().layer(DecodeLayer::new()).service(hyper());
        let response = client.oneshot(get(address)).await.unwrap();
        let collect = response.collect_presized(&Method::GET, limit);
        read.push(("tower", split(collect.await)));
    }
    read
}

#[tokio::test]
async fn members_and_frames_are_whole_in_every_stack() {
    let two = |form: Form| [form.code(b"hello "), form.code(b"world")].concat();
    let padded = [&Form::Gzip.code(b"hello world")[..], &[0, 0, 0]].concat();
    let bodies =
        [(Coding::Gzip, two(Form::Gzip)), (Coding::Zstd, two(Form::Zstd)), (Coding::Gzip, padded)];
    for (coding, coded) in bodies {
        for framing in [Framing::Length, Framing::Chunked] {
            for size in [1, usize::MAX] {
                let address = serve(coding.name(), &coded, framing, size).await;
                for (client, read) in read(address, 64).await {
                    let what = format!("{client} {coding} {framing:?} {size}: {read:?}");
                    assert_eq!(read.expect(&what), "hello world");
                }
                for (client, read) in read(address, 8).await {
                    let what = format!("{client} {coding} {framing:?} {size}: {read:?}");
                    let (error, partial) = read.expect_err(&what);
                    assert!(matches!(error, CollectError::TooLarge { limit: 8, .. }), "{what}");
                    assert_eq!(partial, "hello wo", "{what}");
                }
            }
        }
    }
}

#[tokio::test]
async fn every_coding_is_decoded_in_every_stack() {
    let content = text(200_000);
    for form in Form::ALL {
        let coded = form.code(&content);
        for framing in [Framing::Length, Framing::Chunked] {
            let address = serve(form.coding().name(), &coded, framing, 1000).await;
            for (client, read) in read(address, 200_000).await {
                let read = read.unwrap_or_else(|error| panic!("{client} {form:?}: {error:?}"));
                assert!(read == content, "{client} {form:?}");
            }
        }
    }
}

#[tokio::test]
async fn cut_content_is_an_error_with_what_came_in_every_stack() {
    for form in Form::ALL {
        let mut coded = form.code(b"hello world");
        coded.pop();
        let address = serve(form.coding().name(), &coded, Framing::Chunked, 3).await;
        for (client, read) in read(address, 64).await {
            let (error, partial) = read.expect_err("the content is cut");
            let CollectError::Body { source, .. } = error else { panic!("{client}: {error:?}") };
            assert!(
                matches!(source, DecodeError::Truncated { .. }),
                "{client} {form:?}: {source:?}"
            );
            assert!(b"hello world".starts_with(&partial), "{client} {form:?}: {partial:?}");
        }
    }
}

/// hyper ends the body with an error when the connection ends before the declared length.
#[tokio::test]
async fn cut_transfer_is_the_error_of_the_body() {
    let first = Form::Gzip.code(b"hello ");
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let _ = stream.read(&mut [0; 1024]).await;
        let head = "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 1000\r\n\r\n";
        stream.write_all(&[head.as_bytes(), &first].concat()).await.unwrap();
    });
    let response = hyper().request(get(address)).await.unwrap();
    let error = response.decode().unwrap().collect_presized(&Method::GET, 64).await.unwrap_err();
    let CollectError::Body { source: DecodeError::Body { source, .. }, partial, .. } = error else {
        panic!("{error:?}")
    };
    assert!(source.is::<hyper::Error>(), "{source:?}");
    assert_eq!(partial.into_bytes(), "hello ");
}

#[tokio::test]
async fn response_to_head_is_empty_and_keeps_its_head() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let _ = stream.read(&mut [0; 1024]).await;
        let head = "HTTP/1.1 200 OK\r\nContent-Encoding: br\r\nContent-Length: 1000\r\n\r\n";
        stream.write_all(head.as_bytes()).await.unwrap();
    });
    let mut request = get(address);
    *request.method_mut() = Method::HEAD;
    let response = hyper().request(request).await.unwrap().decode().unwrap();
    assert_eq!(response.headers()["content-length"], "1000");
    assert_eq!(response.collect_presized(&Method::HEAD, 0).await.unwrap(), "");
}
