//! The beginning of a body: `Collect::prefix`.

use bytes::Bytes;
use presized::{Collect, CollectError};
use presized_support::mock::{Mock, Step};

#[tokio::test]
async fn prefix_stops_at_limit() {
    let table: &[(&[&str], Option<u64>, &str, bool)] = &[
        (&["hello"], None, "hello", false),
        (&["hello"], Some(5), "hello", false),
        (&["hel", "lo"], None, "hello", false),
        (&["hello", "!"], None, "hello", true),
        (&["hel", "lo, world"], None, "hello", true),
        (&["hello, world"], Some(12), "hello", true),
        (&["hel", "lo", ", world"], Some(12), "hello", true),
        (&[], None, "", false),
    ];
    for &(frames, declared, content, truncated) in table {
        let prefix =
            Collect::new(Mock::of(frames), 5).content_length(declared).prefix().await.unwrap();
        assert_eq!(
            (&prefix.content[..], prefix.truncated),
            (content.as_bytes(), truncated),
            "{frames:?}"
        );
    }
}

#[tokio::test]
async fn prefix_of_a_longer_declared_body_does_not_poll_past_the_limit() {
    let body = Mock::new([Step::Data(Bytes::from_static(b"hello")), Step::Hang]);
    let prefix = Collect::new(body, 5).content_length(Some(1 << 40)).prefix().await.unwrap();
    assert_eq!((&prefix.content[..], prefix.truncated), (&b"hello"[..], true));
}

#[tokio::test]
async fn prefix_of_zero_bytes_reports_whether_the_body_has_content() {
    assert!(!Collect::new(Mock::default(), 0).prefix().await.unwrap().truncated);
    assert!(Collect::new(Mock::of(["x"]), 0).prefix().await.unwrap().truncated);
}

#[tokio::test]
async fn prefix_of_an_incomplete_body_fails() {
    let error =
        Collect::new(Mock::of(["he"]), 5).content_length(Some(12)).prefix().await.unwrap_err();
    assert!(matches!(error, CollectError::Incomplete { declared: 12, received: 2, .. }), "{error}");
}

#[tokio::test]
async fn prefix_of_zero_bytes_needs_no_poll_if_a_length_is_declared() {
    let prefix = Collect::new(Mock::new([Step::Hang]), 0).content_length(Some(5)).prefix().await;
    assert!(prefix.unwrap().truncated);
}

#[tokio::test]
async fn prefix_and_partial_release_the_frame_they_are_cut_from() {
    let frame = Bytes::from(vec![b'x'; 100_000]);
    let prefix =
        Collect::new(Mock::new([Step::Data(frame.clone())]), 40_000).prefix().await.unwrap();
    assert_eq!((prefix.content.len(), prefix.truncated), (40_000, true));
    assert!(frame.is_unique());
    let body = Mock::new([Step::Data(frame.clone())]);
    let partial = Collect::new(body, 40_000).bytes().await.unwrap_err().into_partial();
    assert_eq!(partial.len(), 40_000);
    assert!(frame.is_unique());
}
