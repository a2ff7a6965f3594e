use std::sync::Arc;

use presized_lambda_emulator::Function;
use tokio::join;
use tokio::sync::Barrier;
use tokio::task::JoinSet;

use super::runtime::TestRuntime;
use super::{NAME, client, emulator};

#[tokio::test]
async fn sixteen_concurrent_invocations_each_get_their_own_response() {
    const AT_A_TIME: usize = 16;
    const ROUNDS: usize = 4;
    let emulator = emulator(Function::new().concurrency(AT_A_TIME)).await;
    let client = client(&emulator);
    let all = Arc::new(Barrier::new(AT_A_TIME));
    let mut tasks = JoinSet::new();
    for _ in 0..AT_A_TIME {
        let mut runtime = TestRuntime::connect(&emulator, NAME).await;
        let all = Arc::clone(&all);
        tasks.spawn(async move {
            for _ in 0..ROUNDS {
                let event = runtime.next().await;
                // No runtime responds before all have an event.
                all.wait().await;
                let id = event.headers["lambda-runtime-invocation-id"].to_str().unwrap();
                let header = [("lambda-runtime-invocation-id", id)];
                let path = format!("invocation/{}/response", event.id);
                let reply = runtime.post(&path, &header, event.payload).await;
                assert_eq!(reply.status, 202);
            }
        });
    }
    for number in 0..AT_A_TIME * ROUNDS {
        let call = client.invoke(NAME).payload(number.to_string()).send();
        tasks.spawn(async move { assert_eq!(call.await.unwrap().payload, number.to_string()) });
    }
    while let Some(task) = tasks.join_next().await {
        task.unwrap();
    }
    let stats = emulator.stats(NAME).unwrap();
    let calls = (AT_A_TIME * ROUNDS) as u64;
    assert_eq!((stats.invoked, stats.started, stats.responses), (calls, calls, calls));
    assert_eq!(stats.rejected, 0);
}

/// A late response must not reach another invocation.
#[tokio::test]
async fn response_with_the_invocation_id_of_another_attempt_is_refused() {
    let emulator = emulator(Function::new().concurrency(2)).await;
    let client = client(&emulator);
    let mut runtime = TestRuntime::connect(&emulator, NAME).await;
    let (response, ()) = join!(client.invoke(NAME).send(), async {
        let event = runtime.next().await;
        let path = format!("invocation/{}/response", event.id);
        let another = [("lambda-runtime-invocation-id", "another")];
        let refused = runtime.post(&path, &another, "wrong").await;
        assert_eq!(refused.refusal(), (410, "InvokeTimeout".to_owned()));
        // A response without the header is accepted.
        assert_eq!(runtime.post(&path, &[], "right").await.status, 202);
    });
    assert_eq!(response.unwrap().payload, "right");
}
