//! One connection to one of the servers, with plain hyper.

use std::fmt;
use std::net::SocketAddr;
use std::str::FromStr;
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http::header::HOST;
use http::{Request, Response, Version};
use http_body_util::Empty;
use hyper::body::Incoming;
use hyper::client::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{self, ClientConfig, RootCertStore, crypto};

use crate::server::Protocol;

/// The error of a request without a response.
pub type Error = Box<dyn std::error::Error + Send + Sync>;

/// The address, protocol and certificate of a server. It can be passed to another process as text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// The protocol of the server.
    pub protocol: Protocol,
    /// The address of the server.
    pub address: SocketAddr,
    /// The certificate that the server presents over TLS.
    pub certificate: Option<CertificateDer<'static>>,
}

impl Endpoint {
    /// Returns the URL of `path` on this server.
    pub fn url(&self, path: &str) -> String {
        let scheme = if self.certificate.is_some() { "https" } else { "http" };
        format!("{scheme}://{}{path}", self.address)
    }

    /// Returns the certificate of the server in PEM, if it speaks TLS.
    pub fn certificate_pem(&self) -> Option<String> {
        self.certificate.as_ref().map(|certificate| pem(certificate))
    }

    /// Returns a TLS configuration that trusts this server only.
    pub fn tls(&self) -> Result<ClientConfig, Error> {
        let mut roots = RootCertStore::empty();
        if let Some(certificate) = &self.certificate {
            roots.add(certificate.clone())?;
        }
        let provider = Arc::new(crypto::ring::default_provider());
        Ok(ClientConfig::builder_with_provider(provider)
            .with_protocol_versions(&[&rustls::version::TLS13])?
            .with_root_certificates(roots)
            .with_no_client_auth())
    }
}

/// Returns a certificate in PEM.
pub fn pem(certificate: &CertificateDer<'_>) -> String {
    let certificate = STANDARD.encode(certificate);
    format!("-----BEGIN CERTIFICATE-----\n{certificate}\n-----END CERTIFICATE-----\n")
}

/// A connection that is kept alive between requests.
#[derive(Debug)]
pub struct Client {
    endpoint: Endpoint,
    sender: Sender,
    connection: JoinHandle<()>,
}

#[derive(Debug)]
enum Sender {
    Http1(http1::SendRequest<Empty<Bytes>>),
    Http2(http2::SendRequest<Empty<Bytes>>),
}

impl Client {
    /// Connects with the defaults of hyper. Call it in a tokio runtime, which then runs the connection.
    pub async fn connect(endpoint: &Endpoint) -> Result<Self, Error> {
        let stream = TcpStream::connect(endpoint.address).await?;
        stream.set_nodelay(true)?;
        let (sender, connection) = match endpoint.protocol {
            Protocol::Http1 => http1(stream).await?,
            Protocol::Tls => {
                let connector = TlsConnector::from(Arc::new(endpoint.tls()?));
                let name = ServerName::from(endpoint.address.ip());
                http1(connector.connect(name, stream).await?).await?
            }
            Protocol::Http2 => http2(stream).await?,
        };
        Ok(Self { endpoint: endpoint.clone(), sender, connection })
    }

    /// Requests `path`, as soon as the body of the previous response was read.
    pub async fn get(&mut self, path: &str) -> Result<Response<Incoming>, Error> {
        let request = Request::get(match self.sender {
            Sender::Http1(_) => path.to_owned(),
            Sender::Http2(_) => self.endpoint.url(path),
        });
        Ok(match &mut self.sender {
            Sender::Http1(sender) => {
                sender.ready().await?;
                let request = request.header(HOST, self.endpoint.address.to_string());
                sender.send_request(request.body(Empty::new())?).await?
            }
            Sender::Http2(sender) => {
                sender.ready().await?;
                let request = request.version(Version::HTTP_2);
                sender.send_request(request.body(Empty::new())?).await?
            }
        })
    }

    /// Ends the connection and waits until its memory is freed.
    pub async fn close(self) {
        drop(self.sender);
        // Fails only if the connection panicked, which was printed.
        let _ = self.connection.await;
    }
}

async fn http1<S>(stream: S) -> Result<(Sender, JoinHandle<()>), Error>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let (sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    // The request on the connection reports its error.
    let connection = tokio::spawn(async { drop(connection.await) });
    Ok((Sender::Http1(sender), connection))
}

async fn http2(stream: TcpStream) -> Result<(Sender, JoinHandle<()>), Error> {
    let (sender, connection) = http2::handshake(TokioExecutor::new(), TokioIo::new(stream)).await?;
    let connection = tokio::spawn(async { drop(connection.await) });
    Ok((Sender::Http2(sender), connection))
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let protocol = match self.protocol {
            Protocol::Http1 => "http1",
            Protocol::Http2 => "http2",
            Protocol::Tls => "tls",
        };
        write!(f, "{protocol} {} ", self.address)?;
        self.certificate.iter().flat_map(|der| der.iter()).try_for_each(|b| write!(f, "{b:02x}"))
    }
}

impl FromStr for Endpoint {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let mut words = text.splitn(3, ' ');
        let mut word = || words.next().ok_or("an endpoint is three words");
        let protocol = match word()? {
            "http1" => Protocol::Http1,
            "http2" => Protocol::Http2,
            "tls" => Protocol::Tls,
            other => return Err(format!("unknown protocol {other}").into()),
        };
        let address = word()?.parse()?;
        let der = word()?
            .as_bytes()
            .chunks(2)
            .map(|digits| u8::from_str_radix(std::str::from_utf8(digits)?, 16).map_err(Error::from))
            .collect::<Result<Vec<u8>, _>>()?;
        let certificate = (!der.is_empty()).then(|| CertificateDer::from(der));
        Ok(Self { protocol, address, certificate })
    }
}
