//! The internal extension, and the configuration of the function.

use std::convert::Infallible;
use std::sync::Arc;

use bytes::Bytes;
use presized_lambda_emulator::{Emulator, Function};
use presized_lambda_runtime::{Context, Runtime, RuntimeClient, json, raw};
use serde_json::Value;
use tokio::sync::Notify;
use tokio::time::timeout;

use super::{NAME, PATIENCE, attached};

#[tokio::test]
async fn function_with_an_extension_serves_invocations_until_its_signal() {
    let function = Function::new().timeout(PATIENCE);
    let emulator = Emulator::builder().function(NAME, function).start().await.unwrap();
    let runtime_api = emulator.runtime_api(NAME).unwrap();
    let client = RuntimeClient::builder().endpoint(runtime_api).build().unwrap();
    let stop = Arc::new(Notify::new());
    let signal = Arc::clone(&stop);
    let runtime = Runtime::new(raw(async |event: Bytes, _: Context| Ok::<_, Infallible>(event)))
        .client(client)
        .graceful_shutdown(true)
        .shutdown(async move { signal.notified().await });
    let running = tokio::spawn(runtime.run());
    let client = emulator.client_builder().max_attempts(1).timeout(PATIENCE).build().unwrap();
    for _ in 0..2 {
        assert_eq!(client.invoke(NAME).payload("7").send().await.unwrap().payload, "7");
    }
    stop.notify_one();
    timeout(PATIENCE, running).await.expect("an end in time").unwrap().unwrap();
    assert_eq!(emulator.stats(NAME).unwrap().rejected, 0);
}

#[tokio::test]
async fn context_has_the_configuration_of_the_function() {
    let function = async |_: Value, context: Context| {
        let function = &context.function;
        Ok::<_, Infallible>((function.name.clone(), function.version.clone(), function.memory_mib))
    };
    let (_emulator, client) = attached(json(function)).await;
    let response = client.invoke(NAME).payload("0").send().await.unwrap();
    assert_eq!(response.payload, r#"["fn","$LATEST",128]"#);
}
