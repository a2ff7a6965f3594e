//! The codings of one body.

use http::HeaderMap;
use http::header::CONTENT_ENCODING;

use crate::{Coding, DecodeError};

/// The codings of one body, in the order in which they were applied.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Codings(Vec<Coding>);

impl Codings {
    /// The most codings that one body can have.
    ///
    /// Servers apply one, and a proxy in between can apply a second one. Each further coding
    /// multiplies the work that one coded byte can cause.
    pub const MAX: usize = 4;

    /// Creates a list of these codings, in the order in which they were applied.
    ///
    /// # Errors
    ///
    /// [`DecodeError::TooManyCodings`] if there are more than [`MAX`](Self::MAX).
    pub fn new(codings: impl IntoIterator<Item = Coding>) -> Result<Self, DecodeError> {
        let mut list = Vec::new();
        for coding in codings {
            if list.len() == Self::MAX {
                return Err(DecodeError::TooManyCodings { bound: Self::MAX });
            }
            list.push(coding);
        }
        Ok(Self(list))
    }

    /// Reads the Content-Encoding fields of a message (RFC 9110 §8.4).
    ///
    /// Several fields are one list. `identity` and empty elements are skipped.
    ///
    /// # Errors
    ///
    /// - [`DecodeError::UnsupportedCoding`] if a coding is unknown, or if its feature is off.
    /// - [`DecodeError::TooManyCodings`] if there are more than [`MAX`](Self::MAX).
    ///
    /// # Examples
    ///
    /// ```
    /// # #[cfg(all(feature = "gzip", feature = "brotli"))]
    /// # fn main() -> Result<(), presized_decode::DecodeError> {
    /// use http::HeaderMap;
    /// use presized_decode::{Coding, Codings};
    ///
    /// let mut headers = HeaderMap::new();
    /// headers.insert("content-encoding", "gzip, identity, br".parse().unwrap());
    /// let codings = Codings::from_headers(&headers)?;
    /// assert_eq!(codings.as_slice(), [Coding::Gzip, Coding::Brotli]);
    /// # Ok(())
    /// # }
    /// # #[cfg(not(all(feature = "gzip", feature = "brotli")))]
    /// # fn main() {}
    /// ```
    pub fn from_headers(headers: &HeaderMap) -> Result<Self, DecodeError> {
        let mut codings = Vec::new();
        for field in headers.get_all(CONTENT_ENCODING) {
            for name in field.as_bytes().split(|&byte| byte == b',').map(<[u8]>::trim_ascii) {
                if name.is_empty() || name.eq_ignore_ascii_case(b"identity") {
                    continue;
                }
                if codings.len() == Self::MAX {
                    return Err(DecodeError::TooManyCodings { bound: Self::MAX });
                }
                let name = String::from_utf8_lossy(name);
                let Some(coding) = Coding::from_name(&name) else {
                    return Err(DecodeError::UnsupportedCoding { coding: name.into() });
                };
                codings.push(coding);
            }
        }
        Ok(Self(codings))
    }

    /// Returns the codings in the order in which they were applied.
    pub fn as_slice(&self) -> &[Coding] {
        &self.0
    }

    /// Returns whether there is no coding to decode.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl From<Coding> for Codings {
    fn from(coding: Coding) -> Self {
        Self(vec![coding])
    }
}
