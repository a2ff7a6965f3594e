//! What is said about memory, counted: one body allocation, none for what is refused,
//! and never more than was earned.

mod writer;

use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::{LazyLock, MutexGuard};
use std::task::{Context, Poll, Waker};

use bytes::{Buf, Bytes};
use http_body::{Body, Frame, SizeHint};
use http_body_util::BodyExt;
use presized::{
    BufferPool, Collect, CollectError, ContentLength, LengthHistory, MemoryBudget, Mismatch,
    Reader, collect_presized,
};
use presized_support::drive::{drive, poll_once};
use presized_support::ledger::{Ledger, Mark, Spent};
use presized_support::mock::{Mock, Step};
use proptest::prelude::*;

#[global_allocator]
static LEDGER: Ledger = Ledger;

const KIB: usize = 1 << 10;
const MIB: usize = 1 << 20;

/// Blocks that hold no content: the list of blocks, and what an error is boxed in.
const BOOKKEEPING: u64 = 16 << 10;

/// Differs at every position from what is around it, so that bytes in the wrong place show.
static PATTERN: LazyLock<&'static [u8]> =
    LazyLock::new(|| Vec::leak((0..65 * MIB).map(|position| (position % 127) as u8).collect()));

/// Counts alone, with the pattern made before the count.
fn alone() -> MutexGuard<'static, ()> {
    LazyLock::force(&PATTERN);
    Ledger::alone()
}

/// Yields what it has in frames of one size, and owns no memory: dropping it must not show.
struct Frames {
    rest: &'static [u8],
    frame: usize,
    /// Whether it is ready at every other poll only, and whether it is now.
    pauses: bool,
    ready: bool,
}

impl Body for Frames {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        self.ready = !self.ready || !self.pauses;
        if !self.ready {
            return Poll::Pending;
        }
        if self.rest.is_empty() {
            return Poll::Ready(None);
        }
        let (frame, rest) = self.rest.split_at(self.frame.min(self.rest.len()));
        self.rest = rest;
        Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(frame)))))
    }
}

/// The first `len` bytes of the pattern in frames of `frame`.
fn body(len: usize, frame: usize) -> Frames {
    Frames { rest: &PATTERN[..len], frame, pauses: false, ready: false }
}

fn count<F: Future>(read: F) -> (F::Output, Spent) {
    Ledger::measure(|| drive(read))
}

/// Page multiples, the two sizes at which a buffer of the Go client doubles unseen and
/// its neighbours, and what is around them.
const SIZES: [usize; 13] = [
    1,
    4095,
    4 * KIB,
    4 * KIB + 1,
    8 * KIB,
    64 * KIB,
    MIB,
    6 * MIB,
    6 * MIB + 100,
    12 * MIB - 3000,
    12 * MIB,
    12 * MIB + 1,
    16 * MIB,
];

#[test]
fn known_length_is_one_allocation_of_that_length() {
    let _alone = alone();
    for len in SIZES {
        for frame in [len.div_ceil(2), 8 * KIB, 64 * KIB - 1, 400 * KIB] {
            // A frame that is the whole body is not copied at all.
            let frame = frame.clamp(1, len.div_ceil(2));
            let body = body(len, frame);
            let (content, spent) = count(collect_presized(body, Some(len as u64), u64::MAX));
            assert_eq!(content.unwrap(), PATTERN[..len], "{len} in frames of {frame}");
            let expected = Spent {
                allocations: 1,
                large: u64::from(len >= 4096),
                bytes: len as u64,
                peak: len as u64,
                kept: len as i64,
            };
            assert_eq!(spent, expected, "{len} in frames of {frame}");
        }
    }
}

