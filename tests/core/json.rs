//! Content that is not JSON, or not JSON of the requested type.

use std::error::Error;

use presized::{BufferPool, Collect, CollectError, Reader};
use presized_support::mock::{Mock, MockError};
use serde::Deserialize;

#[derive(Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
struct Price {
    cents: u64,
}

fn invalid(error: CollectError<MockError>) -> presized::JsonError {
    match error {
        CollectError::InvalidJson { source, .. } => source,
        other => panic!("{other:?}"),
    }
}

async fn read<T: serde::de::DeserializeOwned>(
    content: &[u8],
) -> Result<T, CollectError<MockError>> {
    // The content comes in two frames, cut in the middle.
    let (head, tail) = content.split_at(content.len() / 2);
    Collect::new(Mock::of([head, tail]), 1 << 20).json().await
}

#[tokio::test]
async fn invalid_json_fails_with_its_position_and_content() {
    let nested = "[".repeat(200_000);
    let closed = format!("{}{}", "[".repeat(129), "]".repeat(129));
    let table: [(&[u8], &str); 12] = [
        (b"", "EOF while parsing a value at line 1 column 0"),
        (b" \n", "EOF while parsing a value at line 2 column 0"),
        (b"[1]]", "trailing characters at line 1 column 4"),
        (b"[1]\0", "trailing characters at line 1 column 4"),
        (b"\xef\xbb\xbf[1]", "expected value at line 1 column 1"),
        (b"\xff\xfe[\0", "expected value at line 1 column 1"),
        (b"1e999", "number out of range at line 1 column 5"),
        (b"NaN", "expected value at line 1 column 1"),
        (b"\"caf\xe9\"", "invalid unicode code point at line 1 column 5"),
        (b"\"\\ud800\"", "unexpected end of hex escape at line 1 column 8"),
        (nested.as_bytes(), "recursion limit exceeded at line 1 column 128"),
        (closed.as_bytes(), "recursion limit exceeded at line 1 column 128"),
    ];
    for (content, message) in table {
        let error = read::<serde_json::Value>(content).await.unwrap_err();
        assert_eq!(error.received(), content.len() as u64);
        assert_eq!(error.source().unwrap().to_string(), message);
        assert_eq!(error.into_partial(), content);
    }
}

/// RFC 8259 §8.1 lets a parser ignore the mark or fail. This one fails, and loses nothing.
#[tokio::test]
async fn byte_order_mark_is_an_error_that_keeps_the_json_after_it() {
    let error = read::<Price>("\u{feff}{\"cents\":7}".as_bytes()).await.unwrap_err();
    assert_eq!((invalid_position(&error), error.received()), ((1, 1), 14));
    let content = error.into_partial();
    let json = content.strip_prefix("\u{feff}".as_bytes()).unwrap();
    assert_eq!(serde_json::from_slice::<Price>(json).unwrap(), Price { cents: 7 });
    // Anywhere else it is a character like others.
    let text = read::<String>("\"\u{feff}a\u{feff}\"".as_bytes()).await.unwrap();
    assert_eq!(text, "\u{feff}a\u{feff}");
}

fn invalid_position(error: &CollectError<MockError>) -> (usize, usize) {
    match error {
        CollectError::InvalidJson { source, .. } => (source.line(), source.column()),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn error_messages_and_debug_output_quote_no_content() {
    let table = [
        // A string in place of a number, an unknown field, wrong types, and syntax errors.
        r#"{"cents":"hunter2"}"#,
        r#"{"hunter2":1}"#,
        r#""hunter2""#,
        r#"{"cents":"hunter2"#,
        r#"{"cents":hunter2}"#,
        r#"{"cents":1} hunter2"#,
        r#"{"cents":-18446744073709551615}"#,
    ];
    for content in table {
        let error = read::<Price>(content.as_bytes()).await.unwrap_err();
        let mut output = format!("{error} {error:?} {error:#?}");
        let mut next = error.source();
        while let Some(source) = next {
            output += &format!(" {source} {source:?}");
            next = source.source();
        }
        for secret in ["hunter2", "1844"] {
            assert!(!output.contains(secret), "{content}: {output}");
        }
        // The position is reported.
        assert!(output.contains("at line 1 column "), "{output}");
        assert!(invalid(error).line() == 1);
    }
}

#[tokio::test]
async fn value_rejected_after_parsing_has_no_position() {
    #[derive(Debug, Deserialize)]
    #[serde(try_from = "String")]
    struct Never;
    impl TryFrom<String> for Never {
        type Error = String;
        fn try_from(secret: String) -> Result<Self, String> {
            Err(secret)
        }
    }
    let source = invalid(read::<Never>(b"\"hunter2\"").await.unwrap_err());
    assert_eq!(source.to_string(), "JSON has an unexpected type or shape");
    assert_eq!(source.get_ref().to_string(), "hunter2");
}

#[tokio::test]
async fn numbers_out_of_range_are_data_errors() {
    for content in ["18446744073709551616", "-1", "1.0", "1e3"] {
        let source = invalid(read::<u64>(content.as_bytes()).await.unwrap_err());
        assert!(
            source.get_ref().downcast_ref::<serde_json::Error>().unwrap().is_data(),
            "{content}: {source}"
        );
    }
    assert_eq!(read::<u64>(b"18446744073709551615").await.unwrap(), u64::MAX);
}

#[tokio::test]
async fn limit_and_pool_apply_to_json() {
    let pool = BufferPool::new(1 << 20);
    let content = format!("\"{}\"", "x".repeat(50_000));
    let frames = || {
        let (head, tail) = content.split_at(20_000);
        Mock::of([head, tail])
    };
    let error =
        Collect::new(frames(), Reader::new(50_001).pool(&pool)).json::<String>().await.unwrap_err();
    assert!(error.is_too_large());
    drop(error);
    let value: String =
        Collect::new(frames(), Reader::new(50_002).pool(&pool)).json().await.unwrap();
    assert_eq!((value.len(), pool.stats().outstanding), (50_000, 0));
}

/// The documentation of `Collect::json` states this bound.
#[tokio::test]
async fn parser_message_takes_up_to_six_times_the_content() {
    let content = format!("\"{}\"", "\u{7f}".repeat(10_000));
    let error = read::<u64>(content.as_bytes()).await.unwrap_err();
    let quoted = invalid(error).get_ref().to_string().len();
    assert!((60_000..60_200).contains(&quoted), "{quoted}");
}

#[tokio::test]
async fn json_error_has_a_line_and_a_column() {
    let position = |source: presized::JsonError| {
        let position = (source.line(), source.column());
        let parser = source.into_inner().downcast::<serde_json::Error>().unwrap();
        assert_eq!((parser.line(), parser.column()), position);
        position
    };
    let table: [(&[u8], (usize, usize)); 4] =
        [(b"[1,\n 2,\n x]", (3, 2)), (b"", (1, 0)), (b"[1", (1, 2)), (b"[1]\n\n]", (3, 1))];
    for (content, expected) in table {
        let error = read::<serde_json::Value>(content).await.unwrap_err();
        assert_eq!(position(invalid(error)), expected, "{}", content.escape_ascii());
    }
    let error = read::<Price>(b"\n\n{\"cents\":\"1\"}").await.unwrap_err();
    assert_eq!(position(invalid(error)), (3, 12));
}
