//! The memory of a call, that of the client included.

use aws_sdk_schemas::primitives::Blob;
use presized::{BufferPool, Reader};
use presized_aws_sdk::Interceptor;
use presized_support::ledger::{Ledger, Mark, Spent};
use presized_support::scripted::{Reply, Scripted};

use crate::clients::{Settings, schemas};
use crate::schemas::source;

const LENGTH: u64 = 4 << 20;
/// The allowance next to the content: the read buffer of hyper grows to 408 KiB by doubling.
const BESIDE: u64 = 1 << 20;

#[test]
fn response_takes_one_buffer_besides_the_output() {
    let spent = call_once(Interceptor::new(LENGTH));
    assert!(spent.bytes < 2 * LENGTH + BESIDE, "{spent:?}");
    assert!(spent.peak < 2 * LENGTH + BESIDE, "{spent:?}");
}

#[test]
fn response_allocates_no_buffer_with_a_warm_pool() {
    let pool = BufferPool::new(16 << 20);
    let spent = call_once(Interceptor::new(Reader::new(LENGTH).pool(&pool)));
    assert!(spent.bytes < LENGTH + BESIDE, "{spent:?}");
    assert!(spent.peak < LENGTH + BESIDE, "{spent:?}");
}

/// Shows that the other tests measure the effect of the interceptor.
#[test]
fn response_takes_more_than_two_buffers_without_the_interceptor() {
    let spent = call_once(Settings::default());
    assert!(spent.bytes > 2 * LENGTH + BESIDE, "{spent:?}");
}

/// Returns the memory of the second of two calls.
fn call_once(settings: impl Into<Settings>) -> Spent {
    let _alone = Ledger::alone();
    let content = vec![7; LENGTH as usize];
    let reply = Reply::response("200 OK", &[], &content);
    let server = Scripted::start(move |_, _| reply.clone());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let client = schemas(server.address(), settings);
    let call = || async {
        let output = source(&client).send().await.unwrap();
        output.body.map(Blob::into_inner).unwrap()
    };
    assert!(runtime.block_on(call()) == content);
    Ledger::count_this_thread(true);
    let mark = Mark::now();
    let received = runtime.block_on(call());
    let spent = mark.spent();
    Ledger::count_this_thread(false);
    assert!(received == content);
    spent
}
