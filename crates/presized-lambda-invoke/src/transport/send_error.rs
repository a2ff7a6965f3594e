//! The error of a request without a response, and how far the request may have come.

use std::error::Error as StdError;
use std::fmt;

use http::uri::Authority;
use hyper_util::client::legacy;

use crate::BoxError;
use crate::causes::find;
use crate::request_body::Progress;

/// The reason why there is no response.
#[derive(Debug)]
pub(crate) struct SendError {
    pub(crate) source: BoxError,
    pub(crate) phase: Phase,
}

/// The error of a request to a host. It replaces the outermost error of hyper-util, which names
/// only the function of hyper-util that failed.
#[derive(Debug)]
pub(crate) struct TransportError {
    pub(super) host: Option<Authority>,
    /// The URL says http.
    pub(super) plain: bool,
    pub(super) error: legacy::Error,
}

impl fmt::Display for TransportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.host {
            Some(host) => write!(f, "request to {host} failed"),
            None => f.write_str("request failed"),
        }?;
        if self.plain && self.is_unparsed() {
            f.write_str(
                ": the head of the response cannot be parsed; if the server expects TLS, use https \
                 in the endpoint URL",
            )?;
        }
        Ok(())
    }
}

impl TransportError {
    /// Returns whether the request had a connection.
    pub(crate) fn had_connection(&self) -> bool {
        self.error.connect_info().is_some()
    }

    /// Returns whether the response could not be parsed, as the alert of a TLS server cannot.
    fn is_unparsed(&self) -> bool {
        let source = self.error.source().and_then(|source| source.downcast_ref::<hyper::Error>());
        source.is_some_and(hyper::Error::is_parse)
    }
}

impl StdError for TransportError {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.error.source().or(Some(&self.error))
    }
}

/// The farthest point that a request without a response may have reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// There was no connection.
    Connect,
    /// The request was not processed: the connection had not begun to send it, or the server
    /// reported so.
    NotSent,
    /// The server may have received and processed the request.
    MaybeSent,
}

impl Phase {
    pub(super) fn of(error: &legacy::Error, progress: &Progress) -> Self {
        if error.connect_info().is_none() {
            Self::Connect
        } else if !progress.begun() || refused(error, progress) {
            Self::NotSent
        } else {
            Self::MaybeSent
        }
    }
}

/// Returns whether an HTTP/2 server reported that it has not processed the request and will not
/// (RFC 9113, section 8.7).
fn refused(error: &legacy::Error, progress: &Progress) -> bool {
    let Some(error) = find::<h2::Error>(error) else { return false };
    if !error.is_remote() {
        return false;
    }
    if error.is_go_away() {
        // h2 ends a stream with the GOAWAY of the server if its number is above the last stream
        // that the server may process (section 6.8). But hyper also asks the connection after the
        // head and before the payload, and that error says nothing about the stream.
        progress.streamed()
    } else {
        error.is_reset() && error.reason() == Some(h2::Reason::REFUSED_STREAM)
    }
}
