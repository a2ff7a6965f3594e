//! Streamed responses of the Invoke API, from servers that send scripted bytes.

mod collect;
mod idle;

use std::time::Duration;

use aws_credential_types::Credentials;
use futures_util::StreamExt;
use presized_lambda_invoke::{Client, ClientBuilder, Error, ErrorKind, Outcome, ResponseStream};
use presized_support::eventstream::{
    CHUNK, DONE_ERR, DONE_OK, EXCEPTION, complete, prelude, unhex,
};
use presized_support::ledger::{Ledger, Mark};
use presized_support::scripted::{Reply, Scripted};

#[global_allocator]
static LEDGER: Ledger = Ledger;

const HEAD: &str = "HTTP/1.1 200 OK\r\n\
    Content-Type: application/vnd.amazon.eventstream\r\n\
    Transfer-Encoding: chunked\r\n\
    x-amzn-RequestId: r-1\r\n\
    X-Amz-Executed-Version: 7\r\n\r\n";

/// Makes a response without its end. Each piece is an HTTP chunk.
fn begun<T: AsRef<[u8]>>(pieces: impl IntoIterator<Item = T>) -> Vec<u8> {
    let mut response = HEAD.as_bytes().to_vec();
    for piece in pieces {
        let piece = piece.as_ref();
        response.extend_from_slice(format!("{:x}\r\n", piece.len()).as_bytes());
        response.extend_from_slice(piece);
        response.extend_from_slice(b"\r\n");
    }
    response
}

/// Makes a complete response of these pieces.
fn whole<T: AsRef<[u8]>>(pieces: impl IntoIterator<Item = T>) -> Reply {
    let mut response = begun(pieces);
    response.extend_from_slice(b"0\r\n\r\n");
    Reply::Keep(response.into())
}

fn builder(server: &Scripted) -> ClientBuilder {
    Client::builder()
        .region("us-east-1")
        .endpoint(server.url())
        .credentials(Credentials::new("AKIDEXAMPLE", "not-a-real-secret", None, None, "test"))
        .backoff(Duration::from_millis(1), Duration::from_millis(2))
        // A test that hangs fails. No test waits for it.
        .timeout(Duration::from_secs(20))
}

fn client(server: &Scripted) -> Client {
    builder(server).build().unwrap()
}

/// Returns the joined chunks and the error at the end.
async fn read(stream: &mut ResponseStream) -> (Vec<u8>, Option<Error>) {
    let mut payload = Vec::new();
    while let Some(next) = stream.next().await {
        match next {
            Ok(chunk) => payload.extend_from_slice(&chunk),
            Err(error) => return (payload, Some(error)),
        }
    }
    (payload, None)
}

#[tokio::test]
async fn stream_ends_with_the_result_of_the_function_and_frees_the_connection() {
    let last = [unhex(DONE_OK), unhex(DONE_ERR), unhex(EXCEPTION)];
    let replies = last.map(|last| whole([unhex(CHUNK), last]));
    let server = Scripted::in_turn(replies);
    let client = client(&server);

    let mut stream = client.invoke_streaming("f").qualifier("live").send().await.unwrap();
    assert_eq!(stream.status(), 200);
    assert_eq!(stream.request_id(), Some("r-1"));
    assert_eq!(stream.executed_version(), Some("7"));
    assert_eq!(stream.attempts(), 1);
    assert!(stream.completion().is_none());
    let (payload, error) = read(&mut stream).await;
    assert_eq!((&payload[..], error.is_none()), (&b"abc"[..], true));
    assert_eq!(stream.completion().unwrap().log_tail, None);

    let mut stream = client.invoke_streaming("f").send().await.unwrap();
    let (payload, error) = read(&mut stream).await;
    assert_eq!(payload, b"abc");
    let error = error.unwrap();
    assert!(error.may_have_run());
    assert_eq!((error.attempts(), error.request_id()), (1, Some("r-1")));
    let ErrorKind::Function(error) = error.kind() else { panic!("{error}") };
    assert_eq!((error.code.as_str(), error.details.as_deref()), ("Runtime.Broken", Some("x")));
    assert!(stream.completion().is_none());

    let mut stream = client.invoke_streaming("f").send().await.unwrap();
    let (payload, error) = read(&mut stream).await;
    assert_eq!(payload, b"abc");
    let error = error.unwrap();
    let error = error.as_service_error().unwrap();
    assert_eq!(error.code.as_deref(), Some("ServiceException"));
    assert_eq!(error.message.as_deref(), Some("x"));

    let requests = server.requests();
    let path = "/2021-11-15/functions/f/response-streaming-invocations";
    assert_eq!(requests[0].target(), format!("{path}?Qualifier=live"));
    assert_eq!(requests[1].target(), path);
    let connections: Vec<_> = requests.iter().map(|request| request.connection).collect();
    assert_eq!(connections, [0, 0, 0]);
}

