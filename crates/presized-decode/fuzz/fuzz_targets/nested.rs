//! Decodes two or three codings in a row, and compares with one-shot decoders in a row.

#![no_main]

use libfuzzer_sys::fuzz_target;
use presized_decode::{Coding, Codings};
use presized_decode_fuzz::{Case, Expected, oracle};
use presized_ledger::Ledger;

#[global_allocator]
static LEDGER: Ledger = Ledger;

fuzz_target!(|data: &[u8]| {
    let Some((&[choice], data)) = data.split_first_chunk() else { return };
    let Some(case) = Case::read(data) else { return };
    let count = 2 + usize::from(choice >> 7);
    let codings = (0..count).map(|at| CODINGS[usize::from(choice >> (2 * at) & 3)]);
    let codings = Codings::new(codings).expect("at most three");
    let mut expected =
        Expected { content: case.coded.to_vec(), is_whole: true, ..Expected::default() };
    for coding in codings.as_slice().iter().rev() {
        let (was_whole, was_cut) = (expected.is_whole, expected.is_cut);
        let could_fail = expected.may_fail;
        expected = match coding {
            Coding::Gzip => oracle::gzip(&expected.content),
            Coding::Deflate => oracle::deflate(&expected.content),
            Coding::Brotli => oracle::brotli(&expected.content),
            _ => oracle::zstd(&expected.content),
        };
        // The rest of the inner content is not known.
        expected.is_cut |= was_cut;
        expected.is_whole &= was_whole;
        expected.may_fail |= could_fail;
    }
    case.check(&codings, &expected);
});

const CODINGS: [Coding; 4] = [Coding::Gzip, Coding::Deflate, Coding::Brotli, Coding::Zstd];
