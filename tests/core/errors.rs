//! `CollectError`: the received bytes, the messages, the causes and the conversions.

use std::error::Error;
use std::io::{self, ErrorKind};

use bytes::Bytes;
use http::StatusCode;
use http_body::Body;
use http_body_util::BodyExt;
use presized::{BodyError, Collect, CollectError, Limited, MemoryBudget, Mismatch, Reader};
use presized_support::drive::drive;
use presized_support::mock::{Mock, MockError, Step};

use crate::bodies::reset_after;

#[tokio::test]
async fn failed_read_keeps_received_bytes() {
    let error =
        Collect::new(reset_after("abcde"), 10).content_length(Some(10)).bytes().await.unwrap_err();
    assert!(
        matches!(
            error,
            CollectError::Body { source: MockError("reset"), declared: Some(10), received: 5, .. }
        ),
        "{error}"
    );
    assert_eq!(error.received(), 5);
    assert_eq!(error.source().unwrap().to_string(), "reset");
    assert_eq!(error.into_partial(), "abcde");
}

#[tokio::test]
async fn failed_read_of_unknown_length_keeps_received_bytes() {
    let frames = (0..100).map(|i| Step::Data(Bytes::from(vec![i; 10_000])));
    let body = Mock::new(frames.chain([Step::Fail("reset")]));
    let partial = Collect::new(body, u64::MAX).vec().await.unwrap_err().into_partial();
    assert_eq!(partial.len(), 1_000_000);
    assert!((0..100).all(|i| partial[i * 10_000..][..10_000].iter().all(|&b| b == i as u8)));
}

#[tokio::test]
async fn error_messages_state_the_numbers() {
    let read = |body: Mock, reader: Reader| Collect::new(body, reader).content_length(Some(10));
    let message = |error: CollectError<MockError>| error.to_string();
    assert_eq!(
        message(read(Mock::default(), 9.into()).bytes().await.unwrap_err()),
        "body declares 10 bytes, over the limit of 9 bytes"
    );
    assert_eq!(
        message(read(Mock::of(["12345"]), 10.into()).bytes().await.unwrap_err()),
        "body ended early: 5 of 10 declared bytes received"
    );
    assert_eq!(
        message(read(reset_after("12345"), 10.into()).bytes().await.unwrap_err()),
        "body failed: 5 of 10 declared bytes received"
    );
    assert_eq!(
        message(Collect::new(reset_after("12345"), 10).bytes().await.unwrap_err()),
        "body failed: 5 bytes received"
    );
    assert_eq!(
        message(Collect::new(Mock::of(["12345", "6"]), 5).bytes().await.unwrap_err()),
        "body is over the limit of 5 bytes: 6 bytes received"
    );
    let longer = read(Mock::of(["123456789", "01"]), Reader::new(99).mismatch(Mismatch::Reject));
    assert_eq!(
        message(longer.bytes().await.unwrap_err()),
        "body is longer than declared: 11 bytes received, 10 declared"
    );
}

#[tokio::test]
async fn debug_output_shows_no_content() {
    let error = Collect::new(reset_after("secret"), 10).bytes().await.unwrap_err();
    let debug = format!("{error:?}");
    assert!(debug.contains("Partial(6 bytes)") && !debug.contains("secret"), "{debug}");
    let collected = Collect::new(Mock::of(["secret"]), 10).collected().await.unwrap();
    let prefix = Collect::new(Mock::of(["secret"]), 10).prefix().await.unwrap();
    for debug in [format!("{collected:?}"), format!("{prefix:?}")] {
        assert!(debug.contains("6 bytes") && !debug.contains("secret"), "{debug}");
    }
}

#[tokio::test]
async fn boxed_body_error_becomes_a_source_by_map_body() {
    type BoxError = Box<dyn Error + Send + Sync>;
    let body = reset_after("abcde").map_err(|error| -> BoxError { error.into() });
    let error = Collect::new(body, 10).bytes().await.unwrap_err();
    let error = error.map_body(io::Error::other);
    assert_eq!(error.source().unwrap().to_string(), "reset");
    assert_eq!(error.into_partial(), "abcde");
}

