//! The HTTP adapter beside `lambda_http`: the same events, the same router, and what differs.

mod differences;
mod parties;

use axum::Json;
use axum::Router;
use axum::body::{Body, Bytes};
use axum::http::StatusCode;
use axum::http::header::{CONTENT_ENCODING, CONTENT_TYPE, SET_COOKIE};
use axum::response::{AppendHeaders, IntoResponse, Response};
use presized_support::http_events::{
    function_url, http_api, load_balancer, load_balancer_multi_value, rest_api, web_socket,
};
use serde_json::{Value, json};

use crate::parties::{Outcome, both, of_lambda_http, of_presized, recorder};

#[tokio::test]
async fn service_receives_the_same_requests() {
    let mut no_host = http_api("$default", "/cats");
    no_host["headers"].as_object_mut().unwrap().remove("host");
    let mut empty = http_api("$default", "/");
    let members = empty.as_object_mut().unwrap();
    for member in ["cookies", "headers", "body", "queryStringParameters"] {
        members.remove(member);
    }
    empty["rawQueryString"] = "".into();
    empty["headers"] = json!({});
    // `lambda_http` loses values of headers that are there twice.
    let mut rest = rest_api();
    rest["headers"].as_object_mut().unwrap().remove("Cookie");
    let mut rest_single = rest_api();
    for member in ["multiValueHeaders", "multiValueQueryStringParameters"] {
        rest_single[member].take();
    }
    let mut spaces = rest_api();
    spaces["path"] = "/a b/\u{e9}".into();
    spaces["multiValueQueryStringParameters"] = json!({ "q ": ["\u{e9}&=+", ""] });
    spaces["headers"].as_object_mut().unwrap().remove("Cookie");
    // `lambda_http` looks for the host among the headers of one value only.
    let mut balancer = load_balancer_multi_value();
    balancer["headers"] = load_balancer()["headers"].clone();
    let events = [
        http_api("$default", "/cats"),
        http_api("prod", "/prod/cats"),
        http_api("prod", "/cats"),
        http_api("prod", "/prod"),
        http_api("$default", "/my/path-with space"),
        no_host,
        empty,
        function_url(),
        rest,
        rest_single,
        spaces,
        web_socket(),
        load_balancer(),
        balancer,
    ];
    for event in events {
        let [peer, ours] = both(recorder(), &event).await;
        assert_eq!(ours.body_json(), peer.body_json(), "{event}");
    }
}

#[tokio::test]
async fn caller_receives_the_same_responses() {
    let pages: [fn() -> Response; 9] = [
        || "text".into_response(),
        || "\"quoted\"\n\u{e9}\u{1}".into_response(),
        || Json(json!({ "a": 1 })).into_response(),
        || (StatusCode::NO_CONTENT, ()).into_response(),
        || StatusCode::NOT_FOUND.into_response(),
        || {
            (AppendHeaders([(SET_COOKIE, "c=1"), (SET_COOKIE, "d=2; Secure")]), "cookies")
                .into_response()
        },
        || ([(CONTENT_TYPE, "image/png")], &b"\0\xff\x80"[..]).into_response(),
        || ([(CONTENT_TYPE, "image/svg+xml")], "<svg/>").into_response(),
        || ([(CONTENT_ENCODING, "gzip")], &b"\x1f\x8b\x08"[..]).into_response(),
    ];
    let sources = [
        http_api("$default", "/"),
        function_url(),
        rest_api(),
        web_socket(),
        load_balancer_multi_value(),
    ];
    for page in pages {
        let app = Router::new().fallback(async move || page());
        for event in &sources {
            let [peer, ours] = both(app.clone(), event).await;
            assert_eq!(ours, peer, "{event}");
        }
    }
}

#[tokio::test]
async fn streamed_bodies_are_collected_alike() {
    let app = Router::new().fallback(async || {
        let parts = ["one,", "two"].map(|part| Ok::<_, std::io::Error>(Bytes::from(part)));
        Body::from_stream(futures_util::stream::iter(parts))
    });
    let [peer, ours] = both(app, &rest_api()).await;
    assert_eq!(ours, peer);
    assert_eq!(ours.body, b"one,two");
}
