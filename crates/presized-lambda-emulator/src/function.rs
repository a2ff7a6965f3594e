//! The configuration of a function.

use std::sync::Arc;
use std::time::Duration;

use crate::failed_event::{FailedEvent, OnFailure};
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
    pub(crate) snap_start: bool,
    pub(crate) async_retries: u32,
    pub(crate) async_retry_delay: Duration,
    pub(crate) on_failure: Option<OnFailure>,
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
            snap_start: false,
            async_retries: 0,
            async_retry_delay: Duration::ZERO,
            on_failure: None,
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

    /// Restores each execution environment from a snapshot before its first invocation, as
    /// [SnapStart](https://docs.aws.amazon.com/lambda/latest/dg/snapstart.html) does.
    ///
    /// A process has `AWS_LAMBDA_INITIALIZATION_TYPE=snap-start`. Its request for `restore/next` gets
    /// a response when an invocation needs the environment. The emulator makes no snapshot, so that the
    /// process is the same before and after it. A runtime that the emulator does not run is restored
    /// at once.
    pub fn snap_start(mut self) -> Self {
        self.snap_start = true;
        self
    }

    /// Sets how many times an event of type `Event` is delivered again after a function error or a
    /// timeout. The default is 0. Lambda's default is
    /// [2](https://docs.aws.amazon.com/lambda/latest/dg/invocation-async-error-handling.html).
    pub fn async_retries(mut self, retries: u32) -> Self {
        self.async_retries = retries;
        self
    }

    /// Sets the time before an event is delivered again for the first time, and before each further
    /// time once more. The default is 0, so that a test does not wait. Lambda waits one minute, and
    /// then two.
    pub fn async_retry_delay(mut self, delay: Duration) -> Self {
        self.async_retry_delay = delay;
        self
    }

    /// Sets the function that gets the events of type `Event` whose last delivery failed, in place of
    /// a dead-letter queue. By default, they are discarded.
    ///
    /// It is called in a task of the emulator, which it must not block. A panic is logged, and has no
    /// other effect: send the event to the test, and check it there.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::sync::mpsc;
    /// use presized_lambda_emulator::Function;
    ///
    /// let (sender, dead_letters) = mpsc::channel();
    /// let function = Function::new().async_retries(2).on_failure(move |event| {
    ///     let _ = sender.send(event);
    /// });
    /// # drop((function, dead_letters));
    /// ```
    pub fn on_failure(mut self, function: impl Fn(FailedEvent) + Send + Sync + 'static) -> Self {
        self.on_failure = Some(OnFailure(Arc::new(function)));
        self
    }

    /// Returns how many times a failed event is delivered again, or `None` if its failure is ignored.
    pub(crate) fn event_retries(&self) -> Option<u32> {
        let matters = self.async_retries > 0 || self.on_failure.is_some();
        matters.then_some(self.async_retries)
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
