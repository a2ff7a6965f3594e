//! The payload of actix-web 4, and the body of hyper 0.14, each over a socket.

use actix_web::http::StatusCode;
use actix_web::{App, HttpRequest, HttpResponse, HttpServer, rt, web};
use hyper_014::body::HttpBody;
use hyper_014::{Body, Client, Method, Request, Response};
use presized::{Collect, CollectError, ContentLength};

const LIMIT: u64 = 100_000;

/// Sends the content of a request back, or the error and its status.
async fn echo(request: HttpRequest, payload: web::Payload) -> HttpResponse {
    let length = request
        .headers()
        .get("content-length")
        .and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
    match Collect::from_stream(payload, LIMIT).content_length(length).await {
        Ok(content) => HttpResponse::Ok().body(content),
        Err(error) => {
            let status = StatusCode::from_u16(error.status().as_u16()).unwrap();
            HttpResponse::build(status).body(error.to_string())
        }
    }
}

/// Sends one request to a server of actix-web through a client of hyper 0.14.
async fn respond(body: Body) -> Response<Body> {
    let server = HttpServer::new(|| App::new().route("/", web::post().to(echo)))
        .workers(1)
        .disable_signals()
        .bind(("127.0.0.1", 0))
        .unwrap();
    let url = format!("http://{}/", server.addrs()[0]);
    let server = server.run();
    let handle = server.handle();
    rt::spawn(server);
    let request = Request::builder().method(Method::POST).uri(url).body(body).unwrap();
    let response = Client::new().request(request).await.unwrap();
    rt::spawn(handle.stop(true));
    response
}

/// The lines of the documentation.
fn collect(body: Body) -> Collect<presized::StreamBody<Body>> {
    let length = HttpBody::size_hint(&body).exact();
    Collect::from_stream(body, LIMIT).content_length(length)
}

fn chunked(content: &'static [u8]) -> Body {
    let frames = content.chunks(1000).map(Ok::<_, std::io::Error>);
    Body::wrap_stream(futures_util::stream::iter(frames))
}

#[test]
fn content_is_read_by_both_with_and_without_a_declared_length() {
    rt::System::new().block_on(async {
        static CONTENT: [u8; 70_000] = [7; 70_000];
        for body in [Body::from(&CONTENT[..]), chunked(&CONTENT)] {
            let response = respond(body).await;
            assert_eq!(response.status(), 200);
            let read = collect(response.into_body()).collected().await.unwrap();
            assert_eq!(read.content, CONTENT[..]);
            assert_eq!(read.stats.content_length, ContentLength::Exact(70_000));
        }
        let read = collect(chunked(&CONTENT)).collected().await.unwrap();
        assert_eq!(read.content, CONTENT[..]);
        assert_eq!(read.stats.content_length, ContentLength::Unknown);
    });
}

#[test]
fn content_over_the_limit_is_refused_by_both() {
    rt::System::new().block_on(async {
        static CONTENT: [u8; 100_001] = [7; 100_001];
        for body in [Body::from(&CONTENT[..]), chunked(&CONTENT)] {
            let response = respond(body).await;
            assert_eq!(response.status(), 413);
            let message = collect(response.into_body()).text().await.unwrap();
            assert!(message.contains("over the limit of 100000 bytes"), "{message}");
        }
        let error = collect(Body::from(&CONTENT[..])).await.unwrap_err();
        assert!(matches!(error, CollectError::DeclaredTooLarge { .. }), "{error}");
        let error = collect(chunked(&CONTENT)).await.unwrap_err();
        assert!(matches!(error, CollectError::TooLarge { .. }), "{error}");
    });
}
