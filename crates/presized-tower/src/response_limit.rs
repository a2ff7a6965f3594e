//! The limit of one response, as a request extension.

/// Sets the limit of one response in bytes, inclusive.
///
/// In the extensions of a request it overrides the limit of the layer, whether it is lower or
/// higher. A plain number in the extensions has no effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResponseLimit(pub u64);

impl ResponseLimit {
    /// No limit, for content without an end.
    ///
    /// Use it with [`Delivery::Streamed`](crate::Delivery::Streamed) only. With
    /// [`Delivery::Presized`](crate::Delivery::Presized) the whole response is read into memory,
    /// until an allocation fails.
    pub const NONE: Self = Self(u64::MAX);
}
