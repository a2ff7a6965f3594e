//! Errors and their sources.

use std::error::Error;
use std::iter;

/// Returns an error and all its sources, outermost first.
pub fn chain<'a>(
    error: &'a (dyn Error + 'static),
) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    iter::successors(Some(error), |&error| error.source())
}

/// Returns the message of each error of the [`chain`].
pub fn messages(error: &(dyn Error + 'static)) -> Vec<String> {
    chain(error).map(ToString::to_string).collect()
}
