//! Decodes gzip and compares with its one-shot decoder.

#![no_main]

use libfuzzer_sys::fuzz_target;
use presized_decode::Coding;
use presized_decode_fuzz::{Case, oracle};
use presized_ledger::Ledger;

#[global_allocator]
static LEDGER: Ledger = Ledger;

fuzz_target!(|data: &[u8]| {
    let Some(case) = Case::read(data) else { return };
    case.check(&Coding::Gzip.into(), &oracle::gzip(case.coded));
});
