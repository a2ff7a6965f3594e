//! A caller of functions, with a connection of its own. Its cost is not measured.

use std::convert::Infallible;
use std::fmt;

use bytes::Bytes;
use http::Request;
use http::header::HOST;
use http_body::Body;
use hyper::client::conn::http1::{self, SendRequest};
use hyper_util::rt::TokioIo;
use presized::{BufferPool, Reader};
use presized_support::client::Error;
use tokio::net::TcpStream;
use tokio::task::JoinHandle;

/// A connection to the Invoke API, which makes one call at a time.
pub struct Caller<B> {
    sender: SendRequest<B>,
    connection: JoinHandle<hyper::Result<()>>,
    address: String,
    reader: Reader,
}

/// The response of a function.
#[derive(Debug)]
pub struct Response {
    /// The payload.
    pub payload: Bytes,
    /// Whether the payload is the error report of the function.
    pub is_failure: bool,
}

impl<B> Caller<B>
where
    B: Body<Data = Bytes, Error = Infallible> + Send + 'static,
{
    /// Connects to the address of a URL such as `http://127.0.0.1:49152`. Responses are read into
    /// buffers of `pool`.
    pub async fn connect(url: &str, pool: &BufferPool) -> Result<Self, Error> {
        let address = url
            .strip_prefix("http://")
            .ok_or("the URL of the emulator does not begin with http://")?
            .to_owned();
        let stream = TcpStream::connect(&*address).await?;
        stream.set_nodelay(true)?;
        let (sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
        let connection = tokio::spawn(connection);
        let reader = Reader::new(RESPONSE_MAX).pool(pool);
        Ok(Self { sender, connection, address, reader })
    }

    /// Calls a function and waits for its response. `context` is the client context in base64.
    pub async fn call(
        &mut self,
        function: &str,
        context: Option<&str>,
        event: B,
    ) -> Result<Response, Error> {
        let path = format!("/2015-03-31/functions/{function}/invocations");
        let mut request = Request::post(path).header(HOST, &self.address);
        if let Some(context) = context {
            request = request.header("x-amz-client-context", context);
        }
        self.sender.ready().await?;
        let response = self.sender.send_request(request.body(event)?).await?;
        let (head, body) = response.into_parts();
        let payload = self.reader.collect(body).bytes().await?;
        if !head.status.is_success() {
            let text = String::from_utf8_lossy(&payload);
            return Err(format!("the Invoke API responded with {}: {text}", head.status).into());
        }
        Ok(Response { payload, is_failure: head.headers.contains_key("x-amz-function-error") })
    }
}

impl<B> Drop for Caller<B> {
    fn drop(&mut self) {
        self.connection.abort();
    }
}

impl<B> fmt::Debug for Caller<B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Caller").field("address", &self.address).finish_non_exhaustive()
    }
}

/// More than the longest response of Lambda, in bytes.
const RESPONSE_MAX: u64 = 8 << 20;
