//! A client with the allocator of the system.

use presized_allocators::{Error, client};

fn main() -> Result<(), Error> {
    client::run()
}
