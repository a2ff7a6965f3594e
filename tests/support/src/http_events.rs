//! An event of each source of HTTP requests, with two values of everything that can have two.

use serde_json::{Value, json};

/// An event of an HTTP API.
pub fn http_api(stage: &str, path: &str) -> Value {
    json!({
        "version": "2.0",
        "routeKey": "$default",
        "rawPath": path,
        "rawQueryString": "a=1&a=2%20x&b=%26",
        "cookies": ["c=1", "d=2"],
        "headers": {
            "accept": "text/html,*/*",
            "host": "abc123.execute-api.eu-central-1.amazonaws.com",
            "x-forwarded-for": "192.0.2.1, 192.0.2.2",
            "x-forwarded-proto": "https",
        },
        "queryStringParameters": { "a": "1,2 x", "b": "&" },
        "pathParameters": { "proxy": "cats" },
        "requestContext": {
            "accountId": "123456789012",
            "apiId": "abc123",
            "domainName": "abc123.execute-api.eu-central-1.amazonaws.com",
            "domainPrefix": "abc123",
            "http": {
                "method": "POST",
                "path": path,
                "protocol": "HTTP/1.1",
                "sourceIp": "192.0.2.1",
                "userAgent": "curl/8.14.1",
            },
            "requestId": "JKJaXmPLvHcESHA=",
            "routeKey": "$default",
            "stage": stage,
            "time": "12/Mar/2026:19:03:58 +0000",
            "timeEpoch": 1_773_342_238_390_u64,
        },
        "body": "{\"name\":\"Tom\"}",
        "isBase64Encoded": false,
    })
}

/// An event of a function URL.
pub fn function_url() -> Value {
    let mut event = http_api("$default", "/cats");
    let host = "xyz789.lambda-url.eu-central-1.on.aws";
    event["headers"]["host"] = host.into();
    let context = &mut event["requestContext"];
    context["domainName"] = host.into();
    context["domainPrefix"] = "xyz789".into();
    context["apiId"] = "xyz789".into();
    context["http"]["method"] = "PUT".into();
    event["body"] = "AP+A".into();
    event["isBase64Encoded"] = true.into();
    event
}

/// An event of a REST API.
pub fn rest_api() -> Value {
    json!({
        "resource": "/{proxy+}",
        "path": "/cats",
        "httpMethod": "POST",
        "headers": {
            "Accept": "*/*",
            "Cookie": "d=2",
            "Host": "abc123.execute-api.eu-central-1.amazonaws.com",
            "X-Forwarded-Proto": "https",
        },
        "multiValueHeaders": {
            "Accept": ["*/*"],
            "Cookie": ["c=1", "d=2"],
            "Host": ["abc123.execute-api.eu-central-1.amazonaws.com"],
            "X-Forwarded-Proto": ["https"],
        },
        "queryStringParameters": { "a": "2 x", "b": "&" },
        "multiValueQueryStringParameters": { "a": ["1", "2 x"], "b": ["&"] },
        "pathParameters": { "proxy": "cats" },
        "stageVariables": null,
        "requestContext": {
            "accountId": "123456789012",
            "apiId": "abc123",
            "domainName": "abc123.execute-api.eu-central-1.amazonaws.com",
            "domainPrefix": "abc123",
            "extendedRequestId": "JKJaXmPLvHcESHA=",
            "httpMethod": "POST",
            "identity": { "sourceIp": "192.0.2.1", "userAgent": "curl/8.14.1", "user": null },
            "path": "/prod/cats",
            "protocol": "HTTP/1.1",
            "requestId": "deef4878-7910-11e6-8f14-25afc3e9ae33",
            "requestTimeEpoch": 1_773_342_238_390_u64,
            "resourceId": "roq9wj",
            "resourcePath": "/{proxy+}",
            "stage": "prod",
        },
        "body": "plain",
        "isBase64Encoded": false,
    })
}

/// An event of a WebSocket API.
pub fn web_socket() -> Value {
    json!({
        "requestContext": {
            "routeKey": "$default",
            "messageId": "JKJaXmPLvHcESHA=",
            "eventType": "MESSAGE",
            "extendedRequestId": "JKJaXmPLvHcESHA=",
            "requestTime": "12/Mar/2026:19:03:58 +0000",
            "messageDirection": "IN",
            "stage": "prod",
            "connectedAt": 1_773_342_238_000_u64,
            "requestTimeEpoch": 1_773_342_238_390_u64,
            "identity": { "sourceIp": "192.0.2.1" },
            "requestId": "JKJaXmPLvHcESHA=",
            "domainName": "abc123.execute-api.eu-central-1.amazonaws.com",
            "connectionId": "JKJaWfXdvHcCIpA=",
            "apiId": "abc123",
        },
        "body": "hello",
        "isBase64Encoded": false,
    })
}

/// An event of a load balancer, whose target group has one value for each header.
pub fn load_balancer() -> Value {
    json!({
        "requestContext": { "elb": { "targetGroupArn": "arn:aws:elasticloadbalancing:eu-central-1:123456789012:targetgroup/cats/49e9d65c45c6791a" } },
        "httpMethod": "GET",
        "path": "/cats",
        "queryStringParameters": { "a": "2%20x", "b": "%26" },
        "headers": {
            "cookie": "c=1; d=2",
            "host": "cats-1.eu-central-1.elb.amazonaws.com",
            "x-forwarded-proto": "http",
        },
        "body": "",
        "isBase64Encoded": false,
    })
}

/// An event of a load balancer, whose target group has several values for each header.
pub fn load_balancer_multi_value() -> Value {
    let mut event = load_balancer();
    let members = event.as_object_mut().unwrap();
    members.remove("queryStringParameters");
    members.remove("headers");
    event["multiValueQueryStringParameters"] = json!({ "a": ["1", "2%20x"], "b": ["%26"] });
    event["multiValueHeaders"] = json!({
        "accept": ["text/html", "*/*"],
        "cookie": ["c=1; d=2"],
        "host": ["cats-1.eu-central-1.elb.amazonaws.com"],
        "x-forwarded-proto": ["http"],
    });
    event
}
