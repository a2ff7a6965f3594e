//! `Reader`, and the setters of `Collect`, which apply in any order.

use std::io::Write;
use std::ops::ControlFlow;

use http::{Method, Response};
use presized::{
    BufferPool, Collect, CollectError, ContentLength, LengthHistory, MemoryBudget, Mismatch, Reader,
};
use presized_support::drive::drive;
use presized_support::mock::{Mock, Step};

use crate::bodies::{MIB, body, reset_after};

/// A response with a Content-Length of 3501 and no content.
fn head_response(method: &Method, reader: impl Into<Reader>) -> Collect<Mock> {
    let response = Response::builder().header("content-length", "3501").body(()).unwrap();
    Collect::of_response(method, &response.into_parts().0, Mock::default(), reader)
}

#[test]
fn number_converts_into_the_reader_with_that_limit() {
    assert_eq!(Reader::from(5).get_limit(), 5);
    assert_eq!(Reader::from(u64::MAX).get_limit(), u64::MAX);
    let table: [(Reader, bool); 4] = [
        (5.into(), true),
        (Reader::new(5), true),
        (4.into(), false),
        (Reader::new(9).limit(4), false),
    ];
    for (reader, fits) in table {
        let message = format!("{reader:?}");
        assert_eq!(drive(reader.collect(Mock::of(["hello"])).bytes()).is_ok(), fits, "{message}");
    }
}

#[test]
fn getters_return_what_was_set() {
    let reader = Reader::new(5);
    assert!(reader.get_pool().is_none());
    assert!(reader.get_budget().is_none());
    assert!(reader.get_history().is_none());

    let (pool, budget) = (BufferPool::new(64 << 20), MemoryBudget::new(7));
    let history = LengthHistory::new();
    let reader = reader.limit(6).pool(&pool).budget(&budget).history(&history);
    assert_eq!((reader.get_limit(), reader.get_budget().unwrap().capacity()), (6, 7));
    let rules =
        |reader: &Reader| (reader.get_eager(), reader.get_mismatch(), reader.get_checked_at_end());
    assert_eq!(rules(&reader), (16 << 20, Mismatch::RejectShorter, false));
    let changed = reader.clone().eager(8).mismatch(Mismatch::Reject).checked_at_end(true);
    assert_eq!(rules(&changed), (8, Mismatch::Reject, true));
    // The reader shares the pool and the history, and does not copy them.
    history.observe(160);
    assert_eq!(reader.get_history().unwrap().expected(), Some(170));
    reader.get_pool().unwrap().writer(Some(1 << 20)).write_all(b"x").unwrap();
    assert_eq!(pool.stats().misses, 1);
}

#[test]
fn clones_of_a_reader_share_pool_budget_and_history() {
    let (pool, budget) = (BufferPool::new(64 << 20), MemoryBudget::new(64 << 20));
    let history = LengthHistory::new();
    let reader = Reader::new(8 << 20).pool(&pool).budget(&budget).history(&history);
    let clone = reader.clone().limit(MIB as u64);
    let content = drive(clone.collect(body(MIB)).bytes()).unwrap();
    assert_eq!((pool.stats().outstanding, budget.in_use()), (1, 1 << 20));
    assert!(history.expected().is_some());
    drop(content);
    assert_eq!((pool.stats().outstanding, budget.in_use()), (0, 0));
    // The limit of the clone is its own.
    assert_eq!(reader.get_limit(), 8 << 20);
}

#[test]
fn reader_is_clone_send_sync_and_debug() {
    fn shared<T: Clone + Send + Sync + std::fmt::Debug + 'static>() {}
    shared::<Reader>();
}

#[test]
fn debug_output_of_a_reader_shows_its_settings_and_no_content() {
    let pool = BufferPool::new(64 << 20);
    let reader = Reader::new(MIB as u64 + 1)
        .pool(&pool)
        .budget(&MemoryBudget::new(64 << 20))
        .history(&LengthHistory::new());
    let secret = Mock::new([Step::Data(vec![b'S'; MIB].into()), Step::Data("S".into())]);
    drop(drive(reader.collect(secret).content_length(MIB as u64 + 1).bytes()).unwrap());
    // The idle buffer of the pool still contains the content.
    assert_eq!(pool.stats().idle, 1);
    for output in [format!("{reader:?}"), format!("{:?}", reader.collect(Mock::default()))] {
        assert!(output.contains("limit: 1048577"), "{output}");
        assert!(!output.contains("SS") && !output.contains("83, 83"), "{output}");
        assert!(output.len() < 2000, "{output}");
    }
}