#[tokio::test]
async fn connection_of_an_unfinished_stream_is_not_used_again() {
    let open = || Reply::Hang(begun([unhex(CHUNK)]).into());
    let server = Scripted::in_turn([open(), whole([unhex(CHUNK), unhex(DONE_OK)])]);
    let client = client(&server);
    let mut stream = client.invoke_streaming("f").send().await.unwrap();
    assert_eq!(stream.next().await.unwrap().unwrap(), "abc");
    drop(stream);
    let collected = client.invoke_streaming("f").send().await.unwrap().collect(3).await.unwrap();
    assert_eq!(collected.payload, "abc");
    assert_eq!(server.requests()[1].connection, 1);
}

#[tokio::test]
async fn stream_that_breaks_off_is_an_error_and_is_not_retried() {
    for (reply, cut) in [
        (Reply::Close(begun([unhex(CHUNK)]).into()), "the connection is closed"),
        (Reply::Reset(begun([unhex(CHUNK)]).into()), "the connection is reset"),
        (whole([unhex(CHUNK)]), "the body ends"),
        (whole([unhex(CHUNK), unhex(DONE_OK)[..30].to_vec()]), "a frame is cut"),
        (whole([unhex(CHUNK), b"<html></html>".to_vec()]), "the data is not a frame"),
    ] {
        let server = Scripted::in_turn([reply]);
        let mut stream = client(&server).invoke_streaming("f").send().await.unwrap();
        let (payload, error) = read(&mut stream).await;
        assert_eq!(payload, b"abc", "{cut}");
        let error = error.expect(cut);
        assert!(matches!(error.kind(), ErrorKind::Broken(_)), "{cut}: {error}");
        assert!(error.may_have_run(), "{cut}");
        assert!(stream.next().await.is_none(), "{cut}");
        assert_eq!(server.requests().len(), 1, "{cut}");
    }
}

#[tokio::test]
async fn call_deadline_bounds_the_stream() {
    let server = Scripted::in_turn([Reply::Hang(begun([unhex(CHUNK)]).into())]);
    let call = client(&server).invoke_streaming("f").timeout(Duration::from_millis(200));
    let mut stream = call.send().await.unwrap();
    let (payload, error) = read(&mut stream).await;
    assert_eq!(payload, b"abc");
    let error = error.unwrap();
    let ErrorKind::Timeout { after, .. } = error.kind() else { panic!("{error}") };
    assert!(*after >= Duration::from_millis(200), "{after:?}");
    assert!(error.may_have_run());
}

#[tokio::test]
async fn service_error_before_the_stream_is_an_error_of_the_call() {
    let headers = [("x-amzn-ErrorType", "ResourceNotFoundException")];
    let server = Scripted::in_turn([Reply::response("404 Not Found", &headers, "{}")]);
    let error = client(&server).invoke_streaming("f").send().await.unwrap_err();
    assert_eq!(
        error.as_service_error().unwrap().code.as_deref(),
        Some("ResourceNotFoundException")
    );
    assert!(!error.may_have_run());
}

