//! Bodies from nginx and from the HTTP server of Python, read through a hyper client.
//!
//! If a server is not installed, its tests print that and pass. With `PRESIZED_REQUIRE_PEERS=1` in the
//! environment they fail.

mod client;
mod coded;
mod files;
mod nginx;
mod pooled;
mod proxied;
mod python;
mod refused;

use presized_support::pattern::Pattern;

/// Returns the content of `length` bytes that the servers serve.
fn content(length: u64) -> Vec<u8> {
    let mut pattern = Pattern::of(length);
    std::iter::from_fn(|| pattern.next_frame()).collect::<Vec<_>>().concat()
}
