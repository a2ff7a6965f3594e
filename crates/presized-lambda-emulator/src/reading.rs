//! Bodies of requests.

use std::time::Duration;

use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use tokio::time::timeout;

use super::deployed::Deployed;
use presized::{CollectError, Collected, LengthHistory, Reader};

/// Reads a body within `limit` bytes, into the function's memory.
pub(super) async fn collect(
    function: &Deployed,
    history: &LengthHistory,
    body: &mut Incoming,
    limit: u64,
) -> Result<Collected, CollectError<hyper::Error>> {
    let reader = Reader::new(limit).pool(&function.pool).history(history);
    reader.collect(body).collected().await
}

/// Takes what is left of a body whose request is refused.
///
/// A connection that is closed on a client which is still writing is reset, and the answer is
/// lost on its way.
pub(super) async fn discard(body: &mut Incoming) {
    let discarding = async {
        let mut left = DISCARDED_BYTES;
        while let Some(Ok(frame)) = body.frame().await {
            let size = frame.data_ref().map_or(0, Bytes::len);
            match left.checked_sub(size) {
                Some(less) => left = less,
                None => return,
            }
        }
    };
    // What comes after that does not matter.
    let _ = timeout(DISCARDED_FOR, discarding).await;
}

const DISCARDED_BYTES: usize = 64 << 20;

const DISCARDED_FOR: Duration = Duration::from_secs(5);
