//! Streamed responses.

use bytes::Bytes;

use presized_support::http_events::function_url;

use super::*;

#[tokio::test]
async fn streamed_response_has_a_prelude_and_the_frames_of_its_body() {
    let page = || {
        let parts = ["one,", "two"].map(|part| Ok::<_, std::io::Error>(Bytes::from(part)));
        let body = Body::from_stream(futures_util::stream::iter(parts));
        ([("content-type", "text/csv"), ("set-cookie", "c=1")], body)
    };
    let (_emulator, client) = start(responding(page).streaming(true)).await;
    let call = client.invoke_streaming(NAME).json(&function_url()).send();
    let stream = timeout(PATIENCE, call).await.expect("a response in 60 s").unwrap();
    let response = stream.collect(1000).await.unwrap();
    let text = String::from_utf8(response.payload.to_vec()).unwrap();
    let (prelude, body) = text.split_once("\0\0\0\0\0\0\0\0").unwrap();
    let prelude: Value = serde_json::from_str(prelude).unwrap();
    let expected = json!({
        "statusCode": 200,
        "headers": { "content-type": "text/csv" },
        "cookies": ["c=1"],
    });
    assert_eq!((prelude, body), (expected, "one,two"));
}

#[tokio::test]
async fn stream_that_fails_is_an_error_of_the_function() {
    let broken = || {
        let parts = [Ok(Bytes::from("begin")), Err(std::io::Error::other("disk is gone"))];
        Body::from_stream(futures_util::stream::iter(parts)).into_response()
    };
    let (_emulator, client) = start(responding(broken).streaming(true)).await;
    let call = client.invoke_streaming(NAME).json(&function_url()).send();
    let stream = timeout(PATIENCE, call).await.expect("a response in 60 s").unwrap();
    let failed = stream.collect(1000).await;
    let told = match failed {
        Ok(response) => format!("{:?}", response.function_error),
        Err(error) => format!("{error:?}"),
    };
    assert!(told.contains("disk is gone"), "{told}");
}