#[test]
fn every_form_of_a_known_length_is_one_allocation() {
    let _alone = alone();
    let len = 6 * MIB;
    let read = || Collect::new(body(len, 16 * KIB), len as u64).content_length(Some(len as u64));
    let one =
        Spent { allocations: 1, large: 1, bytes: len as u64, peak: len as u64, kept: len as i64 };
    let (vec, spent) = count(read().vec());
    assert_eq!((vec.unwrap().capacity(), spent), (len, one));
    let (string, spent) = count(read().text());
    assert_eq!((string.unwrap().capacity(), spent), (len, one));
    let (collected, spent) = count(read().collected());
    let stats = collected.unwrap().stats;
    assert_eq!((stats.reservations, stats.peak, spent), (1, len as u64, one));
    let mut buffer = Vec::new();
    let (stats, spent) = count(read().append_to(&mut buffer));
    assert_eq!((stats.unwrap().reservations, spent), (1, one));
    // The second body finds the room of the first.
    buffer.clear();
    let (stats, spent) = count(read().append_to(&mut buffer));
    assert_eq!((stats.unwrap().reservations, spent), (0, Spent::default()));
}

#[test]
fn presized_body_costs_its_box_and_one_allocation() {
    let _alone = alone();
    let len = 6 * MIB;
    let body = body(len, 16 * KIB);
    let (collected, spent) = count(async {
        Collect::new(body, u64::MAX)
            .content_length(Some(len as u64))
            .into_presized()
            .collect()
            .await
    });
    assert_eq!(collected.unwrap().to_bytes(), PATTERN[..len]);
    assert_eq!(spent.large, 1);
    assert!(spent.bytes <= len as u64 + 1024, "{spent:?}");
}

#[test]
fn end_of_the_body_is_not_looked_for_with_memory() {
    let _alone = alone();
    // The buffer is full to the last byte when these come.
    let tail = [Step::Wait, Step::Data(Bytes::new()), Step::Wait];
    let frames = PATTERN[..MIB].chunks(16 * KIB).map(|chunk| Step::Data(Bytes::from_static(chunk)));
    let body = Mock::new(frames.chain(tail));
    let (content, spent) = count(collect_presized(body, Some(MIB as u64), u64::MAX));
    assert_eq!(content.unwrap().len(), MIB);
    assert_eq!((spent.allocations, spent.bytes), (1, MIB as u64));
}

/// Frames without a byte in them.
struct Nothing {
    end_stream: bool,
    frames: usize,
}

impl Body for Nothing {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        if self.frames == 0 {
            return Poll::Ready(None);
        }
        self.frames -= 1;
        Poll::Ready(Some(Ok(Frame::data(Bytes::new()))))
    }

    fn is_end_stream(&self) -> bool {
        self.end_stream
    }
}

#[test]
fn nothing_is_allocated_for_nothing() {
    let _alone = alone();
    let table = [
        ("at its end", Nothing { end_stream: true, frames: 0 }, None),
        ("at its end, and declares a length", Nothing { end_stream: true, frames: 0 }, Some(5)),
        ("ends at once", Nothing { end_stream: false, frames: 0 }, None),
        ("declares nothing", Nothing { end_stream: false, frames: 0 }, Some(0)),
        ("empty frames", Nothing { end_stream: false, frames: 3 }, Some(0)),
        ("empty frames of unknown length", Nothing { end_stream: false, frames: 3 }, None),
    ];
    for (what, body, declared) in table {
        let (content, spent) = count(collect_presized(body, declared, 10));
        assert_eq!(content.unwrap(), "", "{what}");
        assert_eq!(spent, Spent::default(), "{what}");
    }
}

#[test]
fn refusal_allocates_nothing() {
    let _alone = alone();
    for declared in [11, 1 << 40, 1 << 62, u64::MAX] {
        let body = body(MIB, 16 * KIB);
        let (error, spent) = count(collect_presized(body, Some(declared), 10));
        let error = error.unwrap_err();
        assert!(matches!(error, CollectError::DeclaredTooLarge { .. }), "{error}");
        // Dropping the body is what is left of it.
        assert_eq!((spent.allocations, spent.bytes), (0, 0));
    }
}

#[test]
fn silent_peer_costs_nothing() {
    let _alone = alone();
    let body = Mock::new([Step::Hang]).exact(1 << 30);
    let mut read = pin!(collect_presized(body, Some(1 << 30), u64::MAX));
    let (_, spent) = Ledger::measure(|| {
        assert!(poll_once(read.as_mut()).is_pending());
    });
    assert_eq!(spent, Spent::default());
}

