use std::net::TcpListener;

use presized_lambda_emulator::Function;
use tokio::net::TcpStream;

use super::runtime::{TestRuntime, frames, pause, within};
use super::{NAME, PATIENCE, client, emulator};

/// One call is queued, one is running, and one has the start of its response.
#[tokio::test]
async fn dropping_the_emulator_ends_all_calls_and_connections() {
    let function = Function::new().concurrency(4).timeout(PATIENCE * 2).init_timeout(PATIENCE * 2);
    let emulator = emulator(function).await;
    let client = client(&emulator);
    let addresses = [emulator.runtime_api(NAME).unwrap(), emulator.url().replace("http://", "")];
    let mut runtime = TestRuntime::connect(&emulator, NAME).await;

    let stream = tokio::spawn(client.invoke_streaming(NAME).send());
    let event = runtime.next().await;
    let (sender, body) = frames();
    let responding = tokio::spawn(async move { runtime.stream(&event.id, body).await });
    sender.data("first").await;
    let stream = stream.await.unwrap().unwrap();

    let running = tokio::spawn(client.invoke(NAME).send());
    let mut runtime = TestRuntime::connect(&emulator, NAME).await;
    runtime.next().await;
    let queued = tokio::spawn(client.invoke(NAME).send());
    let idle = TcpStream::connect(&addresses[1]).await.unwrap();
    within(async {
        while emulator.stats(NAME).unwrap().invoked < 3 {
            pause().await;
        }
    })
    .await;

    drop(emulator);
    assert!(within(running).await.unwrap().is_err());
    assert!(within(queued).await.unwrap().is_err());
    assert!(within(stream.collect(1 << 20)).await.is_err());
    // The connection is closed, or the response is refused as too late.
    assert!(within(responding).await.unwrap().map_or(true, |reply| reply.status == 410));
    within(idle.readable()).await.unwrap();
    assert_eq!(idle.try_read(&mut [0; 1]).unwrap_or(0), 0);
    for address in addresses {
        assert!(TcpStream::connect(&address).await.is_err());
        // The port is free: std sets SO_REUSEADDR, so that connections in TIME-WAIT do not count.
        TcpListener::bind(&address).unwrap();
    }
}
