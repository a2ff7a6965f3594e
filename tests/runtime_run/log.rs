//! What is logged of an invocation, and what is not.

use std::io;
use std::sync::{Arc, Mutex};

use presized::lambda::runtime::{Context, ErrorReport, json};
use presized_support::scripted::Reply;
use tracing::Level;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::fmt::format::FmtSpan;

use super::{Api, event};

/// What is logged, at the level that tells most.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Log {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

#[tokio::test]
async fn spans_have_lengths_and_no_payload_is_logged() {
    let log = Log::default();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(Level::TRACE)
        .with_span_events(FmtSpan::CLOSE)
        .with_writer(log.clone())
        .with_ansi(false)
        .finish();
    // Of this thread, and everything here runs on it.
    let guard = tracing::subscriber::set_default(subscriber);

    let headers = [
        ("Lambda-Runtime-Aws-Request-Id", "id-1"),
        ("Lambda-Runtime-Invoked-Function-Arn", "arn:aws:lambda:eu-north-1:1:function:f"),
    ];
    let api = Api::new([
        Reply::response("200 OK", &headers, r#""p4yl04d""#),
        // Of these the message of the error quotes the event.
        event("id-2", r#"{"p4yl04d":1}"#),
        event("id-3", r#""fail""#),
    ]);
    let function = json(async |event: String, _: Context| match &*event {
        "fail" => Err(ErrorReport::new("Failed", "p4yl04d")),
        _ => Ok(event),
    });
    api.serve(function).await;
    drop(guard);

    let log = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    let expected = "lambda.invocation{request_id=\"id-1\" \
         function_arn=\"arn:aws:lambda:eu-north-1:1:function:f\" event_bytes=9 answer_bytes=9}";
    assert!(log.contains(expected), "{log}");
    assert!(log.contains(r#"error_type="Runtime.UnmarshalError""#), "{log}");
    assert!(log.contains(r#"error_type="Failed""#), "{log}");
    assert!(!log.contains("p4yl04d"), "{log}");
}