#[test]
fn slow_peer_holds_the_eager_bound_and_no_more() {
    let _alone = alone();
    for (eager, most) in [(None, 16 << 20), (Some(64 << 10), 64 << 10), (Some(0), 4)] {
        let body = Mock::new([Step::Data(Bytes::from_static(b"x")), Step::Hang]);
        let reader = eager.into_iter().fold(Reader::new(2 << 30), Reader::eager);
        let collect = Collect::new(body, reader).content_length(Some(1 << 30));
        let mut read = Box::pin(collect.bytes());
        let start = Mark::now();
        let (_, spent) = Ledger::measure(|| {
            assert!(poll_once(read.as_mut()).is_pending());
        });
        assert_eq!((spent.allocations, spent.peak), (1, most));
        // And gives it back when it is dropped.
        Ledger::measure(|| drop(read));
        assert!(start.spent().kept <= 0, "{:?}", start.spent());
    }
}

#[test]
fn lie_that_ends_early_keeps_what_arrived_and_no_more() {
    let _alone = alone();
    let (partial, spent) = Ledger::measure(|| {
        let body = Mock::new([Step::Data(Bytes::from_static(b"hello"))]);
        drive(collect_presized(body, Some(1 << 62), u64::MAX)).unwrap_err().into_partial()
    });
    assert_eq!(partial, "hello");
    assert!(spent.peak <= 16 * MIB as u64 + BOOKKEEPING, "{spent:?}");
    assert!(spent.kept < 1024, "{spent:?}");
}

#[test]
fn above_the_eager_bound_memory_goes_straight_to_the_length() {
    let _alone = alone();
    let len = 64 * MIB;
    let read = |eager: u64| {
        let body = body(len, 400 * KIB);
        count(
            Collect::new(body, Reader::new(u64::MAX).eager(eager))
                .content_length(Some(len as u64))
                .bytes(),
        )
    };
    let (content, spent) = read(16 << 20);
    assert_eq!(content.unwrap().len(), len);
    // 16 MiB, then 64 MiB beside it while it is copied.
    assert_eq!((spent.allocations, spent.bytes), (2, 80 * MIB as u64));
    assert_eq!((spent.peak, spent.kept), (80 * MIB as u64, len as i64));
    let (_, spent) = read(64 << 20);
    assert_eq!((spent.allocations, spent.peak), (1, len as u64));
}

#[test]
fn unknown_length_peaks_at_twice_the_body() {
    let _alone = alone();
    // Just before and after the powers of two at which a doubling buffer is worst and best.
    for len in [
        MIB,
        MIB + 1,
        2 * MIB - 1,
        3 * MIB,
        4 * MIB + 1,
        6 * MIB,
        8 * MIB + 1,
        12 * MIB,
        33 * MIB,
        64 * MIB + 1,
    ] {
        for frame in [8 * KIB, 16 * KIB, 64 * KIB, 400 * KIB] {
            let (content, spent) = count(collect_presized(body(len, frame), None, u64::MAX));
            assert_eq!(content.unwrap(), PATTERN[..len]);
            let peak = spent.peak as f64 / len as f64;
            assert!(peak <= 2.05, "{len} in frames of {frame}: {peak}");
            assert_eq!(spent.kept, len as i64, "{len} in frames of {frame}");
        }
    }
}

#[test]
fn no_result_keeps_more_than_a_quarter_of_slack() {
    let _alone = alone();
    for len in [1, 2, 3, 10, 1000, 20 * KIB, 40 * KIB, MIB + 1] {
        for declared in [
            ContentLength::Unknown,
            ContentLength::Exact(10 * len as u64),
            ContentLength::Hint(10 * len as u64),
            ContentLength::Exact(len as u64 / 10),
        ] {
            for frame in [1, 7, 8 * KIB].into_iter().filter(|frame| len / frame < 20_000) {
                let read = || {
                    Collect::new(body(len, frame), Reader::new(u64::MAX).mismatch(Mismatch::Allow))
                        .content_length(declared)
                };
                let (vec, spent) = count(read().vec());
                let vec = vec.unwrap();
                assert_eq!(vec, PATTERN[..len]);
                assert!(vec.capacity() * 4 <= len * 5, "{declared:?} {len}: {}", vec.capacity());
                assert_eq!(spent.kept, vec.capacity() as i64);
                let (bytes, spent) = count(read().bytes());
                // `Bytes` notes a capacity that is not its length in a small block.
                assert!(spent.kept * 4 <= len as i64 * 5 + 4 * 64, "{declared:?} {len}: {spent:?}");
                drop(bytes);
            }
        }
    }
}

