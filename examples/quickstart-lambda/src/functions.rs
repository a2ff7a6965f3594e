//! The functions, and the emulator that runs them.

use std::io;
use std::str;
use std::sync::LazyLock;

use bytes::Bytes;
use futures_util::{Stream, stream};
use presized_lambda_emulator::{Emulator, Function};
use presized_lambda_runtime::{Context, ErrorReport, raw, streaming};

use crate::MIB;

/// The function that returns as many bytes as the event asks for.
pub(crate) const REPORT: &str = "report";

/// The function whose stream fails.
pub(crate) const FEED: &str = "feed";

/// The content of all responses. The functions send slices of it.
static CONTENT: LazyLock<Bytes> =
    LazyLock::new(|| (0..6 * MIB).map(|n| (n % 251) as u8).collect::<Vec<u8>>().into());

/// Starts an emulator that runs both functions.
pub(crate) async fn deploy() -> io::Result<Emulator> {
    let functions = Emulator::builder().function(REPORT, Function::new());
    let emulator = functions.function(FEED, Function::new()).start().await?;
    emulator.attach(REPORT, raw(report))?;
    emulator.attach(FEED, streaming(feed))?;
    Ok(emulator)
}

/// Returns the response to an event that asks for `size` bytes.
pub(crate) fn content(size: usize) -> Bytes {
    CONTENT.slice(..size)
}

async fn report(event: Bytes, _context: Context) -> Result<Bytes, ErrorReport> {
    let size: usize = str::from_utf8(&event)?.parse()?;
    if size > CONTENT.len() {
        let message = format!("{size} bytes exceed {} bytes", CONTENT.len());
        return Err(ErrorReport::new("Report.TooLong", message));
    }
    Ok(content(size))
}

async fn feed(
    _event: Bytes,
    _context: Context,
) -> Result<impl Stream<Item = Result<Bytes, ErrorReport>>, ErrorReport> {
    let chunks = (0..3).map(|_| Ok(content(MIB)));
    let failure = ErrorReport::new("Feed.SourceLost", "row 4711 cannot be read");
    Ok(stream::iter(chunks.chain([Err(failure)])))
}
