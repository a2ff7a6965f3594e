//! Records the `tracing` log for a test.

use std::io;
use std::sync::{Arc, Mutex};

use tracing::Level;
use tracing::subscriber::DefaultGuard;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::fmt::format::FmtSpan;

/// Records the log of one thread, at level TRACE. A span is logged when it closes.
#[derive(Debug)]
#[must_use = "dropping it ends the recording"]
pub struct Log {
    written: Written,
    _guard: DefaultGuard,
}

impl Log {
    /// Starts to record this thread. With a current-thread runtime, this is the whole log of a test.
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

    /// Ends the recording and returns the log.
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
