//! A function from JSON to JSON.

use std::future::Future;
use std::marker::PhantomData;

use bytes::Bytes;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{Answer, Context, ErrorReport, Handler};
use presized::{BufferPool, LengthHistory};

/// A function that takes an event out of JSON, and whose answer becomes JSON.
///
/// The answer is written to memory of the same pool as events. How long it will be is guessed
/// from those before it, so that a large one is written once and never moved.
///
/// An event that is not such JSON fails as `Runtime.UnmarshalError`, and an answer that cannot
/// be written as JSON, as `Runtime.MarshalError`.
///
/// # Examples
///
/// ```no_run
/// # async fn example() -> Result<(), presized_lambda_runtime::Error> {
/// use presized_lambda_runtime::{Context, ErrorReport, json, run};
///
/// #[derive(serde::Deserialize)]
/// struct Event {
///     width: u32,
/// }
///
/// async fn double(event: Event, _context: Context) -> Result<u32, ErrorReport> {
///     event.width.checked_mul(2).ok_or_else(|| ErrorReport::new("TooWide", "nothing is wider"))
/// }
///
/// run(json(double)).await
/// # }
/// ```
pub fn json<T, F, Fut, R, E>(function: F) -> impl Handler
where
    F: Fn(T, Context) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<R, E>> + Send,
    T: DeserializeOwned + Send + 'static,
    R: Serialize + Send,
    E: Into<ErrorReport> + Send,
{
    let (pool, history) = (BufferPool::new(0), LengthHistory::new());
    Json { function, pool, history, event: PhantomData }
}

struct Json<T, F> {
    function: F,
    pool: BufferPool,
    history: LengthHistory,
    event: PhantomData<fn(T)>,
}

impl<T, F> Json<T, F> {
    fn write(&self, answer: &impl Serialize) -> Result<Bytes, ErrorReport> {
        let mut writer = self.pool.writer(self.history.expected());
        serde_json::to_writer(&mut writer, answer).map_err(|error| failed(MARSHAL, &error))?;
        let content = writer.into_bytes();
        self.history.observe(content.len() as u64);
        Ok(content)
    }
}

impl<T, F, Fut, R, E> Handler for Json<T, F>
where
    F: Fn(T, Context) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<R, E>> + Send,
    T: DeserializeOwned + Send + 'static,
    R: Serialize + Send,
    E: Into<ErrorReport> + Send,
{
    async fn call(&self, event: Bytes, context: Context) -> Result<Answer, ErrorReport> {
        let parsed = serde_json::from_slice(&event).map_err(|error| failed(UNMARSHAL, &error))?;
        // Its memory can be that of the answer.
        drop(event);
        let answer = (self.function)(parsed, context).await.map_err(Into::into)?;
        self.write(&answer).map(Answer::from)
    }

    fn set_pool(&mut self, pool: &BufferPool) {
        self.pool = pool.clone();
    }
}

fn failed(error_type: &str, error: &serde_json::Error) -> ErrorReport {
    ErrorReport::from_dyn(error_type, error)
}

// As the runtime of Python has them.

const UNMARSHAL: &str = "Runtime.UnmarshalError";

const MARSHAL: &str = "Runtime.MarshalError";
