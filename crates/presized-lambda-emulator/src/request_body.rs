//! The rest of a request body that is not used.

use std::time::Duration;

use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use tokio::time::timeout;

/// Reads the rest of the body of a refused request.
///
/// If the server closed the connection while the client still writes, the client would see a
/// reset instead of the response.
pub(crate) async fn discard(body: &mut Incoming) {
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
    // The response is sent even if the body is not at its end.
    let _ = timeout(DISCARDED_FOR, discarding).await;
}

const DISCARDED_BYTES: usize = 64 << 20;

const DISCARDED_FOR: Duration = Duration::from_secs(5);
