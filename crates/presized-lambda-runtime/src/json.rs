//! A handler made of a function from JSON to JSON.

use std::future::Future;
use std::marker::PhantomData;

use bytes::Bytes;
use presized::{BufferPool, LengthHistory};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::handler::Call;
use super::{Context, ErrorReport, FunctionResponse, Handler};

/// Makes a handler of a function whose event and response are JSON.
///
/// The response is written to a buffer from the pool of the events. Its length is predicted from
/// earlier responses. A response that is no longer than predicted is written once and not moved.
///
/// The invocation fails with `Runtime.UnmarshalError` if the event cannot be parsed as `T`, and with
/// `Runtime.MarshalError` if the response cannot be written as JSON.
///
/// # Examples
///
/// ```
/// # use presized_lambda_emulator::{Emulator, Function};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// #     // An emulator starts this program as its function.
/// #     if std::env::var_os("AWS_LAMBDA_RUNTIME_API").is_none() {
/// #         let emulator = Emulator::builder().function("f", Function::new()).start().await?;
/// #         emulator.spawn("f", std::process::Command::new(std::env::current_exe()?))?;
/// #         let client = emulator.client_builder().build()?;
/// #         let response = client.invoke("f").payload(r#"{"width": 4}"#).send().await?;
/// #         assert_eq!(response.payload, "8");
/// #         return Ok(());
/// #     }
/// use presized_lambda_runtime::{Context, ErrorReport, json, run};
///
/// #[derive(serde::Deserialize)]
/// struct Event {
///     width: u32,
/// }
///
/// async fn double(event: Event, _context: Context) -> Result<u32, ErrorReport> {
///     event.width.checked_mul(2).ok_or_else(|| ErrorReport::new("TooWide", "width exceeds 2^31 - 1"))
/// }
///
/// run(json(double)).await?;
/// # Ok(())
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
    Json::new(function)
}

pub(super) struct Json<T, F> {
    function: F,
    pool: BufferPool,
    history: LengthHistory,
    event: PhantomData<fn(T)>,
}

impl<T, F> Json<T, F> {
    pub(super) fn new(function: F) -> Self {
        let (pool, history) = (BufferPool::new(0), LengthHistory::new());
        Self { function, pool, history, event: PhantomData }
    }

    fn write(&self, response: &impl Serialize) -> Result<Bytes, ErrorReport> {
        let mut writer = self.pool.writer(self.history.expected());
        serde_json::to_writer(&mut writer, response).map_err(|error| failed(MARSHAL, &error))?;
        let content = writer.into_bytes();
        self.history.observe(content.len() as u64);
        Ok(content)
    }
}

impl<T, F> Handler for Json<T, F>
where
    F: Call<T>,
    F::Response: Serialize + Send,
    F::Error: Send,
    T: DeserializeOwned + Send + 'static,
{
    async fn call(&self, event: Bytes, context: Context) -> Result<FunctionResponse, ErrorReport> {
        let parsed = serde_json::from_slice(&event).map_err(|error| failed(UNMARSHAL, &error))?;
        // The response can use the same buffer.
        drop(event);
        let response = self.function.call(parsed, context).await.map_err(Into::into)?;
        self.write(&response).map(FunctionResponse::json)
    }

    fn set_pool(&mut self, pool: &BufferPool) {
        self.pool = pool.clone();
    }
}

fn failed(error_type: &str, error: &serde_json::Error) -> ErrorReport {
    ErrorReport::from_dyn(error_type, error)
}

// The runtime of Lambda for Python has the same types.

pub(super) const UNMARSHAL: &str = "Runtime.UnmarshalError";

pub(super) const MARSHAL: &str = "Runtime.MarshalError";
