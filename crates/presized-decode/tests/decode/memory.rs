//! The memory that a bomb takes. The ledger counts the thread of the client, with reqwest, hyper,
//! the decoders, and libzstd, which takes its memory from Rust's allocator here.

use http::Response;
use presized::{Collect, CollectError, Reader};
use presized_decode::{Coding, Codings, Decode, DecodeError, Decoder};
use presized_support::coded::{PIECE, bomb};
use presized_support::drive::drive;
use presized_support::ledger::{Ledger, Spent};
use presized_support::mock::Mock;
use presized_support::server::Server;
use tokio::runtime;

use crate::{Form, brotli, text};

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;

/// The memory that a body may take beside the limit and the memory of the decoders: hyper's buffers, and the
/// frames between the decoders and after them.
const BESIDE: u64 = 256 * KIB;

const LIMITS: [u64; 4] = [0, 64 * KIB, MIB, 6 * MIB];
const BOUNDS: [u64; 3] = [Decoder::DEFAULT_MEMORY, 40 * MIB, 160 * MIB];

/// Returns bombs that decode to this many pieces of 4 MiB of zeros, and the bytes of their windows.
fn bombs(pieces: usize) -> Vec<(Coding, u64, Vec<u8>)> {
    let gzip = bomb("gzip", pieces, 15);
    // Without header and trailer it is raw deflate.
    let deflate = gzip[10..gzip.len() - 8].to_vec();
    let mut bombs = vec![(Coding::Gzip, 32 * KIB, gzip), (Coding::Deflate, 32 * KIB, deflate)];
    for bits in [16, 18, 22, 23, 24, 25, 27] {
        bombs.push((Coding::Brotli, 1 << bits, bomb("br", pieces, bits)));
    }
    for bits in [17, 20, 23, 24, 27, 31] {
        bombs.push((Coding::Zstd, 1 << bits, bomb("zstd", pieces, bits)));
    }
    bombs
}

/// Returns the most that the decoders of a coding hold beside the window, for a bomb.
fn beside_window(coding: Coding) -> u64 {
    match coding {
        Coding::Zstd => 481 * KIB,
        _ => 48 * KIB,
    }
}

/// The way in which the content is collected.
enum Target {
    /// Into a buffer that the caller has reserved.
    Appended,
    Bytes,
}

/// Reads a bomb through reqwest and hyper up to `limit`. Returns its error, the bytes it kept, and
/// what was allocated from the request until both were dropped.
fn explode(
    names: &str,
    coded: &[u8],
    decoder: Decoder,
    limit: u64,
    form: &Target,
) -> (Option<DecodeError>, u64, Spent) {
    let length = coded.len();
    let head =
        format!("HTTP/1.1 200 OK\r\nContent-Encoding: {names}\r\nContent-Length: {length}\r\n\r\n");
    let server = Server::raw([head.as_bytes(), coded].concat()).unwrap();
    let url = server.endpoint().url("/");
    let runtime = runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let client = crate::reqwest().build().unwrap();
    let (found, spent) = Ledger::measure(|| {
        runtime.block_on(async {
            let response = Response::from(client.get(url).send().await.unwrap());
            let body = decoder.response(response).unwrap().into_body();
            let collect = Collect::new(body, Reader::new(limit));
            let (error, kept) = match form {
                Target::Appended => {
                    let mut buffer = Vec::with_capacity(limit as usize);
                    let error = collect.append_to(&mut buffer).await.unwrap_err();
                    (error, buffer.len() as u64)
                }
                Target::Bytes => {
                    let error = collect.bytes().await.unwrap_err();
                    let kept = error.partial().len() as u64;
                    (error, kept)
                }
            };
            match error {
                CollectError::TooLarge { .. } => (None, kept),
                CollectError::Body { source, .. } => (Some(source), kept),
                other => panic!("{other:?}"),
            }
        })
    });
    (found.0, found.1, spent)
}

