//! The headers of a call.

use http::header::{HeaderName, HeaderValue};

use super::Invoke;
use crate::input_error::InputError;
use crate::trace;
use crate::wire::TRACE_ID;

impl<R> Invoke<R> {
    /// Sets the trace header `X-Amzn-Trace-Id` of a call that one function makes to another.
    ///
    /// It connects the calls in X-Ray, and without it Lambda cannot stop functions that call each
    /// other [in a loop](https://docs.aws.amazon.com/lambda/latest/dg/invocation-recursion.html).
    /// Characters that a header cannot have are percent-encoded. The header is not signed, because
    /// X-Ray changes it.
    ///
    /// If it is not set, or is set to `None` or to blank text, the variable `_X_AMZN_TRACE_ID` is
    /// sent. The client reads it when the call is sent, if
    /// [`ClientBuilder::environment`](crate::ClientBuilder::environment) was called and
    /// `AWS_LAMBDA_FUNCTION_NAME` is set.
    ///
    /// The runtime has to set that variable for each invocation. `presized-lambda-runtime` does not,
    /// and no runtime does where a process serves several invocations at a time. Pass
    /// `context.trace_id` on there, as in the example.
    ///
    /// # Examples
    ///
    /// ```
    /// # use presized_lambda_emulator::{Emulator, Function};
    /// # use presized_lambda_runtime::raw;
    /// use bytes::Bytes;
    /// use presized_lambda_invoke::{Client, Error};
    /// use presized_lambda_runtime::Context;
    ///
    /// /// Calls another function for an event.
    /// async fn front(client: Client, event: Bytes, context: Context) -> Result<Bytes, Error> {
    ///     let call = client.invoke("back").payload(event);
    ///     Ok(call.trace_id(context.trace_id.as_deref()).send().await?.payload)
    /// }
    /// # async fn back(_event: Bytes, context: Context) -> Result<String, Error> {
    /// #     Ok(context.trace_id.unwrap_or_default())
    /// # }
    /// # #[tokio::main]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let functions = Emulator::builder().function("front", Function::new());
    /// # let emulator = functions.function("back", Function::new()).start().await?;
    /// # let client = emulator.client_builder().build()?;
    /// # let inner = client.clone();
    /// # emulator.attach("front", raw(move |event, context| front(inner.clone(), event, context)))?;
    /// # emulator.attach("back", raw(back))?;
    /// # let trace = "Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=1";
    /// # let invocation = client.invoke("front").trace_id(trace).send().await?;
    /// # assert_eq!(invocation.into_result()?.text()?, trace);
    /// # Ok(())
    /// # }
    /// ```
    pub fn trace_id<'a>(mut self, trace_id: impl Into<Option<&'a str>>) -> Self {
        match trace_id.into().and_then(trace::header_value) {
            Some(value) => self.headers.insert(TRACE_ID, value),
            None => self.headers.remove(TRACE_ID),
        };
        self
    }

    /// Sets a header that has no setter of its own. It is signed, and it replaces a header of the
    /// same name.
    ///
    /// A value may have any bytes except control characters other than a tab. A value that is not
    /// UTF-8 is signed byte for byte, and the server decides whether it accepts it.
    ///
    /// The call fails with [`ErrorKind::BadInput`](crate::ErrorKind::BadInput) and is not sent if
    /// the name or the value is invalid, or if the value begins or ends with a space or a tab. It
    /// fails too if the client sets the header itself: `Host`, `Authorization`, `Content-Length`,
    /// `User-Agent`, the headers of a signature, of a trace and of a connection.
    ///
    /// # Examples
    ///
    /// ```
    /// # #[tokio::main]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # use bytes::Bytes;
    /// # use presized_lambda_emulator::{Emulator, Function};
    /// # use presized_lambda_runtime::{Context, ErrorReport, raw};
    /// # let emulator = Emulator::builder().function("f", Function::new()).start().await?;
    /// # let echo = |event: Bytes, _: Context| async { Ok::<_, ErrorReport>(event) };
    /// # emulator.attach("f", raw(echo))?;
    /// # let client = emulator.client_builder().build()?;
    /// let call = client.invoke("f").header("X-Team", "billing").header("X-Raw", &b"\xff"[..]);
    /// let invocation = call.send().await?;
    /// # invocation.into_result()?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn header<N, V>(mut self, name: N, value: V) -> Self
    where
        N: TryInto<HeaderName>,
        N::Error: Into<http::Error>,
        V: TryInto<HeaderValue>,
        V::Error: Into<http::Error>,
    {
        let name = match name.try_into() {
            Ok(name) => name,
            Err(error) => {
                self.fail(InputError::HeaderName(error.into()));
                return self;
            }
        };
        if let Some(&(_, setter)) = RESERVED.iter().find(|(reserved, _)| name == *reserved) {
            self.fail(InputError::Reserved { name, setter });
            return self;
        }
        self.option(name, value)
    }

    /// Sets a header of an option.
    pub(super) fn option<V>(mut self, name: HeaderName, value: V) -> Self
    where
        V: TryInto<HeaderValue>,
        V::Error: Into<http::Error>,
    {
        match value.try_into() {
            // RFC 9110, section 5.5: a recipient removes them, and would see another tenant.
            Ok(value) if has_blank_end(value.as_bytes()) => self.fail(InputError::Blank { name }),
            Ok(value) => {
                self.headers.insert(name, value);
            }
            Err(error) => self.fail(InputError::Header { name, source: error.into() }),
        }
        self
    }

    /// Sets the trace header from the environment if the call has none.
    pub(super) fn trace(&mut self) {
        let Some(lookup) = self.client.function_environment else { return };
        if !self.headers.contains_key(TRACE_ID)
            && let Some(value) = trace::of_environment(lookup)
        {
            self.headers.insert(TRACE_ID, value);
        }
    }
}

fn has_blank_end(value: &[u8]) -> bool {
    let is_blank = |byte: Option<&u8>| matches!(byte, Some(b' ' | b'\t'));
    is_blank(value.first()) || is_blank(value.last())
}

/// The headers that the client or its connection sets (RFC 9110, section 7.6.1), and the setter if
/// there is one. A hash that is not that of the payload would make the signature wrong.
const RESERVED: [(&str, Option<&str>); 17] = [
    ("authorization", None),
    ("connection", None),
    ("content-length", None),
    ("expect", None),
    ("host", None),
    ("keep-alive", None),
    ("proxy-authorization", None),
    ("proxy-connection", None),
    ("te", None),
    ("trailer", None),
    ("transfer-encoding", None),
    ("upgrade", None),
    ("user-agent", Some("ClientBuilder::user_agent()")),
    ("x-amz-content-sha256", None),
    ("x-amz-date", None),
    ("x-amz-security-token", None),
    ("x-amzn-trace-id", Some("trace_id()")),
];
