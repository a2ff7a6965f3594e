//! A client with jemalloc.

use presized_allocators::{Error, client};

#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() -> Result<(), Error> {
    client::run()
}
