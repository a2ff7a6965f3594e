//! Why a reader refused a body, found through layers of errors of any type.

use std::error::Error;
use std::io;

use super::CollectError;

/// The reason for which a reader refuses a body that another reader could accept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    TooLarge,
    NoMemory,
    TooLate,
}

impl Refusal {
    const ALL: [Self; 3] = [Self::TooLarge, Self::NoMemory, Self::TooLate];

    /// Returns the reason of the first refusal among `error` and its causes.
    pub(super) fn of(error: &(dyn Error + 'static)) -> Option<Self> {
        let mut next = Some(error);
        while let Some(error) = next {
            // A `CollectError<T>` can be found by downcasting only if `T` is known, and `T` is the
            // error of any body. The description is the one method of `Error` that tells it for
            // every `T`. Other versions of this crate and presized-decode have the same words.
            #[allow(deprecated)]
            let description = error.description();
            let refusal =
                Self::ALL.into_iter().find(|refusal| refusal.description() == description);
            if refusal.is_some() {
                return refusal;
            }
            next = match error.downcast_ref::<io::Error>().and_then(io::Error::get_ref) {
                // The source of an `io::Error` is that of the error inside of it.
                Some(inner) => Some(inner),
                None => error.source(),
            };
        }
        None
    }

    pub(super) fn of_this<E>(error: &CollectError<E>) -> Option<Self> {
        match error {
            CollectError::DeclaredTooLarge { .. } | CollectError::TooLarge { .. } => {
                Some(Self::TooLarge)
            }
            CollectError::OutOfMemory { .. } | CollectError::Budget { .. } => Some(Self::NoMemory),
            CollectError::Stopped { awaited: Some(_), .. } => Some(Self::NoMemory),
            CollectError::Stopped { .. } | CollectError::TooSlow { .. } => Some(Self::TooLate),
            _ => None,
        }
    }

    pub(super) fn description(self) -> &'static str {
        match self {
            Self::TooLarge => "presized: body is over the limit",
            Self::NoMemory => "presized: no memory for the body",
            Self::TooLate => "presized: body took too long",
        }
    }
}