#[test]
fn peak_of_a_one_gibibyte_bomb_is_within_limit_memory_and_256_kibibytes() {
    let _alone = Ledger::alone();
    println!("coding, window KiB, coded bytes, memory KiB, limit KiB: peak KiB, above the limit");
    for (coding, window, coded) in bombs(GIB as usize / PIECE) {
        for bound in BOUNDS {
            for limit in LIMITS {
                let decoder = Decoder::new().memory(bound);
                let fits = window + beside_window(coding) <= bound;
                let explode = |form| explode(coding.name(), &coded, decoder, limit, &form);
                let (error, kept, spent) = explode(Target::Appended);
                let what = format!("{coding} {window} {bound} {limit}: {error:?} {spent:?}");
                println!(
                    "{coding}, {}, {}, {}, {}: {}, {}{}",
                    window / KIB,
                    coded.len(),
                    bound / KIB,
                    limit / KIB,
                    spent.peak / KIB,
                    (spent.peak - limit) / KIB,
                    if fits { "" } else { ", refused" }
                );
                assert_eq!(error.is_none(), fits, "{what}");
                if let Some(error) = error {
                    let DecodeError::TooMuchMemory {
                        window: found, needed, bound: allowed, ..
                    } = error
                    else {
                        panic!("{what}")
                    };
                    assert_eq!((found, allowed), (window, bound), "{what}");
                    assert!(needed > bound, "{what}");
                    assert!(spent.peak <= limit + BESIDE, "{what}");
                }
                assert_eq!(kept, if fits { limit } else { 0 }, "{what}");
                assert!(spent.peak <= limit + bound + BESIDE, "{what}");
                // The decoder of a small window takes little, whatever is allowed.
                assert!(spent.peak <= limit + window + beside_window(coding) + BESIDE, "{what}");
                assert!(spent.kept < 64 << 10, "{what}");

                // The buffer grows by reallocation, and the ledger counts the old and the new one.
                let (_, _, spent) = explode(Target::Bytes);
                assert!(spent.peak <= 2 * limit + bound + BESIDE, "{what}: {spent:?}");
            }
        }
    }
}

#[test]
fn memory_of_two_codings_is_bounded_together() {
    let _alone = Ledger::alone();
    let limit = 64 * KIB;
    for (first, first_window, inner) in bombs(8) {
        for second in [Form::Gzip, Form::Brotli, Form::Zstd] {
            let coded = second.code(&inner);
            let names = format!("{first}, {}", second.coding());
            for bound in BOUNDS {
                let decoder = Decoder::new().memory(bound);
                let (error, _, spent) = explode(&names, &coded, decoder, limit, &Target::Appended);
                let what = format!("{names} {first_window} {bound}: {error:?} {spent:?}");
                assert!(spent.peak <= limit + bound + BESIDE, "{what}");
                if first_window > bound {
                    assert!(matches!(error, Some(DecodeError::TooMuchMemory { .. })), "{what}");
                }
            }
        }
    }
}

/// Decodes and keeps nothing. Returns the number of decoded bytes, the error, and what was
/// allocated.
fn stream(codings: Codings, coded: &[u8], bound: u64) -> (u64, Option<DecodeError>, Spent) {
    let body = Mock::of([coded]);
    let ((len, error), spent) = Ledger::measure(|| {
        drive(async {
            let mut body = std::pin::pin!(Decoder::new().memory(bound).body(codings, body));
            let mut len = 0;
            while let Some(frame) = http_body_util::BodyExt::frame(&mut body).await {
                match frame {
                    Ok(frame) => len += frame.data_ref().map_or(0, |data| data.len() as u64),
                    Err(error) => return (len, Some(error)),
                }
            }
            (len, None)
        })
    });
    (len, error, spent)
}

#[test]
fn decoder_holds_what_the_bound_counts() {
    let _alone = Ledger::alone();
    let content = text(1 << 20);
    for form in Form::ALL {
        let coded = match form {
            // With a window of the content, which the decoder allocates.
            Form::Brotli => brotli(&content, 5, 20),
            _ => form.code(&content),
        };
        // As little as each needs: one kibibyte less is refused.
        let (mut refused, mut granted) = (0, 16 * MIB / KIB);
        while granted - refused > 1 {
            let middle = (refused + granted) / 2;
            match stream(form.coding().into(), &coded, middle * KIB) {
                (_, None, _) => granted = middle,
                (_, Some(DecodeError::TooMuchMemory { .. }), _) => refused = middle,
                (_, Some(error), _) => panic!("{form:?}: {error}"),
            }
        }
        let (len, error, spent) = stream(form.coding().into(), &coded, granted * KIB);
        println!("{form:?}: needs {granted} KiB, most allocated {} KiB", spent.peak / KIB);
        assert!(len == content.len() as u64 && error.is_none());
        assert!(spent.peak <= granted * KIB + 80 * KIB, "{form:?} {granted}: {spent:?}");
        // No more is counted than is held.
        assert!(spent.peak + 24 * KIB >= granted * KIB, "{form:?} {granted}: {spent:?}");
    }
}

#[test]
fn tables_of_brotli_are_in_the_bound() {
    let _alone = Ledger::alone();
    // Parts of different kinds, so that the best quality makes many tables.
    let mut random = fastrand::Rng::with_seed(5);
    let mut content = Vec::new();
    for part in 0..20 {
        let low = random.u8(..128);
        let high = low.saturating_add(random.u8(1..));
        content
            .extend((0..20_000).map(|at| if at % 3 == 0 { part } else { random.u8(low..=high) }));
    }
    let coded = brotli(&content, 11, 18);
    for bound in (240..400).step_by(10) {
        let (len, error, spent) = stream(Coding::Brotli.into(), &coded, bound * KIB);
        println!("{bound} KiB: {len} bytes, most {} KiB, {error:?}", spent.peak / KIB);
        assert!(spent.peak <= bound * KIB + 80 * KIB, "{bound}: {spent:?}");
        match error {
            None => assert_eq!(len, content.len() as u64),
            Some(error) => assert!(matches!(error, DecodeError::TooMuchMemory { .. }), "{error:?}"),
        }
    }
    let (len, error, _) = stream(Coding::Brotli.into(), &coded, MIB);
    assert!(len == content.len() as u64 && error.is_none(), "{error:?}");
}

