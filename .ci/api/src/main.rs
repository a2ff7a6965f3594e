//! Prints the public API of a crate from the JSON of rustdoc: one item a line, sorted.
//!
//! Blanket implementations and auto traits are left out, because they follow from the rest.
//! Derived implementations are in, because a type that is no longer `Clone` breaks its users.

use std::error::Error;
use std::path::PathBuf;

fn main() -> Result<(), Box<dyn Error>> {
    let json: PathBuf = std::env::args_os().nth(1).ok_or("usage: presized-api JSON")?.into();
    let api = public_api::Builder::from_rustdoc_json(json)
        .omit_blanket_impls(true)
        .omit_auto_trait_impls(true)
        .build()?;
    print!("{api}");
    Ok(())
}
