//! A function of AWS Lambda: what an order costs.
//!
//! Lambda starts the program `bootstrap` of an archive, on its runtime `provided.al2023`. These
//! two commands make one for the architecture `x86_64`, with no shared library in it that Lambda
//! could have in another version:
//!
//! ```console
//! $ RUSTFLAGS="-C target-feature=+crt-static" cargo build --release \
//!     --target x86_64-unknown-linux-gnu --example function --features lambda-runtime
//! $ cp target/x86_64-unknown-linux-gnu/release/examples/function target/bootstrap &&
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
    // Lambda knows the time of each line.
    tracing_subscriber::fmt().without_time().with_ansi(false).init();
    run(json(bill)).await
}

async fn bill(order: Order, _context: Context) -> Result<Bill, ErrorReport> {
    let mut costs = order.items.iter().map(|item| item.cents.checked_mul(item.quantity));
    let cents = costs.try_fold(0, |sum: u64, cost| sum.checked_add(cost?));
    match cents {
        Some(cents) => Ok(Bill { cents }),
        None => Err(ErrorReport::new("Order.TooLarge", "no sum is so large")),
    }
}