#[test]
fn window_of_brotli_is_allocated_once() {
    let _alone = Ledger::alone();
    let content = text(1 << 20);
    let coded = brotli(&content, 5, 20);
    let (len, error, spent) = stream(Coding::Brotli.into(), &coded, 2 * MIB);
    assert!(len == content.len() as u64 && error.is_none(), "{error:?}");
    // The window, the tables, and one frame of 64 KiB, because the frames are dropped in turn.
    assert!(spent.bytes < MIB + 256 * KIB, "{spent:?}");
}

#[test]
fn refused_allocation_of_the_window_is_out_of_memory() {
    let _alone = Ledger::alone();
    let content = text(1 << 20);
    for (coding, coded) in
        [(Coding::Brotli, brotli(&content, 5, 20)), (Coding::Zstd, bomb("zstd", 1, 20))]
    {
        Ledger::refuse_from(1 << 20);
        let (len, error, _) = stream(coding.into(), &coded, 16 * MIB);
        Ledger::refuse_from(usize::MAX);
        assert_eq!(len, 0, "{coding}");
        assert!(
            matches!(error, Some(DecodeError::OutOfMemory { window, .. }) if window == MIB),
            "{coding}: {error:?}"
        );
    }
}

#[test]
fn later_frame_of_zstd_is_checked_too() {
    let _alone = Ledger::alone();
    let hello = Form::Zstd.code(b"hello");
    let coded = [&hello[..], &bomb("zstd", 1, 27)].concat();
    let (len, error, spent) = stream(Coding::Zstd.into(), &coded, Decoder::DEFAULT_MEMORY);
    let Some(DecodeError::TooMuchMemory { window, needed, bound, .. }) = error else {
        panic!("{error:?}")
    };
    assert_eq!((len, window, bound), (5, 128 * MIB, Decoder::DEFAULT_MEMORY));
    assert!((128 * MIB..129 * MIB).contains(&needed), "{needed}");
    assert!(spent.peak < BESIDE, "{spent:?}");

    // A larger frame takes the memory of a smaller one.
    let coded = [&hello[..], &bomb("zstd", 1, 20), &bomb("zstd", 3, 23), &hello].concat();
    let (len, error, spent) = stream(Coding::Zstd.into(), &coded, Decoder::DEFAULT_MEMORY);
    assert!(error.is_none(), "{error:?}");
    assert_eq!(len, 4 * PIECE as u64 + 10);
    assert!(spent.peak <= 8 * MIB + 481 * KIB + BESIDE, "{spent:?}");
}

#[test]
fn nothing_is_allocated_for_a_frame_that_says_its_content_is_long() {
    let _alone = Ledger::alone();
    // One segment of 2^40 bytes, and nothing of it.
    let head = [0x28, 0xb5, 0x2f, 0xfd, 0xe0, 0, 0, 0, 0, 0, 1, 0, 0];
    let (_, error, spent) = stream(Coding::Zstd.into(), &head, Decoder::DEFAULT_MEMORY);
    assert!(
        matches!(error, Some(DecodeError::TooMuchMemory { window: 0x100_0000_0000, .. })),
        "{error:?}"
    );
    assert!(spent.peak < BESIDE, "{spent:?}");
}

#[test]
fn memory_of_the_decoders_is_freed_at_the_end_of_the_content() {
    let _alone = Ledger::alone();
    for (coding, _, coded) in bombs(2) {
        let body = Mock::of([coded]);
        let (body, spent) = Ledger::measure(|| {
            let mut body = Box::pin(Decoder::new().memory(u64::MAX).body(coding, body));
            drive(async { while http_body_util::BodyExt::frame(&mut body).await.is_some() {} });
            body
        });
        assert!(spent.kept < 1024, "{coding}: {spent:?}");
        drop(body);
    }
}

#[test]
fn nothing_is_reserved_before_the_first_byte() {
    let _alone = Ledger::alone();
    let codings = Codings::new([Coding::Gzip, Coding::Brotli, Coding::Zstd]).unwrap();
    let ((), spent) = Ledger::measure(|| {
        let body = Decode::new(codings, Mock::default());
        drive(http_body_util::BodyExt::collect(body)).unwrap();
    });
    assert!(spent.peak < 4096, "{spent:?}");
}
