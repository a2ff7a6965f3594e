use std::time::Duration;

use presized_lambda_invoke::{ErrorKind, TimeoutLimit};
use presized_support::eventstream::{CHUNK, DONE_OK, unhex};
use presized_support::scripted::{Reply, Scripted};

use super::{begun, builder, read, whole};

#[tokio::test]
async fn stream_that_falls_silent_fails_by_the_setting_of_the_call_or_the_client() {
    let of_client = Duration::from_millis(80);
    for (of_call, expected) in [(None, of_client), (Some(60), Duration::from_millis(60))] {
        let open = Reply::Hang(begun([unhex(CHUNK)]).into());
        let server = Scripted::in_turn([open, whole([unhex(CHUNK), unhex(DONE_OK)])]);
        let client = builder(&server).stream_idle_timeout(of_client).build().unwrap();
        let mut call = client.invoke_streaming("f");
        if let Some(milliseconds) = of_call {
            call = call.stream_idle_timeout(Duration::from_millis(milliseconds));
        }
        let mut stream = call.send().await.unwrap();
        let (payload, error) = read(&mut stream).await;
        assert_eq!(payload, b"abc");
        let error = error.unwrap();
        assert!(error.may_have_run() && error.is_timeout() && error.is_transient(), "{error}");
        let ErrorKind::Timeout { limit, .. } = error.kind() else { panic!("{error:?}") };
        assert_eq!(*limit, TimeoutLimit::StreamIdle(expected));

        // The next call has another connection.
        let mut stream = client.invoke_streaming("f").send().await.unwrap();
        assert!(read(&mut stream).await.1.is_none());
        assert_eq!(server.requests()[1].connection, 1);
    }
}
