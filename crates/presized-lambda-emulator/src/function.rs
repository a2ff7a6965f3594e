//! The configuration of a function.

use std::time::Duration;

use crate::runtime_mode::RuntimeMode;

/// The configuration of a function, without its code.
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
#[must_use = "a function does nothing until an emulator is started with it"]
pub struct Function {
    pub(crate) timeout: Duration,
    pub(crate) init_timeout: Duration,
    pub(crate) concurrency: Option<usize>,
    pub(crate) reserved_concurrency: Option<usize>,
    pub(crate) memory_mb: u32,
}

impl Function {
    /// Returns a function with Lambda's default settings.
    pub fn new() -> Self {
        Self {
            timeout: Duration::from_secs(3),
            init_timeout: Duration::from_secs(10),
            concurrency: None,
            reserved_concurrency: None,
            memory_mb: 128,
        }
    }

    /// Sets the timeout of an invocation. It starts when a runtime receives the event. The default
    /// is 3 seconds.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Sets how long a call waits while the function has no runtime. The default is 10 seconds.
    ///
    /// A function has no runtime before [`attach`](crate::Emulator::attach) or
    /// [`spawn`](crate::Emulator::spawn), or before its first execution environment has started.
    /// After the timeout, the call fails with the error type `Sandbox.Timedout`, and the emulator
    /// logs the reason and ends an environment that has not started for as long. A call that waits
    /// while another one runs has no such timeout.
    pub fn init_timeout(mut self, timeout: Duration) -> Self {
        self.init_timeout = timeout;
        self
    }

    /// Sets how many events an execution environment handles at a time, as Lambda Managed Instances
    /// do. 0 counts as 1.
    ///
    /// The runtime is told to handle `n` events at a time, and gets an event for each poll. By
    /// default it gets one event after the other, as in the classic Runtime API. Another environment
    /// starts when all have `n` events.
    pub fn concurrency(mut self, n: usize) -> Self {
        self.concurrency = Some(n.max(1));
        self
    }

    /// Sets how many invocations of the function run at a time, as its
    /// [reserved concurrency](https://docs.aws.amazon.com/lambda/latest/dg/configuration-concurrency.html)
    /// does.
    ///
    /// A call beyond it is refused with status 429 and the reason
    /// `ReservedFunctionConcurrentInvocationLimitExceeded`. An event of type `Event` waits in the
    /// queue. With 0, every call is refused. The default is the 1,000 invocations of an account,
    /// beyond which the reason is `ConcurrentInvocationLimitExceeded`.
    ///
    /// A function in processes can use that many processes. Set a number that the machine bears if a
    /// test makes many calls at a time.
    pub fn reserved_concurrency(mut self, n: usize) -> Self {
        self.reserved_concurrency = Some(n);
        self
    }

    /// Sets the memory size in MB that the function is told. The default is 128. The emulator does
    /// not enforce it.
    pub fn memory_size(mut self, megabytes: u32) -> Self {
        self.memory_mb = megabytes;
        self
    }

    pub(crate) fn mode(&self) -> RuntimeMode {
        match self.concurrency {
            None => RuntimeMode::Classic,
            Some(_) => RuntimeMode::Concurrent,
        }
    }
}

impl Default for Function {
    fn default() -> Self {
        Self::new()
    }
}