#[test]
fn status_is_413_for_a_limit_503_for_memory_and_400_otherwise() {
    let budget = MemoryBudget::new(4);
    let with_budget = Reader::new(4).budget(&budget);
    let table = [
        (Collect::new(Mock::of(["hello"]), 4).content_length(5), 413, "DeclaredTooLarge"),
        (Collect::new(Mock::of(["hello"]), 4), 413, "TooLarge"),
        (Collect::new(Mock::of(["hello"]), 9).content_length(9), 400, "Incomplete"),
        (
            Collect::new(Mock::of(["hello"]), Reader::new(9).mismatch(Mismatch::Reject))
                .content_length(4),
            400,
            "Longer",
        ),
        (
            Collect::new(Mock::of(["hello"]), Reader::new(u64::MAX).eager(u64::MAX))
                .content_length(u64::MAX),
            503,
            "OutOfMemory",
        ),
        (Collect::new(Mock::of(["hello"]), with_budget.limit(5)), 503, "Budget"),
        (Collect::new(Mock::of(vec![""; 20_000]), 4), 400, "Stalled"),
        (Collect::new(Mock::of([b"\xff"]), 4), 400, "InvalidUtf8"),
        (Collect::new(reset_after("hello"), 9), 400, "Body"),
    ];
    for (collect, status, variant) in table {
        let error = drive(collect.text()).unwrap_err();
        assert!(format!("{error:?}").starts_with(variant), "{error:?}");
        assert_eq!(error.status().as_u16(), status, "{error:?}");
        assert_eq!(error.is_too_large(), status == 413, "{error:?}");
    }
    let error = CollectError::<MockError>::out_of_memory(9, 5);
    assert_eq!((error.status().as_u16(), error.received()), (503, 5));
}

/// A reader below another one refuses the body: in a layer or in a decoder.
#[test]
fn refusal_by_a_reader_below_keeps_its_status_and_kind() {
    let too_large = || Limited::new(Mock::of(["hello"]), 4);
    let no_memory = || Reader::new(5).budget(&MemoryBudget::new(4)).collect(Mock::of(["hello"]));
    let failed = || Limited::new(reset_after("hello"), 9);
    let of = |below: &dyn Fn(Which) -> (StatusCode, ErrorKind)| {
        [Which::TooLarge, Which::NoMemory, Which::Failed].map(below)
    };
    let expected = [
        (StatusCode::PAYLOAD_TOO_LARGE, ErrorKind::FileTooLarge),
        (StatusCode::SERVICE_UNAVAILABLE, ErrorKind::OutOfMemory),
        (StatusCode::BAD_REQUEST, ErrorKind::Other),
    ];
    /// Reads a body whose error is wrapped in one more layer.
    fn read<B: Body<Error = CollectError<MockError>>, E: Error + Send + Sync + 'static>(
        body: B,
        wrap: fn(CollectError<MockError>) -> E,
    ) -> (StatusCode, ErrorKind) {
        let error = drive(Collect::new(body.map_err(wrap), 99).bytes()).unwrap_err();
        assert!(!error.is_too_large(), "this reader has accepted the body");
        (error.status(), io::Error::from(error).kind())
    }
    macro_rules! check {
        ($wrap:expr) => {
            let found = of(&|which| match which {
                Which::TooLarge => read(too_large(), $wrap),
                Which::NoMemory => read(no_memory().into_presized(), $wrap),
                Which::Failed => read(failed(), $wrap),
            });
            assert_eq!(found, expected, "{}", stringify!($wrap));
        };
    }
    check!(|error| error);
    check!(CollectError::boxed);
    check!(BodyError::new);
    check!(io::Error::from);
    check!(|error| io::Error::other(io::Error::from(error)));
}

enum Which {
    TooLarge,
    NoMemory,
    Failed,
}

#[cfg(feature = "json")]
#[test]
fn status_of_invalid_json_is_400_and_its_kind_is_invalid_data() {
    let error = drive(Collect::new(Mock::of(["[1"]), 9).json::<Vec<u8>>()).unwrap_err();
    assert_eq!((error.status().as_u16(), error.received()), (400, 2));
    assert_eq!(io::Error::from(error).kind(), ErrorKind::InvalidData);
}

#[test]
fn io_error_has_the_kind_of_the_failure() {
    let budget = Reader::new(4).budget(&MemoryBudget::new(3));
    let table = [
        (Collect::new(Mock::of(["hello"]), 4).content_length(5), ErrorKind::FileTooLarge),
        (Collect::new(Mock::of(["hello"]), 4), ErrorKind::FileTooLarge),
        (Collect::new(Mock::of(["hello"]), 9).content_length(9), ErrorKind::UnexpectedEof),
        (Collect::new(Mock::of(["hello"]), budget), ErrorKind::OutOfMemory),
        (Collect::new(Mock::of(vec![""; 20_000]), 4), ErrorKind::InvalidData),
        (Collect::new(Mock::of([b"\xff"]), 4), ErrorKind::InvalidData),
        (Collect::new(reset_after("hello"), 9), ErrorKind::Other),
    ];
    for (collect, kind) in table {
        let error = io::Error::from(drive(collect.text()).unwrap_err());
        assert_eq!(error.kind(), kind, "{error}");
    }
    let error = CollectError::<MockError>::out_of_memory(9, 5);
    assert_eq!(io::Error::from(error).kind(), ErrorKind::OutOfMemory);
}

/// Returns the messages of an error and of all its sources.
fn messages(error: &dyn Error) -> Vec<String> {
    let mut messages = Vec::new();
    let mut next = Some(error);
    while let Some(error) = next {
        messages.push(error.to_string());
        next = error.source();
    }
    messages
}

