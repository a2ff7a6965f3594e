//! An HTTP/1.1 client of one connection, with the defaults of hyper.

use std::net::SocketAddr;

use bytes::Bytes;
use http::{Request, Response, header};
use http_body_util::Empty;
use hyper::body::Incoming;
use hyper::client::conn::http1::{self, SendRequest};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;

use crate::Error;
use crate::server::Served;

pub(crate) struct Client {
    sender: SendRequest<Empty<Bytes>>,
}

impl Client {
    pub(crate) async fn connect(address: SocketAddr) -> Result<Self, Error> {
        let stream = TcpStream::connect(address).await?;
        let (sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
        // An error of the connection is an error of the response, too.
        tokio::spawn(async { drop(connection.await) });
        Ok(Self { sender })
    }

    pub(crate) async fn get(&mut self, served: Served) -> Result<Response<Incoming>, Error> {
        let request = Request::get(served.to_string()).header(header::HOST, "localhost");
        self.sender.ready().await?;
        Ok(self.sender.send_request(request.body(Empty::new())?).await?)
    }
}
