//! Prints the public API in a file of rustdoc's JSON: one item a line, sorted.
//!
//! Without blanket implementations and auto traits, which follow from the rest or from `std`.
//! With derived ones: a type that is no longer `Clone` breaks its users.

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
