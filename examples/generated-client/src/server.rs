//! A server with as much of the two services as the example calls.

use std::convert::Infallible;
use std::io;
use std::net::Ipv4Addr;

use bytes::Bytes;
use http::{HeaderValue, Request, Response, StatusCode};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;

/// Serves on a free port of the loopback address until the runtime ends. Returns the endpoint.
pub async fn start() -> io::Result<String> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    let endpoint = format!("http://{}", listener.local_addr()?);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let connection =
                http1::Builder::new().serve_connection(TokioIo::new(stream), service_fn(respond));
            tokio::spawn(connection);
        }
    });
    Ok(endpoint)
}

async fn respond(request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    let (path, query) = (request.uri().path(), request.uri().query());
    let (status, error_type, content) = match (path, query) {
        ("/reports", Some("policy")) => (StatusCode::OK, None, POLICY),
        (JAVA, None | Some("schemaVersion=1")) => (StatusCode::OK, None, &ARCHIVE[..]),
        _ if path.starts_with("/v1/") => {
            (StatusCode::NOT_FOUND, Some("NotFoundException"), NO_BINDING)
        }
        _ => (StatusCode::NOT_FOUND, None, NO_POLICY),
    };
    let mut response = Response::new(Full::new(Bytes::from_static(content)));
    *response.status_mut() = status;
    if let Some(name) = error_type {
        response.headers_mut().insert("x-amzn-errortype", HeaderValue::from_static(name));
    }
    Ok(response)
}

const JAVA: &str =
    "/v1/registries/name/aws.events/schemas/name/aws.ec2%40StateChange/language/Java8/source";

const POLICY: &[u8] = br#"{"Version":"2012-10-17","Statement":[]}"#;
static ARCHIVE: [u8; 6 << 20] = [0; 6 << 20];

const NO_POLICY: &[u8] = b"<Error><Code>NoSuchBucketPolicy</Code>\
    <Message>The bucket policy does not exist</Message></Error>";
const NO_BINDING: &[u8] = br#"{"Code":"NotFound","Message":"no binding in that language"}"#;
