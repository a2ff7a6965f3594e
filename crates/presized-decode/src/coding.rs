//! The content codings.

use std::fmt;

/// A content coding (RFC 9110 §8.4.1). Each is a feature of this crate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Coding {
    /// `gzip` and `x-gzip` (RFC 1952).
    #[cfg(feature = "gzip")]
    #[cfg_attr(docsrs, doc(cfg(feature = "gzip")))]
    Gzip,
    /// `deflate`, which is the zlib format (RFC 1950). Some servers send raw deflate (RFC 1951)
    /// under this name. It is decoded too.
    #[cfg(feature = "deflate")]
    #[cfg_attr(docsrs, doc(cfg(feature = "deflate")))]
    Deflate,
    /// `br` (RFC 7932).
    #[cfg(feature = "brotli")]
    #[cfg_attr(docsrs, doc(cfg(feature = "brotli")))]
    Brotli,
    /// `zstd` (RFC 8878).
    #[cfg(feature = "zstd")]
    #[cfg_attr(docsrs, doc(cfg(feature = "zstd")))]
    Zstd,
}

impl Coding {
    /// Every coding whose feature is on, the most effective first.
    pub const ALL: &[Self] = &[
        #[cfg(feature = "zstd")]
        Self::Zstd,
        #[cfg(feature = "brotli")]
        Self::Brotli,
        #[cfg(feature = "gzip")]
        Self::Gzip,
        #[cfg(feature = "deflate")]
        Self::Deflate,
    ];

    /// Returns the name of the coding in Content-Encoding and Accept-Encoding.
    pub fn name(self) -> &'static str {
        match self {
            #[cfg(feature = "gzip")]
            Self::Gzip => "gzip",
            #[cfg(feature = "deflate")]
            Self::Deflate => "deflate",
            #[cfg(feature = "brotli")]
            Self::Brotli => "br",
            #[cfg(feature = "zstd")]
            Self::Zstd => "zstd",
        }
    }

    /// Returns the coding with this name. Case is ignored, and `x-gzip` is gzip (RFC 9110
    /// §8.4.1.3).
    ///
    /// # Examples
    ///
    /// ```
    /// use presized_decode::Coding;
    ///
    /// # #[cfg(feature = "gzip")]
    /// assert_eq!(Coding::from_name("X-GZIP"), Some(Coding::Gzip));
    /// assert_eq!(Coding::from_name("compress"), None);
    /// ```
    pub fn from_name(name: &str) -> Option<Self> {
        let name = if name.eq_ignore_ascii_case("x-gzip") { "gzip" } else { name };
        Self::ALL.iter().copied().find(|coding| name.eq_ignore_ascii_case(coding.name()))
    }
}

impl fmt::Display for Coding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
