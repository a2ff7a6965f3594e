//! The environments of a handler in the process of the test.

use std::error::Error;
use std::io;
use std::pin::pin;
use std::sync::Arc;

use bytes::Bytes;
use presized_lambda_runtime::wire::EVENT_MAX;
use presized_lambda_runtime::{
    Context, ErrorReport, FunctionResponse, Handler, Runtime, RuntimeClient,
};
use tokio::select;
use tokio::time::sleep;

use super::{SHUTDOWN, StartRuntime, Starting};
use crate::deployed::Deployed;

/// A handler, which all environments share.
pub(crate) struct Attached<H> {
    handler: Arc<H>,
}

impl<H: Handler> Attached<H> {
    pub(crate) fn new(mut handler: H, function: &Deployed) -> Self {
        handler.set_pool(function.pool());
        Self { handler: Arc::new(handler) }
    }
}

impl<H: Handler> StartRuntime for Attached<H> {
    fn start(
        &mut self,
        environment: Starting<'_>,
    ) -> io::Result<impl Future<Output = String> + Send + 'static> {
        let Starting { function, runtime_api, orders, .. } = environment;
        let client = RuntimeClient::builder()
            .endpoint(runtime_api.to_string())
            .reader(function.reader(EVENT_MAX))
            .function(function.config())
            .build()
            .map_err(io::Error::other)?;
        let mut shutdown = orders.clone();
        let runtime = Runtime::new(Shared(Arc::clone(&self.handler)))
            .client(client)
            .shutdown(async move { shutdown.shut_down().await })
            .snap_start(function.options().snap_start);
        let runtime = match function.options().concurrency {
            Some(n) => runtime.concurrency(n),
            None => runtime,
        };
        let name = function.name().to_owned();
        let (mut shutdown, mut killed, mut orders) = (orders.clone(), orders.clone(), orders);
        Ok(async move {
            let killed = async {
                select! {
                    () = killed.killed() => {}
                    () = async {
                        shutdown.shut_down().await;
                        sleep(SHUTDOWN).await;
                    } => {}
                }
            };
            let (mut killed, mut running) = (pin!(killed), pin!(runtime.run()));
            loop {
                select! {
                    biased;
                    () = &mut killed => return KILLED.to_owned(),
                    time = orders.frozen() => select! {
                        () = &mut killed => return KILLED.to_owned(),
                        () = sleep(time) => {}
                    },
                    ended = &mut running => return match ended {
                        Ok(()) => "exit status: 0".to_owned(),
                        Err(error) => {
                            let error: &(dyn Error + 'static) = &error;
                            tracing::error!(function = name, error, "runtime has ended");
                            "exit status: 1".to_owned()
                        }
                    },
                }
            }
        })
    }
}

/// A handler that several runtimes share.
struct Shared<H>(Arc<H>);

impl<H: Handler> Handler for Shared<H> {
    async fn call(&self, event: Bytes, context: Context) -> Result<FunctionResponse, ErrorReport> {
        self.0.call(event, context).await
    }
}

/// The exit status of a process that was killed.
const KILLED: &str = "signal: 9 (SIGKILL)";
