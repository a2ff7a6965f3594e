use hyper_rustls::MaybeHttpsStream;
use presized_support::server::{Protocol, Server, known};
use rustls::ClientConfig;
use socket2::SockRef;
#[cfg(target_os = "linux")]
use socket2::{Domain, Socket, Type};
use tower_service::Service;

use super::*;
#[cfg(target_os = "linux")]
use crate::connect_error::ConnectError;
use crate::tls_settings::TlsSettings;

#[tokio::test]
async fn refused_connection_is_a_failure_to_connect() {
    let (listener, address) = listen().await;
    drop(listener);
    let outcome = within(exchange(transport(HttpVersion::Http1).send(post(address, "{}")))).await;
    assert_eq!(outcome, Err(Phase::Connect));
}

#[tokio::test]
async fn connect_timeout_includes_the_tls_handshake() {
    // The kernel accepts the connection, and the server sends nothing.
    let (_listener, address) = listen().await;
    let connector =
        Connector::tls(trusting(None), HttpVersion::Http1, Duration::from_millis(50), None);
    let sending = Transport::new(connector, IDLE_TIMEOUT).send(secure(address));
    let error = within(sending).await.unwrap_err();
    assert_eq!(error.phase, Phase::Connect);
    assert_eq!(error.source.to_string(), format!("request to {address} failed"));
    let source = error.source.source().expect("the timeout");
    assert_eq!(source.to_string(), TIMED_OUT);
}

/// A listener whose queue is full: the kernel drops the first packet of another connection.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn timeout_of_tcp_names_the_connect_timeout() {
    use std::net::TcpStream;

    let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
    socket.bind(&SocketAddr::from((Ipv4Addr::LOCALHOST, 0)).into()).unwrap();
    socket.listen(0).unwrap();
    let address = socket.local_addr().unwrap().as_socket().unwrap();
    let connect = |_| TcpStream::connect_timeout(&address, Duration::from_millis(100)).ok();
    let queue: Vec<_> = (0..64).map_while(connect).collect();
    assert!(queue.len() < 64, "the queue has an end");

    let connector = Connector::tcp(HttpVersion::Http1, Duration::from_millis(50), None);
    let error = within(Transport::new(connector, IDLE_TIMEOUT).send(post(address, "{}"))).await;
    let error = error.unwrap_err();
    assert_eq!(error.phase, Phase::Connect);
    let source = error.source.source().expect("the timeout");
    assert_eq!(source.to_string(), TIMED_OUT);
    assert!(!ConnectError::is_permanent(&*error.source));
}

#[tokio::test]
async fn request_abandoned_before_it_has_a_connection_was_not_sent() {
    let (_listener, address) = listen().await;
    let mut sending = tls(None, HttpVersion::Http1).send(secure(address));
    timeout(Duration::from_millis(50), &mut sending).await.expect_err("the server sends nothing");
    assert_eq!(sending.abandon(), Phase::Connect);
}

#[tokio::test]
async fn server_that_does_not_agree_to_http2_gets_no_http2() {
    let server = Server::start(Protocol::Tls).unwrap();
    let outcomes = [
        (HttpVersion::Negotiated, Ok(Bytes::from_static(&[0; 0]))),
        (HttpVersion::Http1, Ok(Bytes::from_static(&[0; 0]))),
        (HttpVersion::Http2, Err(Phase::Connect)),
    ];
    for (version, expected) in outcomes {
        let mut request = secure(server.endpoint().address);
        *request.uri_mut() = server.endpoint().url(&known(0)).parse().unwrap();
        let outcome = within(exchange(tls(Some(&server), version).send(request))).await;
        assert_eq!(outcome, expected, "{version:?}");
    }
}

#[tokio::test]
async fn keep_alive_probes_start_before_a_gateway_drops_the_flow() {
    let server = Server::start(Protocol::Tls).unwrap();
    let (_listener, address) = listen().await;
    let secure =
        Connector::tls(trusting(Some(&server)), HttpVersion::Http1, Duration::from_secs(5), None);
    for (mut connector, uri) in [
        (plain(HttpVersion::Http1), format!("http://{address}/")),
        (secure, server.endpoint().url("/")),
    ] {
        let connection = within(connector.call(uri.parse().unwrap())).await.unwrap();
        let socket = match &connection.stream {
            MaybeHttpsStream::Http(stream) => SockRef::from(stream.tcp.inner()),
            MaybeHttpsStream::Https(stream) => {
                SockRef::from(stream.inner().get_ref().0.inner().tcp.inner())
            }
        };
        assert!(socket.keepalive().unwrap(), "{uri}");
        // Windows can set the two times, but not report them.
        #[cfg(unix)]
        assert_eq!(socket.tcp_keepalive_time().unwrap(), Duration::from_secs(60), "{uri}");
        #[cfg(unix)]
        assert_eq!(socket.tcp_keepalive_interval().unwrap(), Duration::from_secs(15), "{uri}");
        assert_eq!(socket.tcp_keepalive_retries().unwrap(), 4, "{uri}");
        assert!(socket.tcp_nodelay().unwrap(), "{uri}");
    }
}

/// The configuration of a client that trusts `server` and no other.
fn trusting(server: Option<&Server>) -> ClientConfig {
    let roots = match server {
        Some(server) => server.endpoint().certificate_pem().unwrap(),
        None => rcgen::generate_simple_self_signed([]).unwrap().cert.pem(),
    };
    let roots = vec![roots.into_bytes()];
    let settings = TlsSettings { system_roots: false, roots, identity: None };
    settings.client_config().unwrap()
}

fn tls(server: Option<&Server>, version: HttpVersion) -> Transport {
    let connector = Connector::tls(trusting(server), version, Duration::from_secs(5), None);
    Transport::new(connector, IDLE_TIMEOUT)
}

fn secure(address: SocketAddr) -> Request<Full<Bytes>> {
    let mut request = post(address, "{}");
    *request.uri_mut() = format!("https://{address}/functions/f").parse().unwrap();
    request
}

const TIMED_OUT: &str = "no connection within the connect timeout of 50ms: check the network and the \
    endpoint URL, or call connect_timeout()";

const IDLE_TIMEOUT: Duration = Duration::from_secs(60);
