//! A function of AWS Lambda that computes the sum of an order.
//!
//! Lambda starts the program `bootstrap` of a ZIP archive on its runtime `provided.al2023`. These
//! commands build one for `x86_64`. It is linked statically, so that it does not depend on the
//! libraries of the runtime:
//!
//! ```console
//! $ RUSTFLAGS="-C target-feature=+crt-static" cargo build --release \
//!     --target x86_64-unknown-linux-gnu -p function
//! $ cp target/x86_64-unknown-linux-gnu/release/function target/bootstrap &&
//!     zip --junk-paths target/function.zip target/bootstrap
//! ```

use presized_lambda_runtime::{Context, Error, ErrorReport, json, run};
use serde::{Deserialize, Serialize};

#[derive(Deserialize)]
struct Order {
    items: Vec<Item>,
}

#[derive(Deserialize)]
struct Item {
    cents: u64,
    quantity: u64,
}

#[derive(Serialize)]
struct Bill {
    cents: u64,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    // Lambda adds the time to each line.
    tracing_subscriber::fmt().without_time().with_ansi(false).init();
    run(json(bill)).await
}

async fn bill(order: Order, _context: Context) -> Result<Bill, ErrorReport> {
    let mut prices = order.items.iter().map(|item| item.cents.checked_mul(item.quantity));
    let cents = prices.try_fold(0, |sum: u64, price| sum.checked_add(price?));
    match cents {
        Some(cents) => Ok(Bill { cents }),
        None => Err(ErrorReport::new("Order.TooLarge", "sum exceeds 64 bits")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn bill_is_the_sum_of_all_items() {
        let item = |cents, quantity| Item { cents, quantity };
        let table = [
            (vec![], Ok(0)),
            (vec![item(250, 3), item(99, 1)], Ok(849)),
            (vec![item(2, u64::MAX)], Err("Order.TooLarge")),
            (vec![item(1, u64::MAX), item(1, 1)], Err("Order.TooLarge")),
        ];
        for (items, expected) in table {
            let bill = bill(Order { items }, Context::default()).await;
            let cents = bill.map(|bill| bill.cents);
            assert_eq!(cents.map_err(|report| report.error_type), expected.map_err(str::to_owned));
        }
    }
}
