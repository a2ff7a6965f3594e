use super::*;

#[tokio::test]
async fn collect_returns_one_buffer_and_the_log_tail() {
    let pool = BufferPool::new(64 << 20);
    let budget = MemoryBudget::new(64 << 20);
    let reader = Reader::new(1 << 20).pool(&pool).budget(&budget);
    let parts = (0..64).map(|_| chunk(vec![b'x'; 16 << 10]));
    let last = complete(r#"{"LogResult":"bG9n"}"#);
    let body = chunks(Mock::of(parts.chain([last])));
    let collected = collect::collect(body, reader).await.expect("within the limit");
    assert_eq!(collected.payload, vec![b'x'; 1 << 20]);
    assert_eq!(collected.log_tail.as_deref(), Some(&b"log"[..]));
    assert!(pool.stats().outstanding > 0);
    assert!(budget.in_use() > 0);
    drop(collected);
    assert_eq!(pool.stats().outstanding, 0);
    assert_eq!(budget.in_use(), 0);
}

#[tokio::test]
async fn collect_fails_with_the_error_of_the_stream_or_over_the_limit() {
    for (limit, last, expected) in [
        (6, unhex(DONE_OK), "ok"),
        (5, unhex(DONE_OK), "too large: 6"),
        (6, unhex(DONE_ERR), r#"function Runtime.Broken "x""#),
        (6, unhex(EXCEPTION), r#"service ServiceException "x""#),
        (6, vec![], "broken: event stream ended without an InvokeComplete event"),
    ] {
        let body = chunks(Mock::of([unhex(CHUNK), unhex(CHUNK), last]));
        let collected = collect::collect(body, limit.into()).await;
        assert_eq!(outcome(&collected), expected);
        if let Err(error) = collected {
            assert_eq!(error.into_partial(), "abcabc"[..limit as usize]);
        }
    }
}
