//! Reading from servers that people run, through a hyper client.
//!
//! A test whose server is not installed says so and passes, unless the environment has
//! `PRESIZED_REQUIRE_PEERS=1`.

mod client;
mod coded;
mod files;
mod nginx;
mod pooled;
mod proxied;
mod python;
mod refused;

use presized_support::pattern::Pattern;

/// What all servers serve, in one piece.
fn content(length: u64) -> Vec<u8> {
    let mut pattern = Pattern::of(length);
    std::iter::from_fn(|| pattern.next_frame()).collect::<Vec<_>>().concat()
}
