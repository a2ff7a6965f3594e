//! The example, run by AWS's emulator as Lambda runs it.

#![cfg(unix)]

use std::path::Path;
use std::time::Duration;

use presized_lambda_invoke::{Client, Credentials};
use presized_support::rie::{self, FUNCTION};
use tokio::time::timeout;

#[tokio::test]
async fn order_is_added_up() {
    let program = Path::new(env!("CARGO_BIN_EXE_function"));
    let Some(rie) = rie::start(60, program) else { return };
    let client = Client::builder()
        .endpoint(format!("http://{}", rie.address(0)))
        .region("us-east-1")
        .credentials(Credentials::new("AKIDEXAMPLE", "secret", None, None, "test"))
        .max_attempts(1)
        .build()
        .unwrap();
    let invoke = async |order: &'static str| {
        let call = client.invoke(FUNCTION).payload(order).send();
        timeout(Duration::from_secs(60), call).await.expect("a response in 60 s").unwrap().payload
    };
    let order = r#"{"items":[{"cents":250,"quantity":3},{"cents":99,"quantity":1}]}"#;
    assert_eq!(invoke(order).await, r#"{"cents":849}"#);
    for (order, error_type) in [
        (r#"{"items":[{"cents":2,"quantity":18446744073709551615}]}"#, "Order.TooLarge"),
        (r#"{"items":[{"cents":"2"}]}"#, "Runtime.UnmarshalError"),
    ] {
        let report: serde_json::Value = serde_json::from_slice(&invoke(order).await).unwrap();
        assert_eq!(report["errorType"], error_type);
    }
    assert_eq!(invoke(r#"{"items":[]}"#).await, r#"{"cents":0}"#);
}
