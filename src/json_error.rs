//! The error of parsing JSON, without the content.

use std::error::Error;
use std::fmt;

use serde_json::error::Category;

/// The error of parsing content as JSON of the requested type.
///
/// serde quotes a value of the wrong type in its message: a whole string, or the name of a field.
/// `Display` and `Debug` of this error show the kind of the error and its position, and nothing of
/// the content, so that a log reveals no secret. [`get_ref`](Self::get_ref) gives the error of
/// serde, which is not the [`source`](Error::source) for the same reason.
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
/// assert_eq!(source.to_string(), "JSON has an unexpected type or shape at line 1 column 0");
/// assert_eq!((source.line(), source.column()), (1, 0));
/// # }
/// ```
pub struct JsonError(serde_json::Error);

impl JsonError {
    pub(crate) fn new(error: serde_json::Error) -> Self {
        Self(error)
    }

    /// Returns the line of the error, counted from 1, or 0 if it is not known.
    pub fn line(&self) -> usize {
        self.0.line()
    }

    /// Returns the column of the error in bytes, counted from 1, or 0 if it is not known.
    pub fn column(&self) -> usize {
        self.0.column()
    }

    /// Returns the error of the parser. Its message can quote the content.
    ///
    /// To get the `serde_json::Error`, call `downcast_ref::<serde_json::Error>()`.
    pub fn get_ref(&self) -> &(dyn Error + Send + Sync + 'static) {
        &self.0
    }

    /// Returns the error of the parser by value. Its message can quote the content.
    ///
    /// To get the `serde_json::Error`, call `downcast::<serde_json::Error>()`.
    pub fn into_inner(self) -> Box<dyn Error + Send + Sync> {
        self.0.into()
    }
}

impl fmt::Display for JsonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(error) = self;
        match error.classify() {
            // These messages of the parser quote nothing.
            Category::Syntax | Category::Eof | Category::Io => error.fmt(f),
            Category::Data => {
                f.write_str("JSON has an unexpected type or shape")?;
                match error.line() {
                    // The value was parsed and then rejected, so it has no position.
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
