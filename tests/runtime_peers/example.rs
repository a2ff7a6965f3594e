//! The example `function`, run by AWS's emulator as Lambda runs it.

use presized_support::process::example;

use crate::report::Report;
use crate::rie::Rie;
use crate::within_time;

#[tokio::test]
async fn an_order_is_added_up() {
    let Some(rie) = Rie::start_with(60, &example("function")) else { return };
    within_time(async {
        let order = r#"{"items":[{"cents":250,"quantity":3},{"cents":99,"quantity":1}]}"#;
        assert_eq!(rie.invoke(order).await, r#"{"cents":849}"#);
        for (order, error_type) in [
            (r#"{"items":[{"cents":2,"quantity":18446744073709551615}]}"#, "Order.TooLarge"),
            (r#"{"items":[{"cents":"2"}]}"#, "Runtime.UnmarshalError"),
        ] {
            assert_eq!(Report::of(&rie.invoke(order).await).error_type, error_type);
        }
        assert_eq!(rie.invoke(r#"{"items":[]}"#).await, r#"{"cents":0}"#);
    })
    .await;
}
