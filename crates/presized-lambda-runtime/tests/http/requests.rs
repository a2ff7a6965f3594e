//! The requests that a service receives.

use http_body_util::BodyExt;
use presized_support::http_events::{
    function_url, http_api, load_balancer, load_balancer_multi_value, rest_api, web_socket,
};

use super::*;

#[tokio::test]
async fn request_has_method_uri_headers_and_body_of_its_event() {
    let api = "https://abc123.execute-api.eu-central-1.amazonaws.com";
    let url = "https://xyz789.lambda-url.eu-central-1.on.aws";
    let balancer = "http://cats-1.eu-central-1.elb.amazonaws.com";
    let query = "a=1&a=2%20x&b=%26";
    let table = [
        (
            http_api("$default", "/cats"),
            HttpSource::HttpApi,
            "POST",
            format!("{api}/cats?{query}"),
            "c=1; d=2",
            "{\"name\":\"Tom\"}",
        ),
        (
            function_url(),
            HttpSource::FunctionUrl,
            "PUT",
            format!("{url}/cats?{query}"),
            "c=1; d=2",
            "\u{0}\u{fffd}\u{fffd}",
        ),
        (
            rest_api(),
            HttpSource::RestApi,
            "POST",
            format!("{api}/cats?{query}"),
            "c=1|d=2",
            "plain",
        ),
        (web_socket(), HttpSource::WebSocketApi, "GET", format!("{api}/"), "", "hello"),
        (
            load_balancer(),
            HttpSource::LoadBalancer,
            "GET",
            format!("{balancer}/cats?a=2%20x&b=%26"),
            "c=1; d=2",
            "",
        ),
        (
            load_balancer_multi_value(),
            HttpSource::LoadBalancer,
            "GET",
            format!("{balancer}/cats?{query}"),
            "c=1; d=2",
            "",
        ),
    ];
    for (event, source, method, uri, cookies, body) in table {
        let seen = seen(http(recorder()), &event).await;
        let expected = json!({
            "source": format!("{source:?}"),
            "method": method,
            "uri": uri,
            "cookies": cookies,
            "body": body,
            "traced": true,
            "has_context": true,
        });
        assert_eq!(seen, expected);
    }
}

#[tokio::test]
async fn stage_is_removed_sent_or_added() {
    let below = |mut event: Value, prefix: &str| {
        event["requestContext"]["domainPrefix"] = prefix.into();
        event
    };
    let mut version_1 = rest_api();
    version_1["version"] = "1.0".into();
    version_1["path"] = "/prod/cats".into();
    // The event, and the paths without, as sent, and with the stage.
    let table = [
        (http_api("$default", "/cats"), "/cats", "/cats", "/cats"),
        (http_api("prod", "/prod/cats"), "/cats", "/prod/cats", "/prod/cats"),
        (http_api("prod", "/prod"), "/", "/prod", "/prod/prod"),
        (http_api("prod", "/product"), "/product", "/product", "/prod/product"),
        (below(http_api("prod", "/prod/cats"), "cats"), "/prod/cats", "/prod/cats", "/prod/cats"),
        (rest_api(), "/cats", "/cats", "/prod/cats"),
        (version_1, "/cats", "/prod/cats", "/prod/cats"),
        (web_socket(), "/", "/", "/prod"),
        (load_balancer(), "/cats", "/cats", "/cats"),
    ];
    for (event, removed, as_sent, added) in table {
        for (setting, expected) in
            [(StagePath::Removed, removed), (StagePath::AsSent, as_sent), (StagePath::Added, added)]
        {
            let seen = seen(http(recorder()).stage_path(setting), &event).await;
            let uri: http::Uri = seen["uri"].as_str().unwrap().parse().unwrap();
            assert_eq!(uri.path(), expected, "{setting:?} {event}");
        }
    }
}

#[tokio::test]
async fn host_and_path_of_a_client_cannot_change_the_request() {
    let api = "https://abc123.execute-api.eu-central-1.amazonaws.com";
    // Host, path, and the URI without its query.
    let table = [
        ("a.example/admin?", "/cats", "/cats".to_owned()),
        ("user@a.example", "/cats", "/cats".to_owned()),
        ("a.example:99999x", "/cats", "/cats".to_owned()),
        ("", "/cats", "/cats".to_owned()),
        ("a.example:8080", "/cats", "https://a.example:8080/cats".to_owned()),
        ("[2001:db8::1]", "/cats", "https://[2001:db8::1]/cats".to_owned()),
        ("-", "/a b", format!("{api}/a%20b")),
        ("-", "/a?b#c", format!("{api}/a%3Fb%23c")),
        ("-", "/\u{e9}\"\\", format!("{api}/%C3%A9%22%5C")),
        ("-", "/a%20b%", format!("{api}/a%20b%")),
        ("-", "/a/../b//c", format!("{api}/a/../b//c")),
        ("-", "cats", format!("{api}/cats")),
        ("-", "", format!("{api}/")),
    ];
    for (host, path, expected) in table {
        let mut event = http_api("$default", path);
        if host != "-" {
            event["headers"]["host"] = host.into();
        }
        event["rawQueryString"] = "".into();
        let seen = seen(http(recorder()), &event).await;
        assert_eq!(seen["uri"], expected, "{host:?} {path:?}");
    }
}