#[test]
fn one_large_frame_is_handed_over() {
    let _alone = alone();
    for len in [64 * KIB, MIB, 64 * MIB] {
        for declared in [None, Some(len as u64)] {
            let (content, spent) = count(collect_presized(body(len, len), declared, u64::MAX));
            assert_eq!(content.unwrap().as_ptr(), PATTERN.as_ptr());
            assert_eq!(spent, Spent::default());
        }
    }
}

#[test]
fn one_small_frame_is_copied_out_exactly() {
    let _alone = alone();
    for len in [1, 100, 4 * KIB, 16 * KIB] {
        for declared in [None, Some(len as u64)] {
            let (content, spent) = count(collect_presized(body(len, len), declared, u64::MAX));
            assert_ne!(content.unwrap().as_ptr(), PATTERN.as_ptr());
            assert_eq!((spent.allocations, spent.bytes), (1, len as u64));
        }
    }
}

#[test]
fn refused_memory_is_an_error_with_what_had_arrived() {
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
    // At the first reservation.
    let error = run(MIB, Some(MIB as u64), MIB);
    assert!(
        matches!(error, CollectError::OutOfMemory { requested: 1_048_576, received: 65_535, .. }),
        "{error}"
    );
    assert_eq!(error.into_partial(), "");
    // When the blocks are joined: all of it has arrived, in several.
    let error = run(MIB, None, MIB);
    assert!(
        matches!(
            error,
            CollectError::OutOfMemory { requested: 1_048_576, received: 1_048_576, .. }
        ),
        "{error}"
    );
    assert_eq!(error.into_partial(), PATTERN[..MIB]);
    // When a further block is taken.
    let error = run(4 * MIB, None, 64 * KIB);
    assert!(
        matches!(error, CollectError::OutOfMemory { requested: 68_265, received: 1_638_375, .. }),
        "{error}"
    );
    assert_eq!(error.into_partial(), PATTERN[..1_572_840]);
}

/// Checks after every frame that no more is held than was earned.
struct Watched {
    frames: Vec<usize>,
    next: usize,
    received: usize,
    start: Mark,
    limit: u64,
    eager: u64,
}