#[test]
fn io_error_keeps_the_kind_of_an_io_error_and_tells_each_cause_once() {
    let reset = || io::Error::new(ErrorKind::ConnectionReset, "reset by the server");
    let read = || {
        let body = reset_after("hello").map_err(|_| reset());
        drive(Collect::new(body, 9).content_length(9).bytes()).unwrap_err()
    };
    let error = io::Error::from(read());
    assert_eq!(error.kind(), ErrorKind::ConnectionReset);
    let message = "body failed: 5 of 9 declared bytes received";
    assert_eq!(messages(&error), [message, "reset by the server"]);
    // The error is still there, with its bytes.
    let error = error.downcast::<CollectError<io::Error>>().unwrap();
    assert_eq!(error.into_partial(), "hello");

    let error = io::Error::from(read().boxed());
    assert_eq!(error.kind(), ErrorKind::ConnectionReset);
    let layer = "body error";
    assert_eq!(messages(&error), [message, layer, "reset by the server"]);
}

#[test]
fn boxed_makes_an_error_of_any_body_error() {
    type BoxError = Box<dyn Error + Send + Sync>;
    let body = reset_after("hello").map_err(|error| -> BoxError { error.into() });
    let error: CollectError<BodyError> = drive(Collect::new(body, 9).bytes()).unwrap_err().boxed();
    let layers = ["body failed: 5 bytes received", "body error", "reset"];
    assert_eq!(messages(&error), layers);
    let shared: Box<dyn Error + Send + Sync + 'static> = Box::new(error);
    let error = shared.downcast::<CollectError<BodyError>>().unwrap();
    assert_eq!(error.partial().len(), 5);
    let CollectError::Body { source, .. } = *error else { panic!("{error:?}") };
    assert_eq!(source.into_inner().downcast_ref::<MockError>(), Some(&MockError("reset")));
}

#[test]
fn boxed_and_map_body_keep_every_other_error_and_its_bytes() {
    let reject = Reader::new(9).mismatch(Mismatch::Reject);
    let budget = Reader::new(4).budget(&MemoryBudget::new(3));
    let read = || {
        [
            Collect::new(Mock::of(["hello"]), 4).content_length(5),
            Collect::new(Mock::of(["hel", "lo"]), 4),
            Collect::new(Mock::of(["hello"]), 9).content_length(9),
            Collect::new(Mock::of(["hel", "lo"]), reject.clone()).content_length(4),
            Collect::new(Mock::of(["hello"]), budget.clone()),
            Collect::new(Mock::of(vec![""; 20_000]), 4),
            Collect::new(Mock::of([b"he\xff"]), 4),
        ]
        .map(|collect| drive(collect.text()).unwrap_err())
    };
    for (error, again) in read().into_iter().zip(read()) {
        let (message, received) = (error.to_string(), error.received());
        let debug = format!("{error:?}");
        let boxed = error.boxed();
        assert_eq!((boxed.to_string(), boxed.received()), (message, received));
        assert_eq!(format!("{boxed:?}"), debug);
        assert!(boxed.source().is_none());
        assert_eq!(boxed.into_partial(), again.into_partial());
    }
}

#[tokio::test]
async fn partial_yields_its_bytes_in_order_without_a_copy() {
    let frames: Vec<_> = (0..100).map(|number| vec![number; 10_000]).collect();
    let steps = frames.iter().map(|frame| Step::Data(Bytes::from(frame.clone())));
    let body = Mock::new(steps.chain([Step::Fail("reset")]));
    let error = Collect::new(body, u64::MAX).await.unwrap_err();
    let partial = error.partial();
    assert_eq!((partial.len(), partial.is_empty()), (1_000_000, false));
    let chunks: Vec<_> = partial.chunks().collect();
    assert!(!chunks.is_empty() && chunks.iter().all(|chunk| !chunk.is_empty()));
    assert!(chunks.concat() == frames.concat());
    // A second call returns the same memory.
    let addresses =
        |chunks: &[&[u8]]| chunks.iter().map(|chunk| chunk.as_ptr()).collect::<Vec<_>>();
    assert_eq!(addresses(&partial.chunks().collect::<Vec<_>>()), addresses(&chunks));
    assert!(error.into_partial() == frames.concat());
}

#[tokio::test]
async fn partial_without_bytes_yields_no_chunk() {
    let error = Collect::new(Mock::of(["hello"]), 4).content_length(5).await.unwrap_err();
    assert_eq!((error.partial().len(), error.partial().chunks().count()), (0, 0));
    let error = Collect::new(Mock::new([Step::Fail("reset")]), 4).await.unwrap_err();
    assert!(error.partial().is_empty());
    assert_eq!(error.partial().chunks().count(), 0);
    let mut buffer = b"before ".to_vec();
    let error = Collect::new(reset_after("hello"), 9).append_to(&mut buffer).await.unwrap_err();
    assert_eq!(error.partial().chunks().count(), 0);
}
