//! The core on the response of reqwest: every form, what the limit counts where reqwest decodes,
//! and what a decompression bomb costs.

mod coded;
mod memory;
mod reading;
mod wrong;

use std::fmt::Write;

use presized_support::ledger::Ledger;
use presized_support::server::Server;
use reqwest::{Client, Method, Response};

#[global_allocator]
static LEDGER: Ledger = Ledger;

/// A client that decodes all it can, as it does by itself.
fn client() -> Client {
    // An error means that a provider is installed already, which does as well.
    let _ = rustls::crypto::ring::default_provider().install_default();
    Client::builder().no_proxy().build().unwrap()
}

/// The bytes of an answer. Every field has its line end.
fn answer(fields: &str, content: &[u8]) -> Vec<u8> {
    let mut head = String::from("HTTP/1.1 200 OK\r\n");
    write!(head, "{fields}Content-Length: {}\r\n\r\n", content.len()).unwrap();
    [head.as_bytes(), content].concat()
}

/// An answer with content in a coding.
fn coded_answer(coding: &str, content: &[u8]) -> Vec<u8> {
    answer(&format!("Content-Encoding: {coding}\r\n"), content)
}

/// The response to one request, with the server, which ends its connections when it is dropped.
async fn respond(method: Method, answer: impl Into<Vec<u8>>) -> (Response, Server) {
    let server = Server::raw(answer).unwrap();
    let request = client().request(method, server.endpoint().url("/path"));
    (request.send().await.unwrap(), server)
}

async fn get(answer: impl Into<Vec<u8>>) -> (Response, Server) {
    respond(Method::GET, answer).await
}
