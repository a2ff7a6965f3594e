//! The allocations of a JSON response.

use std::convert::Infallible;
use std::future::{Ready, ready};
use std::sync::{Arc, LazyLock, Mutex};

use presized::{BufferPool, Reader};
use presized_lambda_runtime::{Context, EVENT_MAX, RuntimeClient, json};
use presized_support::ledger::{Ledger, Mark, Spent};
use serde::de::IgnoredAny;

use super::{Api, event};

/// A value that takes almost 6 MiB in JSON.
static VALUE: LazyLock<Vec<u64>> = LazyLock::new(|| vec![12_345_678; (6 << 20) / 9]);

#[test]
fn predicted_json_response_takes_one_buffer_and_then_none() {
    let _alone = Ledger::alone();
    LazyLock::force(&VALUE);
    let spent: Arc<Mutex<Vec<Spent>>> = Arc::default();
    let from = Arc::new(Mutex::new(None::<Mark>));
    let record = Arc::clone(&spent);
    // From one call to the next, so that the whole invocation is counted.
    let function = json(move |_: IgnoredAny, _: Context| -> Ready<Result<_, Infallible>> {
        let mut from = from.lock().unwrap();
        record.lock().unwrap().extend(from.as_ref().map(Mark::spent));
        *from = Some(Mark::now());
        ready(Ok(&*VALUE))
    });
    let api = Api::new(vec![event("a", "null"); 5]);
    let pool = BufferPool::new(16 << 20);
    let address = api.server.address().to_string();
    let client = RuntimeClient::builder()
        .endpoint(address)
        .reader(Reader::new(EVENT_MAX).pool(&pool))
        .build()
        .unwrap();
    let running = api.run(api.runtime(function).client(client));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    Ledger::measure(|| runtime.block_on(running)).0.unwrap();

    let expected = serde_json::to_string(&*VALUE).unwrap();
    let posted = api.posted();
    assert!(posted.len() == 5 && posted.iter().all(|(_, body)| *body == expected));
    let spent = spent.lock().unwrap();
    // The first buffer grows through ten sizes from 16 KiB to 8 MiB. The second response has one
    // buffer. The prediction adds a sixteenth to its length, and the size class at most an eighth.
    assert_eq!(pool.stats().misses, 10 + 1);
    assert!(spent[1].bytes < expected.len() as u64 * 6 / 5, "{spent:?}");
    // The others reuse that buffer. The rest are the read buffers of hyper for two heads.
    for later in &spent[2..] {
        assert!(later.bytes < 24 << 10, "{later:?}");
    }
    assert_eq!((pool.stats().hits, pool.stats().outstanding), (3, 0));
}
