//! A state that handlers borrow.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use futures_util::stream;
use http::Response;
use presized_lambda_emulator::{Emulator, Function};
use presized_lambda_runtime::{BoxError, Context, Handler, Runtime, RuntimeClient, State};
use tokio::sync::{Barrier, Notify};
use tokio::time::timeout;

use super::{NAME, PATIENCE, attached};

/// Counts the calls. It cannot be cloned.
struct Counter {
    word: String,
    calls: AtomicUsize,
}

impl Counter {
    fn new() -> State<Self> {
        State::new(Self { word: "call".to_owned(), calls: AtomicUsize::new(0) })
    }

    /// Borrows the state across an await.
    async fn call(&self) -> String {
        let number = self.calls.fetch_add(1, Ordering::Relaxed) + 1;
        let word = &self.word;
        tokio::task::yield_now().await;
        format!("{word} {number}")
    }

    async fn json(&self, event: u32, _: Context) -> Result<(u32, String), BoxError> {
        Ok((event, self.call().await))
    }

    async fn raw(&self, _: Bytes, _: Context) -> Result<String, BoxError> {
        Ok(self.call().await)
    }
}

type Chunks = stream::Once<std::future::Ready<Result<String, Infallible>>>;

async fn streaming(counter: &Counter, _: Bytes, _: Context) -> Result<Chunks, BoxError> {
    let chunk = counter.call().await;
    Ok(stream::once(std::future::ready(Ok(chunk))))
}

async fn http(counter: &Counter, event: Bytes, context: Context) -> http::Result<Response<Chunks>> {
    let chunks = streaming(counter, event, context).await.unwrap();
    Response::builder().status(201).body(chunks)
}

#[tokio::test(flavor = "multi_thread")]
async fn every_kind_of_handler_borrows_its_state() {
    async fn assert_counts(handler: impl Handler, expected: [&str; 2]) {
        let (_emulator, client) = attached(handler).await;
        for expected in expected {
            let response = client.invoke(NAME).payload("7").send().await.unwrap();
            assert_eq!(response.payload, expected);
        }
    }
    let numbered = ["call 1", "call 2"];
    assert_counts(Counter::new().json(Counter::json), [r#"[7,"call 1"]"#, r#"[7,"call 2"]"#]).await;
    assert_counts(Counter::new().raw(Counter::raw), numbered).await;
    assert_counts(Counter::new().streaming(streaming), numbered).await;
    let closure =
        async |counter: &Counter, _: Bytes, _: Context| Ok::<_, BoxError>(counter.call().await);
    assert_counts(Counter::new().raw(closure), numbered).await;
    let prelude = "{\"statusCode\":201,\"headers\":{},\"cookies\":[]}\0\0\0\0\0\0\0\0";
    let with_prelude = numbered.map(|chunk| format!("{prelude}{chunk}"));
    let [first, second] = &with_prelude;
    assert_counts(Counter::new().http_streaming(http), [first, second]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn invocations_at_the_same_time_borrow_one_state() {
    let function = Function::new().concurrency(2).timeout(PATIENCE);
    let emulator = Emulator::builder().function(NAME, function).start().await.unwrap();
    // Both wait for each other.
    let meet = async |both: &Barrier, _: Bytes, _: Context| {
        both.wait().await;
        Ok::<_, Infallible>("met")
    };
    emulator.attach(NAME, State::new(Barrier::new(2)).raw(meet)).unwrap();
    let client = emulator.client_builder().max_attempts(1).timeout(PATIENCE).build().unwrap();
    let [first, second] = [(); 2].map(|()| client.invoke(NAME).payload("0").send());
    let (first, second) = tokio::join!(first, second);
    assert_eq!([first.unwrap().payload, second.unwrap().payload], ["met", "met"]);
}

#[tokio::test]
async fn state_is_dropped_when_the_runtime_ends() {
    let state = Arc::new(());
    let function = Function::new().timeout(PATIENCE);
    let emulator = Emulator::builder().function(NAME, function).start().await.unwrap();
    let client = RuntimeClient::builder().endpoint(emulator.runtime_api(NAME).unwrap());
    let handler = State::new(Arc::clone(&state))
        .raw(async |_: &Arc<()>, event: Bytes, _: Context| Ok::<_, Infallible>(event));
    let stop = Arc::new(Notify::new());
    let signal = Arc::clone(&stop);
    let runtime = Runtime::new(handler)
        .client(client.build().unwrap())
        .shutdown(async move { signal.notified().await });
    assert_eq!(Arc::strong_count(&state), 2);
    stop.notify_one();
    timeout(PATIENCE, runtime.run()).await.expect("an end in time").unwrap();
    assert_eq!(Arc::strong_count(&state), 1);
}
