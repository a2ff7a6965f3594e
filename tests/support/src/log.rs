//! What is logged by `tracing`, kept for a test to look at.

use std::io;
use std::sync::{Arc, Mutex};

use tracing::Level;
use tracing::subscriber::DefaultGuard;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::fmt::format::FmtSpan;

/// What is logged on one thread, at the level that tells most. A span is logged when it closes.
#[derive(Debug)]
#[must_use = "nothing is kept any more when it is dropped"]
pub struct Log {
    written: Written,
    _guard: DefaultGuard,
}

impl Log {
    /// Keeps what this thread logs from here on: in a test of a current-thread runtime, all.
    pub fn of_this_thread() -> Self {
        let written = Written::default();
        let subscriber = tracing_subscriber::fmt()
            .with_max_level(Level::TRACE)
            .with_span_events(FmtSpan::CLOSE)
            .with_writer(written.clone())
            .with_ansi(false)
            .finish();
        Self { written, _guard: tracing::subscriber::set_default(subscriber) }
    }

    /// What was logged so far. Nothing is kept after that.
    pub fn finish(self) -> String {
        let written = self.written.0.lock().expect("no panic while it is held");
        String::from_utf8_lossy(&written).into_owned()
    }
}

#[derive(Clone, Debug, Default)]
struct Written(Arc<Mutex<Vec<u8>>>);

impl io::Write for Written {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().expect("no panic while it is held").write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Written {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}
