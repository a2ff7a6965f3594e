//! Tests of `ResponseExt` with reqwest: every form, the limit on decoded bodies, errors, and the
//! memory that a decompression bomb takes.

mod memory;
mod reading;
mod reqwest_012;
mod wrong;

use std::fmt::Write;

use presized_support::ledger::Ledger;
use presized_support::server::Server;
use reqwest::{Client, Method, Response};

#[global_allocator]
static LEDGER: Ledger = Ledger;

/// Returns a client with the defaults of reqwest, which decodes every coding that it knows.
fn client() -> Client {
    // An error means that another test has installed the provider.
    let _ = rustls::crypto::ring::default_provider().install_default();
    Client::builder().no_proxy().build().unwrap()
}

/// Returns the bytes of a response. `fields` is empty or ends with a line end.
fn whole_response(fields: &str, content: &[u8]) -> Vec<u8> {
    let mut head = String::from("HTTP/1.1 200 OK\r\n");
    write!(head, "{fields}Content-Length: {}\r\n\r\n", content.len()).unwrap();
    [head.as_bytes(), content].concat()
}

/// Returns the bytes of a response whose content is in a coding.
fn coded_response(coding: &str, content: &[u8]) -> Vec<u8> {
    whole_response(&format!("Content-Encoding: {coding}\r\n"), content)
}

/// Sends one request to a server that responds with these bytes. The server ends its connections
/// when it is dropped.
async fn respond(method: Method, response: impl Into<Vec<u8>>) -> (Response, Server) {
    let server = Server::raw(response).unwrap();
    let request = client().request(method, server.endpoint().url("/path"));
    (request.send().await.unwrap(), server)
}

async fn get(response: impl Into<Vec<u8>>) -> (Response, Server) {
    respond(Method::GET, response).await
}
