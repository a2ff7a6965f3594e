use std::sync::Arc;

use presized_lambda_emulator::Function;
use tokio::join;
use tokio::sync::Barrier;
use tokio::task::JoinSet;

use super::runtime::Runtime;
use super::{NAME, client, emulator};

#[tokio::test]
async fn sixteen_are_at_work_at_a_time_and_each_gets_its_own() {
    const AT_A_TIME: usize = 16;
    const ROUNDS: usize = 4;
    let emulator = emulator(Function::new().concurrency(AT_A_TIME)).await;
    let client = client(&emulator);
    let all = Arc::new(Barrier::new(AT_A_TIME));
    let mut tasks = JoinSet::new();
    for _ in 0..AT_A_TIME {
        let mut runtime = Runtime::connect(&emulator, NAME).await;
        let all = Arc::clone(&all);
        tasks.spawn(async move {
            for _ in 0..ROUNDS {
                let event = runtime.next().await;
                // No answer before all have an event.
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

/// Case: a late answer does not reach another invocation.
#[tokio::test]
async fn an_answer_for_another_attempt_is_refused() {
    let emulator = emulator(Function::new().concurrency(2)).await;
    let client = client(&emulator);
    let mut runtime = Runtime::connect(&emulator, NAME).await;
    let (answer, ()) = join!(client.invoke(NAME).send(), async {
        let event = runtime.next().await;
        let path = format!("invocation/{}/response", event.id);
        let another = [("lambda-runtime-invocation-id", "another")];
        let refused = runtime.post(&path, &another, "wrong").await;
        assert_eq!(refused.refusal(), (410, "InvokeTimeout".to_owned()));
        // A runtime that does not know of the header is believed.
        assert_eq!(runtime.post(&path, &[], "right").await.status, 202);
    });
    assert_eq!(answer.unwrap().payload, "right");
}