#[tokio::test]
async fn call_is_reported_at_the_end_of_its_stream() {
    let server = Scripted::in_turn([whole([unhex(CHUNK), unhex(DONE_ERR)])]);
    let (reports, told) = std::sync::mpsc::channel();
    let client = builder(&server)
        .on_call(move |report| {
            let _ = reports.send((report.outcome, report.response_bytes));
        })
        .build()
        .unwrap();
    let mut stream = client.invoke_streaming("f").send().await.unwrap();
    assert!(told.try_recv().is_err());
    let _ = read(&mut stream).await;
    assert_eq!(told.try_recv(), Ok((Outcome::FunctionError, 3)));
    drop(stream);
    assert!(told.try_recv().is_err());
}

#[tokio::test]
async fn log_tail_of_a_failed_function_is_kept_and_not_shown() {
    // "secret"
    let failed = complete(r#"{"ErrorCode":"E","LogResult":"c2VjcmV0"}"#);
    let server = Scripted::in_turn([whole([failed])]);
    let stream = client(&server).invoke_streaming("f").tail_log().send().await.unwrap();
    let error = stream.collect(1 << 20).await.unwrap_err();
    for shown in [format!("{error:?}"), error.to_string()] {
        assert!(!shown.contains("secret"), "{shown}");
    }
    let ErrorKind::Function(failed) = error.into_kind() else { panic!("the function failed") };
    assert_eq!(failed.log_tail.as_deref(), Some(&b"secret"[..]));
}

#[tokio::test]
async fn error_report_in_the_details_is_displayed() {
    let report = r#"{\"errorType\":\"Half\",\"errorMessage\":\"it broke\",\"stackTrace\":[]}"#;
    let table = [
        (report, "Function.Half: it broke", Some("Half"), Some("it broke")),
        ("no report", "Function.Half: no report", None, None),
    ];
    for (details, shown, error_type, message) in table {
        let json = format!(r#"{{"ErrorCode":"Function.Half","ErrorDetails":"{details}"}}"#);
        let server = Scripted::in_turn([whole([complete(&json)])]);
        let stream = client(&server).invoke_streaming("f").send().await.unwrap();
        let error = stream.collect(1 << 20).await.unwrap_err();
        assert_eq!(error.to_string(), format!("function failed while streaming: {shown}"));
        let ErrorKind::Function(failed) = error.into_kind() else { panic!("the function failed") };
        assert_eq!(failed.error_type().as_deref(), error_type);
        assert_eq!(failed.error_message().as_deref(), message);
    }
}

#[tokio::test]
async fn declared_length_of_a_frame_reserves_little_memory() {
    const DECLARED: u32 = 20 << 20;
    let declared = prelude(DECLARED, 0);
    for piece in [&declared[..], &[&declared[..], b"x"].concat()] {
        let server = Scripted::in_turn([Reply::Close(begun([piece]).into())]);
        let mut stream = client(&server).invoke_streaming("f").send().await.unwrap();
        // No other test of this binary counts.
        Ledger::count_this_thread(true);
        let mark = Mark::now();
        let (_, error) = read(&mut stream).await;
        let spent = mark.spent();
        Ledger::count_this_thread(false);
        assert!(matches!(error.unwrap().kind(), ErrorKind::Broken(_)));
        assert!(spent.bytes < 2 << 20, "{spent:?}");
    }
}

#[tokio::test]
async fn response_that_is_no_event_stream_is_named_by_its_content_type() {
    for (body, cause) in [
        (r#"{"answer":42,"of":"a server"}"#, "event stream prelude has a wrong checksum"),
        ("{}", "event stream ended within a frame"),
        ("", "event stream ended without an InvokeComplete event"),
    ] {
        let headers = [("Content-Type", "application/json")];
        let server = Scripted::in_turn([Reply::response("200 OK", &headers, body)]);
        let mut stream = client(&server).invoke_streaming("f").send().await.unwrap();
        let (payload, error) = read(&mut stream).await;
        let error = error.expect("no stream");
        let ErrorKind::Broken(source) = error.kind() else { panic!("{error:?}") };
        assert_eq!(
            source.to_string(),
            "response has the content type \"application/json\" and is not an event stream: the \
             server may not support streamed responses"
        );
        assert_eq!(source.source().expect("the cause").to_string(), cause);
        assert!(payload.is_empty() && error.may_have_run());
    }
}
