//! The differences that the documentation lists. Each test fails if a difference is gone.

use super::*;

#[tokio::test]
async fn several_values_of_a_header_of_a_rest_api_are_kept() {
    let [peer, ours] = both(recorder(), &rest_api()).await;
    assert_eq!(ours.body_json()["headers"]["cookie"], json!(["c=1", "d=2"]));
    assert_eq!(peer.body_json()["headers"]["cookie"], json!(["d=2"]));
}

#[tokio::test]
async fn path_is_not_normalised_and_stays_a_path() {
    // The path of the event, and those of presized and of `lambda_http`.
    let table = [
        ("/a/../b", "/a/../b", "/b"),
        ("/a?b", "/a%3Fb", "/a"),
        ("/a#b", "/a%23b", "/a"),
        ("/a\\b", "/a%5Cb", "/a/b"),
    ];
    for (path, expected, of_peer) in table {
        let event = http_api("$default", path);
        let paths = both(recorder(), &event).await.map(|outcome| {
            let uri: axum::http::Uri =
                outcome.body_json()["uri"].as_str().unwrap().parse().unwrap();
            uri.path().to_owned()
        });
        assert_eq!(paths, [of_peer, expected], "{path}");
    }
}

#[tokio::test]
async fn host_of_a_client_cannot_begin_a_path() {
    let mut event = http_api("$default", "/cats");
    event["headers"]["host"] = "a.example/admin?".into();
    let [peer, ours] = both(recorder(), &event).await;
    assert_eq!(ours.body_json()["uri"], "/cats");
    assert_eq!(peer.body_json()["uri"], "https://a.example/admin");
}

#[tokio::test]
async fn host_is_found_among_headers_of_several_values() {
    let [peer, ours] = both(recorder(), &load_balancer_multi_value()).await;
    assert_eq!(ours.body_json()["uri"], "http://cats-1.eu-central-1.elb.amazonaws.com/cats");
    assert_eq!(peer.body_json()["uri"], "/cats");
}

#[tokio::test]
async fn several_values_of_a_response_header_are_joined() {
    let app = Router::new()
        .fallback(async || (AppendHeaders([("vary", "accept"), ("vary", "origin")]), "page"));
    let [peer, ours] = both(app, &http_api("$default", "/")).await;
    assert_eq!(ours.headers["vary"], ["accept, origin"]);
    assert_eq!(peer.headers["vary"], ["accept"]);
}

#[tokio::test]
async fn text_that_is_not_utf8_keeps_its_bytes() {
    // The content type, and the body of `lambda_http`.
    let table = [("text/plain; charset=iso-8859-1", "\u{e9}"), ("text/plain", "\u{fffd}")];
    for (content_type, of_peer) in table {
        let app =
            Router::new().fallback(async move || ([(CONTENT_TYPE, content_type)], &b"\xe9"[..]));
        let [peer, ours] = both(app, &rest_api()).await;
        assert_eq!(ours.body, b"\xe9");
        assert_eq!(peer.body, of_peer.as_bytes());
    }
}

#[tokio::test]
async fn header_that_marks_text_is_not_read() {
    let app = Router::new().fallback(async || {
        ([("content-type", "a/b"), ("x-lambda-http-content-encoding", "text")], "page")
    });
    let [peer, ours] =
        [of_lambda_http(app.clone(), &rest_api()).await, of_presized(app, &rest_api()).await];
    assert_eq!((&peer["body"], &ours["body"]), (&json!("page"), &json!("cGFnZQ==")));
}

#[tokio::test]
async fn load_balancer_gets_the_headers_of_its_mode_only() {
    let app = Router::new().fallback(async || "page");
    for (event, other) in
        [(load_balancer(), "multiValueHeaders"), (load_balancer_multi_value(), "headers")]
    {
        let peer = of_lambda_http(app.clone(), &event).await;
        let ours = of_presized(app.clone(), &event).await;
        assert_eq!((peer[other].is_object(), &ours[other]), (true, &Value::Null));
        assert_eq!(Outcome::of(&ours, &event), Outcome::of(&peer, &event));
    }
}

#[tokio::test]
async fn invalid_event_and_broken_body_are_errors_and_no_panics() {
    let mut base64 = function_url();
    base64["body"] = "?".into();
    let mut host = http_api("$default", "/cats");
    host["headers"]["host"] = "[".into();
    let broken = Router::new().fallback(async || {
        Body::from_stream(futures_util::stream::iter([Err::<Bytes, _>(std::io::Error::other(
            "gone",
        ))]))
    });
    let table = [
        (recorder(), base64, Some("Runtime.UnmarshalError")),
        (recorder(), host, None),
        (broken, rest_api(), Some("Function.ResponseBodyFailed")),
    ];
    for (app, event, error_type) in table {
        let ours = of_presized(app.clone(), &event).await;
        assert_eq!(ours["errorType"].as_str(), error_type, "{event}");
        let peer = tokio::spawn(async move { of_lambda_http(app, &event).await });
        assert!(peer.await.unwrap_err().is_panic());
    }
}

#[tokio::test]
async fn events_of_vpc_lattice_are_not_supported() {
    let event = json!({
        "version": "2.0",
        "path": "/cats",
        "method": "GET",
        "headers": { "host": ["cats.example"] },
        "queryStringParameters": {},
        "requestContext": {
            "serviceNetworkArn": "arn:aws:vpc-lattice:eu-central-1:123456789012:servicenetwork/sn-1",
            "serviceArn": "arn:aws:vpc-lattice:eu-central-1:123456789012:service/svc-1",
            "targetGroupArn": "arn:aws:vpc-lattice:eu-central-1:123456789012:targetgroup/tg-1",
            "identity": {},
            "region": "eu-central-1",
            "timeEpoch": "1773342238390000",
        },
    });
    let ours = of_presized(recorder(), &event).await;
    assert_eq!(ours["errorType"], "Runtime.UnmarshalError");
    assert_eq!(of_lambda_http(recorder(), &event).await["statusCode"], 200);
}
