//! boto3 against the emulator.

use std::process::Stdio;

use presized_lambda_emulator::{Emulator, Function};
use presized_lambda_runtime::raw;
use presized_support::process::pinned_peer;
use tokio::process::Command;

use crate::function::function;
use crate::{PATIENCE, within_time};

/// The script checks the responses. This test checks the counters of the emulator.
#[tokio::test]
async fn boto3_gets_the_responses_that_it_expects() {
    let Some(python) = pinned_peer("python") else { return };
    within_time(async {
        let options = Function::new().timeout(PATIENCE);
        let emulator = Emulator::builder()
            .function("fruit", options.clone())
            .function("busy", options)
            .start()
            .await
            .unwrap();
        emulator.attach("fruit", raw(function)).unwrap();
        emulator.throttle("busy", 1).unwrap();

        let mut command = Command::new(python);
        command
            .args(["-c", include_str!("callers.py"), &emulator.url()])
            // No profile of the machine may change the result.
            .env_clear()
            .stdin(Stdio::null())
            .kill_on_drop(true);
        let output = command.output().await.unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let called: Vec<_> = String::from_utf8_lossy(&output.stdout)
            .lines()
            .map(|line| line.parse::<u64>().unwrap())
            .collect();

        let stats = emulator.stats("fruit").unwrap();
        assert_eq!([stats.started, stats.responses, stats.errors], called[..]);
        let stats = emulator.stats("busy").unwrap();
        assert_eq!((stats.started, stats.throttled), (0, 1));
    })
    .await;
}
