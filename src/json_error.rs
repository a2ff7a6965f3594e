//! Why content is not the JSON that was asked for, without the content.

use std::error::Error;
use std::fmt;

use serde_json::error::Category;

/// Why content is not the JSON that was asked for.
///
/// Where a value is not of the type that was asked for, serde quotes it: a string in full, the
/// name of a field. `Display` and `Debug` of this error say which kind of error it is and where, and
/// nothing of the content, so that a log of it gives no secret away. What serde says can be had by
/// [`get_ref`](Self::get_ref), and is no [`source`](Error::source).
///
/// # Examples
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// use http_body_util::Full;
/// use presized::{Collect, CollectError};
///
/// let body = Full::<bytes::Bytes>::from(r#"{"token":"hunter2"}"#);
/// let error = Collect::new(body, 1024).json::<Vec<u8>>().await.unwrap_err();
/// let CollectError::InvalidJson { source, .. } = error else { unreachable!() };
/// assert_eq!(source.to_string(), "JSON of another type or shape at line 1 column 0");
/// assert!(source.get_ref().is_data());
/// # }
/// ```
pub struct JsonError(serde_json::Error);

impl JsonError {
    pub(crate) fn new(error: serde_json::Error) -> Self {
        Self(error)
    }

    /// The error of serde, whose message can quote from the content.
    pub fn get_ref(&self) -> &serde_json::Error {
        &self.0
    }

    /// The error of serde, whose message can quote from the content.
    pub fn into_inner(self) -> serde_json::Error {
        self.0
    }
}

impl fmt::Display for JsonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(error) = self;
        match error.classify() {
            // Messages of the parser's own, which quote nothing.
            Category::Syntax | Category::Eof | Category::Io => error.fmt(f),
            Category::Data => {
                f.write_str("JSON of another type or shape")?;
                match error.line() {
                    // Of a value that was read and then refused.
                    0 => Ok(()),
                    line => write!(f, " at line {line} column {}", error.column()),
                }
            }
        }
    }
}

impl fmt::Debug for JsonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("JsonError").field(&format_args!("{self}")).finish()
    }
}

impl Error for JsonError {}
