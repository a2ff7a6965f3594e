//! GetBucketPolicy, whose payload is a string; GetObject, which streams; and HeadObject.

use aws_sdk_s3::error::ProvideErrorMetadata;
use aws_sdk_s3::operation::get_object::GetObjectOutput;
use presized::{Collect, CollectError, Collected, ContentLength, Reader};
use presized_aws_sdk::Interceptor;
use presized_support::scripted::{Reply, Scripted};

use crate::clients::{Settings, s3};
use crate::{LIMIT, chunked, read_error};

#[tokio::test]
async fn a_policy_is_the_string_that_was_sent() {
    let policy = format!(r#"{{"Version":"2012-10-17","Id":"{}"}}"#, "ä".repeat(9000));
    let server = Scripted::in_turn([Reply::response("200 OK", &[], &policy)]);
    let client = s3(server.address(), Interceptor::new(LIMIT));
    let output = client.get_bucket_policy().bucket("bucket").send().await.unwrap();
    assert!(output.policy == Some(policy));
}

#[tokio::test]
async fn streamed_object_is_unchanged_and_has_no_limit() {
    let object = vec![b'x'; 100_000];
    let server = Scripted::in_turn([Reply::response("200 OK", &[], &object)]);
    let client = s3(server.address(), Interceptor::new(0));
    let output = client.get_object().bucket("bucket").key("key").send().await.unwrap();
    assert!(output.body.collect().await.unwrap().into_bytes() == object);
}

#[tokio::test]
async fn checksum_of_an_object_is_compared_as_without_the_interceptor() {
    let checksum = ("x-amz-checksum-crc32", "AAAAAA==");
    let server = Scripted::in_turn([Reply::response("200 OK", &[checksum], "hello")]);
    let client = s3(server.address(), Interceptor::new(LIMIT));
    let output = client.get_object().bucket("bucket").key("key").send().await.unwrap();
    let error = output.body.collect().await.unwrap_err();
    let error = crate::causes(&error).last().unwrap().to_string();
    assert!(error.contains("checksum mismatch"), "{error}");
}

/// The line of the README of presized-aws-sdk.
async fn read(output: GetObjectOutput, limit: u64) -> Result<Collected, presized_aws_sdk::Error> {
    let reader = Reader::new(limit).checked_at_end(true);
    let read = Collect::new(output.body.into_inner(), reader).collected().await;
    read.map_err(CollectError::boxed)
}

#[tokio::test]
async fn streamed_object_is_read_within_a_limit_by_one_line() {
    let object = [b'x'; 100_000];
    let checksum = ("x-amz-checksum-crc32", "AAAAAA==");
    let short = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello";
    let server = Scripted::in_turn([
        Reply::response("200 OK", &[], object),
        Reply::response("200 OK", &[], object),
        chunked(&["hel", "lo"], ""),
        Reply::response("200 OK", &[checksum], "hello"),
        Reply::Close(short.into()),
    ]);
    let client = s3(server.address(), Settings::default());
    let get = async || client.get_object().bucket("bucket").key("key").send().await.unwrap();

    let object_read = read(get().await, 100_000).await.unwrap();
    assert_eq!(object_read.content, object[..]);
    assert_eq!(object_read.stats.content_length, ContentLength::Exact(100_000));
    assert_eq!(object_read.stats.reservations, 1);

    let error = read(get().await, 99_999).await.unwrap_err();
    assert!(matches!(error, CollectError::DeclaredTooLarge { declared: 100_000, .. }), "{error}");

    assert_eq!(read(get().await, 5).await.unwrap().content, "hello");

    let error = read(get().await, 5).await.unwrap_err();
    let cause = crate::causes(&error).last().unwrap().to_string();
    assert!(cause.contains("checksum mismatch"), "{cause}");

    let error = read(get().await, 10).await.unwrap_err();
    assert!(matches!(error, CollectError::Body { declared: Some(10), .. }), "{error}");
    assert_eq!(error.into_partial(), "hello");
}

#[tokio::test]
async fn response_to_head_may_declare_more_than_the_limit() {
    let head = Reply::Keep("HTTP/1.1 200 OK\r\nContent-Length: 5000000000\r\n\r\n".into());
    let server = Scripted::in_turn([head]);
    let client = s3(server.address(), Interceptor::new(0));
    let output = client.head_object().bucket("bucket").key("key").send().await.unwrap();
    assert_eq!(output.content_length(), Some(5_000_000_000));
}

#[tokio::test]
async fn error_responses_are_read_within_the_limit() {
    let content = "<Error><Code>NoSuchBucketPolicy</Code><Message>none</Message></Error>";
    let refused = Reply::response("404 Not Found", &[], content);
    let length = content.len() as u64;
    let server = Scripted::in_turn([refused.clone(), refused.clone(), refused]);

    let client = s3(server.address(), Interceptor::new(length));
    let error = client.get_bucket_policy().bucket("bucket").send().await.unwrap_err();
    assert_eq!(error.code(), Some("NoSuchBucketPolicy"));
    // Also of an operation that streams.
    let error = client.get_object().bucket("bucket").key("key").send().await.unwrap_err();
    assert_eq!(error.code(), Some("NoSuchBucketPolicy"));

    let client = s3(server.address(), Interceptor::new(length - 1));
    let error = client.get_bucket_policy().bucket("bucket").send().await.unwrap_err();
    let CollectError::DeclaredTooLarge { declared, limit, .. } = read_error(&error).unwrap() else {
        panic!("{error:?}")
    };
    assert_eq!((*declared, *limit), (length, length - 1));
    assert_eq!(error.raw_response().unwrap().status().as_u16(), 404);
    assert_eq!(server.requests().len(), 3);
}
