//! A client with mimalloc.

use presized_allocators::{Error, client};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> Result<(), Error> {
    client::run()
}
