//! The declared length of one body, and what is expected of the body.
//!
//! Pure. [`Declared`] holds what the head and the caller declare. The [`Expectation`] is decided
//! once, before the body is polled for the first time, and never changes.

use http::header::TRAILER;
use http::{HeaderMap, Method, request, response};
use http_body::SizeHint;

use crate::content_length::has_no_content;
use crate::{ContentLength, Mismatch, Reader};

/// The declarations of the message head and of the caller about one body.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Declared {
    pub(crate) content_length: ContentLength,
    pub(crate) trailers_announced: bool,
    /// The message has no content by its method and status, whatever else is declared.
    no_content: bool,
}

impl Declared {
    pub(crate) fn by_response(method: &Method, head: &response::Parts) -> Self {
        Self {
            content_length: ContentLength::of_response(method, head),
            trailers_announced: announces_trailers(&head.headers),
            no_content: has_no_content(method, head),
        }
    }

    pub(crate) fn by_request(head: &request::Parts) -> Self {
        Self {
            content_length: ContentLength::from_headers(&head.headers),
            trailers_announced: announces_trailers(&head.headers),
            no_content: false,
        }
    }

    /// Decides what is expected, for a body that is in this state before it is polled.
    pub(crate) fn expectation(
        self,
        reader: &Reader,
        is_end_stream: bool,
        hint: SizeHint,
    ) -> Expectation {
        let (length, least) = if is_end_stream {
            // The transport knows that no content follows, as after a HEAD request.
            (ContentLength::Exact(0), 0)
        } else if self.no_content {
            // Until the last frame has come, hyper gives the body of a HEAD response over HTTP/2
            // the size that Content-Length says.
            (ContentLength::Exact(0), 0)
        } else {
            combine(self.content_length, hint)
        };
        let mismatch = reader.get_mismatch();
        Expectation {
            length,
            least,
            rejects_shorter: mismatch != Mismatch::Allow,
            rejects_longer: mismatch == Mismatch::Reject,
            needs_trailers: self.trailers_announced,
            needs_end: reader.get_checked_at_end(),
        }
    }
}

/// The expectation of one body, and the meaning of each difference from it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Expectation {
    /// The length, exact or not. It is reported in statistics and errors.
    pub(crate) length: ContentLength,
    /// The fewest bytes that the body declares to have.
    pub(crate) least: u64,
    rejects_shorter: bool,
    rejects_longer: bool,
    needs_trailers: bool,
    needs_end: bool,
}

impl Expectation {
    /// The exact length, if there is one.
    pub(crate) fn exact(&self) -> Option<u64> {
        match self.length {
            ContentLength::Exact(length) => Some(length),
            _ => None,
        }
    }

    /// Notes that the body has ended before any content.
    ///
    /// The transport has seen the end of the message and found its length right, so this is the
    /// response to a HEAD request. hyper reports it like that if a response over HTTP/2 ends in an
    /// empty DATA frame.
    pub(crate) fn no_content(&mut self) {
        if self.exact().is_some() {
            self.length = ContentLength::Exact(0);
        }
    }

    /// The declared length, if a body that has delivered `received` bytes is too long.
    pub(crate) fn longer(&self, received: u64) -> Option<u64> {
        self.exact().filter(|&declared| self.rejects_longer && received > declared)
    }

    /// The declared length, if a body that ends after `received` bytes is too short.
    pub(crate) fn shorter(&self, received: u64) -> Option<u64> {
        self.exact().filter(|&declared| self.rejects_shorter && received < declared)
    }

    /// Returns whether an error after `received` bytes leaves the content complete.
    pub(crate) fn is_complete(&self, received: u64, has_trailers: bool) -> bool {
        !self.needs_end && self.exact() == Some(received) && (!self.needs_trailers || has_trailers)
    }
}

/// Combines the declared length with the size hint of the body. Returns the length to use, and
/// the fewest bytes that are declared.
fn combine(declared: ContentLength, hint: SizeHint) -> (ContentLength, u64) {
    let length = match (hint.exact(), declared) {
        // The transport has applied the framing rules to the whole message.
        (Some(exact), _) => ContentLength::Exact(exact),
        (None, ContentLength::Exact(_) | ContentLength::Hint(_)) => declared,
        (None, _) if hint.lower() == 0 => declared,
        (None, _) => ContentLength::Hint(hint.lower()),
    };
    match length {
        ContentLength::Exact(exact) => (length, exact.max(hint.lower())),
        // The length of the coded form says nothing about the decoded form; the body does.
        _ => (length, hint.lower()),
    }
}