#[tokio::test]
async fn router_finds_the_route_below_any_stage() {
    use axum::extract::{Path, Query};
    use std::collections::HashMap;

    let app = Router::new().route(
        "/{kind}",
        axum::routing::any(
            async |Path(kind): Path<String>, Query(query): Query<HashMap<String, String>>| {
                format!("{kind} {}", query["b"])
            },
        ),
    );
    for event in [http_api("prod", "/prod/cats"), rest_api(), load_balancer(), function_url()] {
        let response = invoke(http(app.clone()), &event).await;
        assert_eq!(response["body"], "cats &");
    }
}

#[tokio::test]
async fn event_of_another_source_fails() {
    let mut base64 = function_url();
    base64["body"] = "?".into();
    let mut header = rest_api();
    header["multiValueHeaders"]["a b"] = json!(["c"]);
    let mut value = load_balancer();
    value["headers"]["a"] = "b\nc".into();
    let mut method = rest_api();
    method["httpMethod"] = "GET /".into();
    let names = || (0..25_000).map(|number| format!("h{number}"));
    let mut single = function_url();
    single["headers"] = names().map(|name| (name, json!(""))).collect();
    let mut several = rest_api();
    several["multiValueHeaders"] = names().map(|name| (name, json!(["", ""]))).collect();
    let table = [
        (json!({}), "event comes from none of"),
        (json!({"Records": []}), "event comes from none of"),
        (json!([1]), "invalid type"),
        (base64, "body is not base64"),
        (header, "name of header \"a b\" is invalid"),
        (value, "value of header a is invalid"),
        (method, "method \"GET /\" is invalid"),
        (single, "headers, of which a request has at most 16384"),
        (several, "headers, of which a request has at most 16384"),
    ];
    for (event, expected) in table {
        let response = invoke(http(recorder()), &event).await;
        assert_eq!(response["errorType"], "Runtime.UnmarshalError", "{event}");
        let message = response["errorMessage"].as_str().unwrap();
        assert!(message.contains(expected), "{message}");
    }
}

#[tokio::test]
async fn headers_and_body_without_escapes_are_parts_of_the_event() {
    let app = Router::new().fallback(async |mut request: Request<Body>| {
        let body = request.body_mut().frame().await.unwrap().unwrap().into_data().unwrap();
        let event = &request.extensions().get::<RequestContext>().unwrap().json;
        let is_part = |bytes: &[u8]| event.as_ptr_range().contains(&bytes.as_ptr());
        let accept = request.headers()["accept"].as_bytes();
        format!("{} {}", is_part(&body), is_part(accept))
    });
    // The body of one has quotes, which are escaped.
    for (event, expected) in [(rest_api(), "true true"), (http_api("$default", "/"), "false true")]
    {
        assert_eq!(invoke(http(app.clone()), &event).await["body"], expected);
    }
}

#[tokio::test]
async fn context_of_the_event_can_be_parsed() {
    #[derive(serde::Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Stage {
        stage: String,
    }
    let app = Router::new().fallback(async |request: Request<Body>| {
        let context = request.extensions().get::<RequestContext>().unwrap();
        let stage = context.request_context::<Stage>().unwrap().stage;
        let event: Value = context.event().unwrap();
        format!("{stage} {}", event["pathParameters"]["proxy"])
    });
    let response = invoke(http(app), &rest_api()).await;
    assert_eq!(response["body"], "prod \"cats\"");
}

async fn seen(function: HttpFunction<Router>, event: &Value) -> Value {
    let response = invoke(function, event).await;
    serde_json::from_str(response["body"].as_str().unwrap()).unwrap()
}

/// Returns a service that responds with what it receives.
fn recorder() -> Router {
    Router::new().fallback(async |request: Request<Body>| {
        let (head, body) = request.into_parts();
        let body = axum::body::to_bytes(body, usize::MAX).await.unwrap();
        let cookies: Vec<_> =
            head.headers.get_all("cookie").iter().map(|cookie| cookie.to_str().unwrap()).collect();
        let context = head.extensions.get::<RequestContext>();
        axum::Json(json!({
            "source": format!("{:?}", context.unwrap().source),
            "method": head.method.as_str(),
            "uri": head.uri.to_string(),
            "cookies": cookies.join("|"),
            "body": String::from_utf8_lossy(&body),
            "traced": head.headers.contains_key("x-amzn-trace-id"),
            "has_context": head.extensions.get::<presized_lambda_runtime::Context>().is_some(),
        }))
    })
}