impl Body for Watched {
    type Data = &'static [u8];
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<&'static [u8]>, Self::Error>>> {
        let live = self.start.spent().kept;
        let earned = self.limit.min(self.eager.max(4 * self.received as u64));
        // A large first frame may wait, which takes no memory of ours; nothing else does.
        assert!(
            live <= (earned + BOOKKEEPING) as i64,
            "{live} bytes held after {} received, limit {}, eager {}",
            self.received,
            self.limit,
            self.eager,
        );
        let Some(&len) = self.frames.get(self.next) else {
            return Poll::Ready(None);
        };
        let data = &PATTERN[self.received..][..len];
        self.next += 1;
        self.received += len;
        Poll::Ready(Some(Ok(Frame::data(data))))
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::default()
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn never_more_than_earned_and_the_same_as_collect(
        frames in prop::collection::vec(prop_oneof![Just(0), 1..100_usize, 4000..70_000_usize, 300_000..500_000_usize], 0..24),
        declared in prop_oneof![
            Just(None),
            Just(Some(0)),
            (-3..=3_i64).prop_map(Some),
            (100_000..20_000_000_i64).prop_map(Some),
            Just(Some(i64::MAX / 2)),
        ],
        kind in 0..3,
        limit in prop_oneof![Just(u64::MAX), 0..100_000_u64, 1_000_000..4_000_000_u64],
        eager in prop_oneof![Just(0_u64), 1..5000_u64, Just(65_536), Just(16 << 20)],
        mismatch in prop_oneof![Just(Mismatch::RejectShorter), Just(Mismatch::Reject), Just(Mismatch::Allow)],
    ) {
        let _alone = alone();
        let total: usize = frames.iter().sum();
        // The small numbers are distances from the right length.
        let declared = declared.map(|n| if n.abs() <= 3 { (total as i64 + n).max(0) } else { n } as u64);
        let content_length = match (declared, kind) {
            (None, 0) => ContentLength::Invalid,
            (None, _) => ContentLength::Unknown,
            (Some(n), 0) => ContentLength::Hint(n),
            (Some(n), _) => ContentLength::Exact(n),
        };
        let (read, _) = Ledger::measure(|| {
            let watched = Watched {
                frames: frames.clone(), next: 0, received: 0, start: Mark::now(), limit, eager,
            };
            drive(Collect::new(watched, Reader::new(limit).eager(eager).mismatch(mismatch)).content_length(content_length).bytes())
        });
        let oracle = drive(body(total, 8192).collect()).unwrap().to_bytes();
        let cut = oracle.len().min(usize::try_from(limit).unwrap_or(usize::MAX));
        let exact = match content_length { ContentLength::Exact(n) => Some(n), _ => None };
        match read {
            Ok(content) => {
                prop_assert_eq!(content, oracle);
                prop_assert!(total as u64 <= limit);
                prop_assert!(mismatch == Mismatch::Allow || exact.is_none_or(|n| n <= total as u64));
                prop_assert!(mismatch != Mismatch::Reject || exact.is_none_or(|n| n == total as u64));
            }
            Err(CollectError::DeclaredTooLarge { declared, limit: l, .. }) => {
                prop_assert_eq!((Some(declared), l), (exact, limit));
                prop_assert!(declared > limit);
            }
            Err(error @ CollectError::TooLarge { .. }) => {
                prop_assert!(total as u64 > limit);
                prop_assert_eq!(error.into_partial(), &oracle[..cut]);
            }
            Err(error @ CollectError::Incomplete { .. }) => {
                prop_assert!(exact.is_some_and(|n| n > total as u64) && mismatch != Mismatch::Allow);
                prop_assert_eq!(error.into_partial(), oracle);
            }
            Err(error @ CollectError::Longer { .. }) => {
                prop_assert!(exact.is_some_and(|n| n < total as u64) && mismatch == Mismatch::Reject);
                let partial = error.into_partial();
                prop_assert!(oracle.starts_with(&partial));
                prop_assert!(partial.len() as u64 <= exact.unwrap_or(0));
            }
            Err(error) => prop_assert!(false, "{error}"),
        }
    }
}

/// One frame that is not `Bytes`, which only a copy could be made of.
fn borrowed(len: usize) -> impl Body<Data = &'static [u8], Error = std::convert::Infallible> {
    let frame = Ok::<_, std::convert::Infallible>(Frame::data(&PATTERN[..len]));
    http_body_util::StreamBody::new(futures_util::stream::iter([frame]))
}

#[test]
fn frame_of_another_kind_than_bytes_is_not_handed_over() {
    let _alone = alone();
    let read = || Collect::new(borrowed(MIB), u64::MAX).collected();
    let (collected, spent) = count(read());
    let collected = collected.unwrap();
    assert_eq!(collected.content, PATTERN[..MIB]);
    assert_eq!((collected.stats.reservations, spent.allocations), (1, 1));
    let (error, _) = Ledger::measure(|| {
        Ledger::refuse_from(MIB);
        let read = drive(read());
        Ledger::refuse_from(usize::MAX);
        read.unwrap_err()
    });
    assert!(matches!(error, CollectError::OutOfMemory { requested: 1_048_576, .. }), "{error}");
}

