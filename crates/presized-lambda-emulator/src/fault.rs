//! The faults that a test orders.

mod script;

use std::time::Duration;

use crate::response_body::Cut;

pub(crate) use self::script::FaultScript;

/// A fault that a test orders with [`Emulator::inject`](crate::Emulator::inject).
///
/// The faults of a function happen in the order in which they were injected, one for each call. A
/// fault of the Runtime API happens at the next request of a runtime.
///
/// # Examples
///
/// The function runs, but its caller does not get the whole response:
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use std::convert::Infallible;
/// use bytes::Bytes;
/// use presized_lambda_emulator::{Emulator, Fault, Function};
/// use presized_lambda_runtime::{Context, raw};
///
/// let emulator = Emulator::builder().function("echo", Function::new()).start().await?;
/// emulator.attach("echo", raw(|event: Bytes, _: Context| async { Ok::<_, Infallible>(event) }))?;
/// emulator.inject("echo", Fault::cut_after(3).times(2))?;
/// let client = emulator.client_builder().build()?;
/// for _ in 0..2 {
///     let error = client.invoke("echo").payload("payload").send().await.unwrap_err();
///     assert!(error.may_have_run());
/// }
/// assert_eq!(client.invoke("echo").payload("payload").send().await?.payload, "payload");
/// assert_eq!(emulator.stats("echo")?.started, 3);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "a fault happens only after `Emulator::inject`"]
pub struct Fault {
    pub(crate) kind: FaultKind,
    pub(crate) api: FaultyApi,
    pub(crate) times: u32,
}

/// The kind of a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FaultKind {
    Cut(Cut),
    Delay(Duration),
    Duplicate,
    ClockSkew { seconds: i64 },
    Environment(EnvironmentFault),
}

/// A fault of the environment of an invocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EnvironmentFault {
    /// It is told to end this long after its runtime has received the event.
    ShutDown(Duration),
    /// It is frozen for this long after the invocation has ended.
    Freeze(Duration),
}

/// The requests at which a fault happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FaultyApi {
    Invoke,
    Next,
    Result,
}

impl Fault {
    /// Closes the connection instead of the response. The function has run.
    ///
    /// The client sees the end of the connection, or the reset of the stream over HTTP/2.
    pub fn cut() -> Self {
        Self::of(FaultKind::Cut(Cut { after: None, resets: false }))
    }

    /// Closes the connection after `bytes` bytes of the content of the response, or after the complete
    /// response if it is not longer. The function has run.
    ///
    /// The client sees the end of the connection in the content, or a complete response and then the
    /// end of the connection. A streamed response is cut in its event stream. Over HTTP/2, the
    /// stream is reset, and a complete response has no fault.
    pub fn cut_after(bytes: u64) -> Self {
        Self::of(FaultKind::Cut(Cut { after: Some(bytes), resets: false }))
    }

    /// Resets the TCP connection instead of the response. The function has run.
    ///
    /// The client sees the error of the operating system for a reset. Over HTTP/2, only the stream is
    /// reset.
    pub fn reset() -> Self {
        Self::of(FaultKind::Cut(Cut { after: None, resets: true }))
    }

    /// Delays the response by `time`. The function has run.
    pub fn delay(time: Duration) -> Self {
        Self::of(FaultKind::Delay(time))
    }

    /// Delivers the event once more after the invocation has ended, with the same request id.
    ///
    /// The caller gets the response to the first delivery. Lambda delivers asynchronous events
    /// [at least once](https://docs.aws.amazon.com/lambda/latest/dg/invocation-async.html).
    pub fn duplicate() -> Self {
        Self::of(FaultKind::Duplicate)
    }

    /// Sets the clock of the Invoke API forward by `seconds`, or back if they are negative.
    ///
    /// A response has the `Date` of that clock. A call whose `X-Amz-Date` differs from it by more than
    /// 5 minutes is refused with status 403 and the code `InvalidSignatureException`, before the
    /// function runs. Use it with [`times`](Self::times) for a clock that stays wrong.
    pub fn clock_skew(seconds: i64) -> Self {
        Self::of(FaultKind::ClockSkew { seconds })
    }

    /// Ends the environment while the function runs: a process gets SIGTERM, and the runtime of a
    /// handler its shutdown signal, `after` the event was sent to it. After 500 ms more, it is killed.
    ///
    /// The caller gets the response if the function sends it in time, or else the error type
    /// `Runtime.ExitError`. The next invocation has a cold start. It has no effect on runtimes that
    /// the emulator does not run.
    pub fn shut_down(after: Duration) -> Self {
        Self::of(FaultKind::Environment(EnvironmentFault::ShutDown(after)))
    }

    /// Freezes the environment for `time` when the invocation has ended, as Lambda does between
    /// invocations.
    ///
    /// A process is stopped by SIGSTOP, except on Windows, and the task of a handler is not polled.
    /// Meanwhile, servers can close the connections of the function. The next invocation gets another
    /// environment, or waits if the concurrency of the function is used up. It has no effect on
    /// runtimes that the emulator does not run.
    pub fn freeze(time: Duration) -> Self {
        Self::of(FaultKind::Environment(EnvironmentFault::Freeze(time)))
    }

    /// Sets how many times the fault happens. The default is 1.
    pub fn times(mut self, times: u32) -> Self {
        self.times = times;
        self
    }

    /// Moves the fault to the response to a `next` of a runtime, which has the event.
    ///
    /// If the event is not delivered completely, it is delivered to the next `next`.
    ///
    /// # Panics
    ///
    /// Panics if the fault is not a cut, a reset or a delay.
    #[track_caller]
    pub fn on_next(self) -> Self {
        self.on(FaultyApi::Next)
    }

    /// Moves the fault to the reply of the Runtime API to a posted response or error, which the
    /// emulator accepts.
    ///
    /// # Panics
    ///
    /// Panics if the fault is not a cut, a reset or a delay.
    #[track_caller]
    pub fn on_result(self) -> Self {
        self.on(FaultyApi::Result)
    }

    fn of(kind: FaultKind) -> Self {
        Self { kind, api: FaultyApi::Invoke, times: 1 }
    }

    #[track_caller]
    fn on(mut self, api: FaultyApi) -> Self {
        let is_of_response = matches!(self.kind, FaultKind::Cut(_) | FaultKind::Delay(_));
        assert!(is_of_response, "only a cut, a reset or a delay is a fault of the Runtime API");
        self.api = api;
        self
    }
}
