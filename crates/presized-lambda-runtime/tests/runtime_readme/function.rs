use presized_lambda_runtime::{Context, Error, ErrorReport, json, run};
use serde::{Deserialize, Serialize};

#[derive(Deserialize)]
struct Order {
    cents: Vec<u64>,
}

#[derive(Serialize)]
struct Bill {
    cents: u64,
}

async fn bill(order: Order, _context: Context) -> Result<Bill, ErrorReport> {
    let sum = order.cents.iter().try_fold(0, |sum: u64, &cents| sum.checked_add(cents));
    let cents = sum.ok_or_else(|| ErrorReport::new("Order.TooLarge", "sum exceeds 64 bits"))?;
    Ok(Bill { cents })
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    run(json(bill)).await
}
