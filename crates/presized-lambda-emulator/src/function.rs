//! How a function is set up.

use std::time::Duration;

use super::state::Mode;

/// A function to emulate, apart from what it does.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use presized_lambda_emulator::Function;
///
/// let function = Function::new().timeout(Duration::from_secs(30)).concurrency(16);
/// ```
#[derive(Clone, Debug)]
#[must_use = "a function does nothing before an emulator is started with it"]
pub struct Function {
    pub(super) timeout: Duration,
    pub(super) init_timeout: Duration,
    pub(super) concurrency: Option<usize>,
    pub(super) memory_mb: u32,
}

impl Function {
    /// A function with the settings that Lambda gives one by default.
    pub fn new() -> Self {
        Self {
            timeout: Duration::from_secs(3),
            init_timeout: Duration::from_secs(10),
            concurrency: None,
            memory_mb: 128,
        }
    }

    /// The time that one event may take, from when a runtime gets it. The default is 3 seconds.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// How long a call waits for a runtime where there is none, because nothing was attached or
    /// spawned, or has ended. The default is 10 seconds. Then the call fails as one that took too
    /// long, with `Sandbox.Timedout`, and the log says why. Where there is a runtime and it is
    /// busy, a call waits as long as that takes.
    pub fn init_timeout(mut self, timeout: Duration) -> Self {
        self.init_timeout = timeout;
        self
    }

    /// Gives a runtime as many events at a time as it asks for, as Lambda Managed Instances do,
    /// and tells it to ask for `n`; 0 counts as 1.
    ///
    /// The default is the classic Runtime API: one event after the other.
    pub fn concurrency(mut self, n: usize) -> Self {
        self.concurrency = Some(n.max(1));
        self
    }

    /// The memory that the function is told it has, in MB. The default is 128. Nothing enforces
    /// it.
    pub fn memory_size(mut self, megabytes: u32) -> Self {
        self.memory_mb = megabytes;
        self
    }

    pub(super) fn mode(&self) -> Mode {
        match self.concurrency {
            None => Mode::Classic,
            Some(_) => Mode::Concurrent,
        }
    }
}

impl Default for Function {
    fn default() -> Self {
        Self::new()
    }
}
