//! The causes of an error.

use std::error::Error as StdError;
use std::{io, iter};

/// Returns an error and its causes, the outermost first. `source` alone would skip the error in an
/// [`io::Error`].
pub(super) fn causes<'a>(
    error: &'a (dyn StdError + 'static),
) -> impl Iterator<Item = &'a (dyn StdError + 'static)> {
    iter::successors(Some(error), |&error| {
        match error.downcast_ref::<io::Error>().and_then(io::Error::get_ref) {
            Some(inner) => Some(inner),
            None => error.source(),
        }
    })
}

/// Returns the first error of a type among an error and its causes.
pub(super) fn find<'a, T: StdError + 'static>(
    error: &'a (dyn StdError + 'static),
) -> Option<&'a T> {
    causes(error).find_map(|error| error.downcast_ref())
}
