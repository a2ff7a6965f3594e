//! Tests of the memory that a decompression bomb takes. The ledger counts the thread of the client,
//! with reqwest, hyper and the decoder.

use presized::CollectError;
use presized_reqwest::ResponseExt;
use presized_support::coded::{CODINGS, PIECE, bomb};
use presized_support::ledger::{Ledger, Spent};
use presized_support::server::Server;
use tokio::runtime;

use crate::{client, coded_response};

const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;

/// Reads a bomb up to `limit`. Returns what was allocated from the request until the error was dropped.
fn explode(wire: Vec<u8>, limit: u64) -> Spent {
    let server = Server::raw(wire).unwrap();
    let url = server.endpoint().url("/");
    let runtime = runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let client = client();
    let ((), spent) = Ledger::measure(|| {
        runtime.block_on(async {
            let response = client.get(url).send().await.unwrap();
            let error = response.collect_presized(limit).bytes().await.unwrap_err();
            let CollectError::TooLarge { received, partial, .. } = error else { panic!("{error}") };
            assert!(received > limit && received < limit + MIB, "{received}");
            assert_eq!(partial.len() as u64, limit);
        });
    });
    spent
}

#[test]
fn bombs_decode_to_zeros_of_the_stated_size() {
    let runtime = runtime::Builder::new_current_thread().enable_all().build().unwrap();
    for coding in CODINGS {
        let server = Server::raw(coded_response(coding, &bomb(coding, 4, 18))).unwrap();
        let content = runtime.block_on(async {
            let response = client().get(server.endpoint().url("/")).send().await.unwrap();
            response.collect_presized(GIB).bytes().await.unwrap()
        });
        assert!(content.len() == 4 * PIECE && content.iter().all(|&byte| byte == 0), "{coding}");
    }
}

#[test]
fn peak_of_one_gibibyte_bomb_is_within_twice_the_limit_and_one_mebibyte() {
    let _alone = Ledger::alone();
    // The least coded bytes for 1 GiB: deflate packs 1032 to 1, zstd 128 KiB into four bytes.
    let table = [("gzip", 15, 1100 << 10), ("br", 16, 10 << 10), ("zstd", 17, 33 << 10)];
    for (coding, window, most) in table {
        let bomb = bomb(coding, GIB as usize / PIECE, window);
        assert!(bomb.len() <= most, "{coding}: {}", bomb.len());
        for limit in [0, 64 << 10, MIB, 6 * MIB] {
            let spent = explode(coded_response(coding, &bomb), limit);
            println!(
                "{coding}: {} bytes decode to 1 GiB, limit {limit}: peak {}, {} above the limit",
                bomb.len(),
                spent.peak,
                spent.peak - limit
            );
            // The ledger counts the old and the new buffer of a reallocation. Pages that were never
            // written count too.
            assert!(spent.peak <= 2 * limit + MIB, "{coding} {limit}: {spent:?}");
            assert!(spent.kept < 64 << 10, "{coding} {limit}: {spent:?}");
        }
    }
}

/// The documentation warns of this: the brotli decoder fills its window before the first byte comes
/// out. The sender chooses the window, also above the 16 MiB of RFC 7932.
#[test]
fn brotli_window_is_not_in_the_limit() {
    let _alone = Ledger::alone();
    for window in [18, 22, 24, 25] {
        let bomb = bomb("br", GIB as usize / PIECE, window);
        let spent = explode(coded_response("br", &bomb), MIB);
        println!("br, window {} KiB, limit {MIB}: peak {}", 1 << (window - 10), spent.peak);
        let window = 1_u64 << window;
        assert!((window..2 * MIB + 3 * window / 2).contains(&spent.peak), "{window}: {spent:?}");
    }
}

#[test]
fn zstd_decoder_rejects_windows_above_128_mebibytes() {
    let runtime = runtime::Builder::new_current_thread().enable_all().build().unwrap();
    for (window, decodes) in [(27, true), (28, false)] {
        let server = Server::raw(coded_response("zstd", &bomb("zstd", 1, window))).unwrap();
        let read = runtime.block_on(async {
            let response = client().get(server.endpoint().url("/")).send().await.unwrap();
            response.collect_presized(PIECE as u64).bytes().await
        });
        assert_eq!(read.is_ok(), decodes, "{window}: {read:?}");
    }
}
