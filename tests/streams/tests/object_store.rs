//! Objects of the local and the in-memory store of object_store.

use bytes::Bytes;
use http_body_util::BodyExt;
use object_store::local::LocalFileSystem;
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{GetOptions, GetResult, ObjectStore, ObjectStoreExt};
use presized::{BufferPool, Collect, CollectError, ContentLength, Reader, StreamBody};
use tempfile::TempDir;

/// Not a multiple of the 8 KiB in which the local store reads.
const LENGTH: usize = 1_000_003;

fn content() -> Bytes {
    (0..LENGTH).map(|position| position as u8).collect()
}

/// Returns both stores, each with one object. The directory is deleted when it is dropped.
async fn stores() -> ([Box<dyn ObjectStore>; 2], Path, TempDir) {
    let directory = tempfile::tempdir().unwrap();
    let local = LocalFileSystem::new_with_prefix(directory.path()).unwrap();
    let stores: [Box<dyn ObjectStore>; 2] = [Box::new(local), Box::new(InMemory::new())];
    let path = Path::from("object");
    for store in &stores {
        store.put(&path, content().into()).await.unwrap();
    }
    (stores, path, directory)
}

/// The lines of the documentation.
fn collect(
    result: GetResult,
    limit: impl Into<Reader>,
) -> Collect<StreamBody<futures_util::stream::BoxStream<'static, object_store::Result<Bytes>>>> {
    let length = result.range.end - result.range.start;
    Collect::from_stream(result.into_stream(), limit).content_length(length)
}

#[tokio::test]
async fn object_is_read_into_one_reservation_of_its_length() {
    let pool = BufferPool::new(16 << 20);
    let (stores, path, _directory) = stores().await;
    for store in &stores {
        let reader = Reader::new(LENGTH as u64).pool(&pool);
        let read = collect(store.get(&path).await.unwrap(), reader).collected().await.unwrap();
        assert_eq!(read.content, content(), "{store}");
        assert_eq!(read.stats.content_length, ContentLength::Exact(LENGTH as u64), "{store}");
        // The store in memory has one frame, which is handed over.
        assert!(read.stats.reservations == if read.stats.frames == 1 { 0 } else { 1 }, "{store}");
    }
    assert_eq!(pool.stats().idle, 1);
}

#[tokio::test]
async fn range_of_an_object_has_the_length_of_the_range() {
    let (stores, path, _directory) = stores().await;
    for store in &stores {
        let options = GetOptions { range: Some((7..20_000).into()), ..GetOptions::default() };
        let result = store.get_opts(&path, options).await.unwrap();
        let read = collect(result, 20_000).collected().await.unwrap();
        assert_eq!(read.content, content()[7..20_000], "{store}");
        assert_eq!(read.stats.content_length, ContentLength::Exact(19_993), "{store}");
    }
}

#[tokio::test]
async fn object_over_the_limit_is_refused_before_it_is_read() {
    let (stores, path, _directory) = stores().await;
    for store in &stores {
        let result = store.get(&path).await.unwrap();
        let error = collect(result, LENGTH as u64 - 1).await.unwrap_err();
        assert!(matches!(error, CollectError::DeclaredTooLarge { .. }), "{store}: {error}");
        // Without the length, the limit stops the read.
        let stream = store.get(&path).await.unwrap().into_stream();
        let error = Collect::from_stream(stream, LENGTH as u64 - 1).await.unwrap_err();
        assert!(matches!(error, CollectError::TooLarge { .. }), "{store}: {error}");
        assert_eq!(error.into_partial(), content()[..LENGTH - 1], "{store}");
    }
}

#[tokio::test]
async fn object_that_ends_early_is_an_error_with_its_bytes() {
    let (stores, path, directory) = stores().await;
    for store in &stores {
        let stream = store.get(&path).await.unwrap().into_stream();
        let declared = LENGTH as u64 + 1;
        let collect = Collect::from_stream(stream, 2 << 20).content_length(declared);
        let error = collect.await.unwrap_err();
        assert!(matches!(error, CollectError::Incomplete { .. }), "{store}: {error}");
        assert_eq!(error.into_partial(), content(), "{store}");
    }
    // The file becomes shorter after it was opened.
    let result = stores[0].get(&path).await.unwrap();
    let file = std::fs::File::options().write(true).open(directory.path().join("object"));
    file.unwrap().set_len(10_000).unwrap();
    let error = collect(result, 2 << 20).await.unwrap_err();
    assert_eq!(error.received(), 10_000, "{error}");
}

#[tokio::test]
async fn streamed_object_is_bounded_without_being_collected() {
    let (stores, path, _directory) = stores().await;
    let result = stores[0].get(&path).await.unwrap();
    let error = collect(result, 100_000).into_limited().collect().await.unwrap_err();
    assert!(error.is_too_large(), "{error}");
}
