//! Somebody who calls a function, over a connection of its own. What that costs is not looked at.

use std::convert::Infallible;
use std::fmt;

use bytes::Bytes;
use http::Request;
use http::header::HOST;
use http_body::Body;
use hyper::client::conn::http1::{self, SendRequest};
use hyper_util::rt::TokioIo;
use presized::{BufferPool, Collect};
use presized_support::client::Error;
use tokio::net::TcpStream;
use tokio::task::JoinHandle;

/// A connection to the Invoke API, and calls on it one after the other.
pub struct Caller<B> {
    sender: SendRequest<B>,
    connection: JoinHandle<hyper::Result<()>>,
    address: String,
    pool: BufferPool,
}

/// What a function answered.
#[derive(Debug)]
pub struct Answer {
    pub payload: Bytes,
    /// The payload tells how the function failed.
    pub is_failure: bool,
}

impl<B> Caller<B>
where
    B: Body<Data = Bytes, Error = Infallible> + Send + 'static,
{
    /// Connects to the address of a URL such as `http://127.0.0.1:49152`. Answers are read into
    /// memory of `pool`.
    pub async fn connect(url: &str, pool: &BufferPool) -> Result<Self, Error> {
        let address = url.strip_prefix("http://").ok_or("no URL of an emulator")?.to_owned();
        let stream = TcpStream::connect(&*address).await?;
        stream.set_nodelay(true)?;
        let (sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
        let connection = tokio::spawn(connection);
        Ok(Self { sender, connection, address, pool: pool.clone() })
    }

    /// Calls a function and waits for its answer. What is in `context` it is told beside the
    /// event, in base64.
    pub async fn call(
        &mut self,
        function: &str,
        context: Option<&str>,
        event: B,
    ) -> Result<Answer, Error> {
        let path = format!("/2015-03-31/functions/{function}/invocations");
        let mut request = Request::post(path).header(HOST, &self.address);
        if let Some(context) = context {
            request = request.header("x-amz-client-context", context);
        }
        self.sender.ready().await?;
        let response = self.sender.send_request(request.body(event)?).await?;
        let (head, body) = response.into_parts();
        let payload = Collect::new(body, Reader::new(ANSWER_MAX).pool(&self.pool)).bytes().await?;
        if !head.status.is_success() {
            let text = String::from_utf8_lossy(&payload);
            return Err(format!("{} from the Invoke API: {text}", head.status).into());
        }
        Ok(Answer { payload, is_failure: head.headers.contains_key("x-amz-function-error") })
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

/// Above all that Lambda answers with.
const ANSWER_MAX: u64 = 8 << 20;
