//! How content is delivered.

/// Says how the content of a response or of a request is delivered.
///
/// In the extensions of a request it overrides [`PresizedLayer::delivery`], which is for responses.
/// It does not override [`PresizedRequestLayer::delivery`].
///
/// [`PresizedLayer::delivery`]: crate::PresizedLayer::delivery
/// [`PresizedRequestLayer::delivery`]: crate::PresizedRequestLayer::delivery
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Delivery {
    /// Delivers the whole content as one frame, when all of it has arrived.
    #[default]
    Presized,
    /// Delivers the frames as they arrive and keeps none of them.
    ///
    /// The frame that goes over the limit is not delivered: the body fails in its place. A streamed
    /// body does not use the pool, the budget, the history and the minimum rate of the reader. It
    /// does not check the declared length of the body, because the transport does.
    Streamed,
}