#[test]
fn response_to_head_stays_empty_if_a_content_length_is_set() {
    for length in [ContentLength::Exact(9), ContentLength::Unknown, ContentLength::Hint(9)] {
        for limit in [0, 10] {
            let collect = head_response(&Method::HEAD, limit).content_length(length);
            let read = drive(collect.collected()).unwrap();
            assert_eq!(
                (read.content.len(), read.stats.content_length),
                (0, ContentLength::Exact(0))
            );
        }
    }
    // The same head in a response to GET declares its length.
    let error = drive(head_response(&Method::GET, 4000).bytes()).unwrap_err();
    assert!(matches!(error, CollectError::Incomplete { declared: 3501, .. }), "{error}");
}

#[test]
fn content_length_set_by_the_caller_replaces_the_field() {
    let error = drive(head_response(&Method::GET, 4000).content_length(9).bytes()).unwrap_err();
    assert!(matches!(error, CollectError::Incomplete { declared: 9, .. }), "{error}");
    let unknown = head_response(&Method::GET, 4000).content_length(None);
    assert_eq!(drive(unknown.bytes()).unwrap(), "");
}

#[test]
fn setters_of_a_reader_apply_in_any_order() {
    let budget = MemoryBudget::new(1000);
    let readers = [
        Reader::new(9).limit(100).mismatch(Mismatch::Reject).budget(&budget).eager(2),
        Reader::new(100).eager(2).budget(&budget).mismatch(Mismatch::Reject),
        Reader::new(7).budget(&budget).mismatch(Mismatch::Reject).eager(2).limit(100),
    ];
    for reader in readers {
        let read = drive(reader.collect(Mock::of(["h", "ello"])).content_length(5).collected());
        let stats = read.unwrap().stats;
        // After one byte, 4 bytes may be reserved, and later the declared length.
        assert_eq!((stats.reservations, stats.received), (2, 5), "{reader:?}");
        let longer = reader.collect(Mock::of(["hello", "!"])).content_length(5);
        let error = drive(longer.bytes()).unwrap_err();
        assert!(matches!(error, CollectError::Longer { .. }), "{error}");
        let error = drive(reader.collect(Mock::of([[b'x'; 101]])).bytes()).unwrap_err();
        assert!(matches!(error, CollectError::TooLarge { limit: 100, .. }), "{error}");
    }
}

#[test]
fn setters_of_a_collect_apply_in_any_order() {
    let collect = || Reader::new(10).collect(reset_after("hello"));
    let mut reports = [0; 2];
    let [first, second] = &mut reports;
    let errors = [
        drive(
            collect()
                .content_length(5)
                .trailers_announced(true)
                .on_progress(|_| {
                    *first += 1;
                    ControlFlow::Continue(())
                })
                .bytes(),
        ),
        drive(
            collect()
                .on_progress(|_| {
                    *second += 1;
                    ControlFlow::Continue(())
                })
                .trailers_announced(true)
                .content_length(5)
                .bytes(),
        ),
    ];
    for error in errors {
        let error = error.unwrap_err();
        assert_eq!(error.to_string(), "body failed: 5 of 5 declared bytes received");
    }
    assert_eq!(reports, [1, 1]);
}

#[test]
fn error_after_the_last_declared_byte_fails_a_body_that_is_checked_at_its_end() {
    let reader = Reader::new(10);
    let read =
        |reader: &Reader| drive(reader.collect(reset_after("hello")).content_length(5).bytes());
    assert_eq!(read(&reader).unwrap(), "hello");
    assert_eq!(read(&reader.clone().checked_at_end(true).checked_at_end(false)).unwrap(), "hello");
    let error = read(&reader.checked_at_end(true)).unwrap_err();
    assert!(matches!(error, CollectError::Body { declared: Some(5), received: 5, .. }), "{error}");
    assert_eq!(error.into_partial(), "hello");
}

#[test]
fn numbers_and_options_convert_into_a_content_length() {
    assert_eq!(ContentLength::from(0), ContentLength::Exact(0));
    assert_eq!(ContentLength::from(u64::MAX), ContentLength::Exact(u64::MAX));
    assert_eq!(ContentLength::from(Some(5)), ContentLength::Exact(5));
    assert_eq!(ContentLength::from(None), ContentLength::Unknown);
    let lengths = [ContentLength::Exact(5), ContentLength::Hint(5), ContentLength::Invalid];
    assert_eq!(lengths.map(ContentLength::value), [Some(5), Some(5), None]);
    assert_eq!(ContentLength::default().value(), None);
}