/// Returns whether the Trailer field is there (RFC 9110 §6.6.2).
fn announces_trailers(headers: &HeaderMap) -> bool {
    headers.contains_key(TRAILER)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ContentLength::{Exact, Hint, Invalid, Unknown};

    fn hint(lower: u64, upper: Option<u64>) -> SizeHint {
        let mut hint = SizeHint::new();
        hint.set_lower(lower);
        if let Some(upper) = upper {
            hint.set_upper(upper);
        }
        hint
    }

    fn judge(declared: Declared, mismatch: Mismatch, hint: SizeHint) -> Expectation {
        declared.expectation(&Reader::new(100).mismatch(mismatch), false, hint)
    }

    fn declared(content_length: ContentLength) -> Declared {
        Declared { content_length, ..Declared::default() }
    }

    #[test]
    fn exact_size_hint_outranks_declared_length() {
        let table = [
            // declared, size hint, length, fewest bytes
            (Unknown, hint(0, None), Unknown, 0),
            (Invalid, hint(0, None), Invalid, 0),
            (Exact(5), hint(0, None), Exact(5), 5),
            (Hint(5), hint(0, None), Hint(5), 0),
            (Unknown, hint(7, Some(7)), Exact(7), 7),
            (Invalid, hint(7, Some(7)), Exact(7), 7),
            (Exact(5), hint(7, Some(7)), Exact(7), 7),
            (Hint(5), hint(7, Some(7)), Exact(7), 7),
            (Exact(5), hint(0, Some(0)), Exact(0), 0),
            (Unknown, hint(7, None), Hint(7), 7),
            (Invalid, hint(7, Some(9)), Hint(7), 7),
            (Exact(5), hint(7, None), Exact(5), 7),
            (Hint(5), hint(7, None), Hint(5), 7),
            (Unknown, hint(0, Some(9)), Unknown, 0),
            (Exact(u64::MAX), hint(0, None), Exact(u64::MAX), u64::MAX),
        ];
        for (content_length, hint, length, least) in table {
            let expectation = judge(declared(content_length), Mismatch::default(), hint);
            let found = (expectation.length, expectation.least);
            assert_eq!(found, (length, least), "{content_length:?} {hint:?}");
        }
    }

    #[test]
    fn message_without_content_is_empty_whatever_is_declared() {
        let declared = Declared { no_content: true, ..declared(Exact(9)) };
        let expectation = judge(declared, Mismatch::default(), hint(9, Some(9)));
        assert_eq!((expectation.length, expectation.least), (Exact(0), 0));
    }

    #[test]
    fn body_at_its_end_is_empty_whatever_is_declared() {
        let expectation = declared(Exact(9)).expectation(&Reader::new(100), true, hint(0, None));
        assert_eq!((expectation.length, expectation.least), (Exact(0), 0));
    }

    #[test]
    fn mismatch_decides_which_differences_are_errors() {
        let table = [
            // rule, error at 4 of 5, error at 6 of 5
            (Mismatch::RejectShorter, Some(5), None),
            (Mismatch::Reject, Some(5), Some(5)),
            (Mismatch::Allow, None, None),
        ];
        for (mismatch, shorter, longer) in table {
            let expectation = judge(declared(Exact(5)), mismatch, hint(0, None));
            assert_eq!(
                (expectation.shorter(4), expectation.longer(6)),
                (shorter, longer),
                "{mismatch:?}"
            );
            assert_eq!(
                (expectation.shorter(5), expectation.longer(5)),
                (None, None),
                "{mismatch:?}"
            );
            let expectation = judge(declared(Hint(5)), mismatch, hint(0, None));
            assert_eq!(
                (expectation.shorter(4), expectation.longer(6)),
                (None, None),
                "{mismatch:?}"
            );
        }
    }

    #[test]
    fn error_after_the_last_byte_leaves_content_complete_unless_more_is_needed() {
        let plain = judge(declared(Exact(5)), Mismatch::default(), hint(0, None));
        assert!(plain.is_complete(5, false));
        assert!(!plain.is_complete(4, false) && !plain.is_complete(6, false));
        let announced = Declared { trailers_announced: true, ..declared(Exact(5)) };
        let announced = judge(announced, Mismatch::default(), hint(0, None));
        assert!(!announced.is_complete(5, false) && announced.is_complete(5, true));
        let reader = Reader::new(100).checked_at_end(true);
        let checked = declared(Exact(5)).expectation(&reader, false, hint(0, None));
        assert!(!checked.is_complete(5, true));
    }
}