#[test]
fn guess_that_there_is_no_memory_for_is_no_error() {
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

#[test]
fn data_of_another_kind_than_bytes_is_copied_once() {
    let _alone = alone();
    let halves = [&PATTERN[..MIB], &PATTERN[MIB..3 * MIB]];
    let frames =
        halves.map(|half| Ok::<_, std::convert::Infallible>(Frame::data(half.chain(&b""[..]))));
    let body = http_body_util::StreamBody::new(futures_util::stream::iter(frames));
    let (content, spent) = count(collect_presized(body, Some(3 * MIB as u64), u64::MAX));
    assert_eq!(content.unwrap().len(), 3 * MIB);
    assert_eq!((spent.allocations, spent.bytes), (1, 3 * MIB as u64));
}

#[test]
fn warm_pool_reads_without_a_large_allocation() {
    let _alone = alone();
    let pool = BufferPool::new(256 << 20);
    for len in [64 * KIB, 6 * MIB, 16 * MIB, 64 * MIB] {
        for declared in [Some(len as u64), None] {
            let history = LengthHistory::new();
            let read = || {
                let reader = Reader::new(u64::MAX).eager(72 << 20).pool(&pool).history(&history);
                Collect::new(body(len, 64 * KIB - 1), reader).content_length(declared).bytes()
            };
            // The first learns the length, and the second fills the pool with it.
            drop(drive(read()).unwrap());
            drop(drive(read()).unwrap());
            let (content, spent) = count(read());
            assert_eq!(content.unwrap(), PATTERN[..len]);
            assert_eq!(spent.large, 0, "{len} {declared:?}: {spent:?}");
            assert!(spent.bytes < 512, "{len} {declared:?}: {spent:?}");
        }
    }
    assert_eq!(pool.stats().outstanding, 0);
}

#[test]
fn settled_history_peaks_at_the_body_and_a_quarter() {
    let _alone = alone();
    let history = LengthHistory::new();
    let len = 6 * MIB;
    let read =
        || Collect::new(body(len, 16 * KIB), Reader::new(u64::MAX).history(&history)).bytes();
    let (_, spent) = count(read());
    assert!(spent.peak as f64 <= 2.05 * len as f64, "{spent:?}");
    let (content, spent) = count(read());
    assert_eq!(content.unwrap().len(), len);
    assert_eq!(spent.large, 1);
    assert!(spent.peak as f64 <= 1.25 * len as f64, "{spent:?}");
}

/// Bodies of every kind that wait for each other in one thread: what the allocator counts
/// is never above the budget, but for what a body is made of beside its content.
#[test]
fn budget_bounds_what_the_allocator_counts() {
    let _alone = alone();
    const BUDGET: u64 = 3 << 20;
    const BODIES: usize = 60;
    let budget = MemoryBudget::new(BUDGET);
    // Their futures, which are the caller's, are allocated before the count.
    let mut reads: Vec<_> = (0..BODIES)
        .map(|index| {
            let len = (index * 97_001) % (1200 * KIB) + 1;
            let body = Frames { pauses: true, ..body(len, 16 * KIB) };
            let reader = Reader::new(1250 << 10).eager(64 << 10).budget(&budget);
            let collect = if index % 3 == 0 {
                Collect::new(body, reader.eager(2 << 20)).content_length(Some(len as u64))
            } else {
                Collect::new(body, reader)
            };
            (len, Some(Box::pin(collect.bytes())))
        })
        .collect();
    let (rounds, spent) = Ledger::measure(|| {
        let mut cx = Context::from_waker(Waker::noop());
        for round in 1..10_000 {
            let mut left = 0;
            for (len, read) in &mut reads {
                let Some(future) = read else { continue };
                match future.as_mut().poll(&mut cx) {
                    Poll::Ready(content) => {
                        assert_eq!(content.unwrap(), PATTERN[..*len]);
                        *read = None;
                    }
                    Poll::Pending => left += 1,
                }
            }
            if left == 0 {
                return round;
            }
        }
        panic!("deadlock");
    });
    assert!(rounds > 20, "nothing had to wait: {rounds}");
    assert!(spent.peak <= BUDGET + BODIES as u64 * 1024, "{spent:?}");
    assert!(spent.peak > BUDGET / 2, "the budget was hardly used: {spent:?}");
    assert_eq!(budget.in_use(), 0);
}
