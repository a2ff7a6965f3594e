//! Errors and what is behind them.

use std::error::Error;
use std::iter;

/// An error and all its sources, outermost first.
pub fn chain<'a>(
    error: &'a (dyn Error + 'static),
) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    iter::successors(Some(error), |&error| error.source())
}

/// What each error of the [`chain`] says.
pub fn messages(error: &(dyn Error + 'static)) -> Vec<String> {
    chain(error).map(ToString::to_string).collect()
}
