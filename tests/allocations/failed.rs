//! Reservations that the allocator refuses.

use presized::{Collect, CollectError, ContentLength, LengthHistory, Reader};
use presized_support::drive::drive;
use presized_support::ledger::Ledger;

use crate::{KIB, MIB, PATTERN, alone, body};

#[test]
fn failed_allocation_is_an_error_with_received_bytes() {
    let _alone = alone();
    let run = |len: usize, declared: Option<u64>, refuse: usize| {
        let body = body(len, 64 * KIB - 1);
        let (error, _) = Ledger::measure(|| {
            Ledger::refuse_from(refuse);
            let read = drive(Collect::new(body, u64::MAX).content_length(declared).vec());
            Ledger::refuse_from(usize::MAX);
            read.unwrap_err()
        });
        error
    };
    // The first reservation fails.
    let error = run(MIB, Some(MIB as u64), MIB);
    assert!(
        matches!(error, CollectError::OutOfMemory { requested: 1_048_576, received: 65_535, .. }),
        "{error}"
    );
    assert_eq!(error.into_partial(), "");
    // The buffer cannot quadruple, then grows by an eighth at a time, and then cannot grow. The
    // bytes in it are kept.
    let error = run(4 * MIB, None, MIB);
    assert!(
        matches!(
            error,
            CollectError::OutOfMemory { requested: 1_048_576, received: 1_048_560, .. }
        ),
        "{error}"
    );
    assert_eq!(error.into_partial(), PATTERN[..1_032_176]);
}

#[test]
fn body_of_unknown_length_is_read_if_its_buffer_cannot_quadruple() {
    let _alone = alone();
    let body = body(600_000, 10_000);
    let (content, _) = Ledger::measure(|| {
        Ledger::refuse_from(MIB);
        let read = drive(Collect::new(body, u64::MAX).bytes());
        Ledger::refuse_from(usize::MAX);
        read
    });
    assert_eq!(content.unwrap(), PATTERN[..600_000]);
}

#[test]
fn prediction_or_hint_beyond_memory_is_not_an_error() {
    let _alone = alone();
    let history = LengthHistory::new();
    history.observe(8 << 20);
    let reader = Reader::new(16 << 20);
    let read = |reader: &Reader| Collect::new(body(100_000, 30_000), reader.clone());
    let guesses = [
        read(&reader.clone().history(&history)),
        read(&reader).content_length(ContentLength::Hint(5 << 20)),
        read(&reader.eager(u64::MAX)).content_length(ContentLength::Hint(u64::MAX)),
    ];
    for collect in guesses {
        let (content, _) = Ledger::measure(|| {
            Ledger::refuse_from(4 * MIB);
            let read = drive(collect.bytes());
            Ledger::refuse_from(usize::MAX);
            read
        });
        assert_eq!(content.unwrap(), PATTERN[..100_000]);
    }
}
