//! The answer of a provider, kept until shortly before it expires.
//!
//! How a provider comes by credentials is its own affair. How long a call waits for them is its
//! caller's: nothing here ends a wait while there are none that are valid.

use std::error::Error;
use std::fmt;
use std::time::{Duration, SystemTime};

use aws_credential_types::Credentials;
use aws_credential_types::provider::error::CredentialsError as ProviderError;
use aws_credential_types::provider::{ProvideCredentials, SharedCredentialsProvider};
use tokio::time::timeout;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Asks a provider once for however many calls.
///
/// A call that is given up while it asks leaves the asking to the next.
pub(crate) struct CredentialsCache {
    provider: SharedCredentialsProvider,
    clock: Box<dyn Fn() -> SystemTime + Send + Sync>,
    state: Mutex<State>,
    /// Held by the call that asks while there is nothing to hand out.
    asking: tokio::sync::Mutex<()>,
}

#[derive(Default)]
struct State {
    kept: Option<Kept>,
    /// How often calls that had nothing else were given an error, and the last one.
    failures: u64,
    failure: Option<CredentialsError>,
}

struct Kept {
    credentials: Credentials,
    /// Where they do expire.
    expiry: Option<Expiry>,
}

struct Expiry {
    at: SystemTime,
    refresh_at: SystemTime,
}

enum Found {
    /// Not to be refreshed yet, or by another call.
    Fresh(Credentials),
    /// To be refreshed by who is told so, though there is some time left.
    Expiring {
        credentials: Credentials,
        left: Duration,
    },
    Nothing,
}

impl CredentialsCache {
    pub(crate) fn new(provider: SharedCredentialsProvider) -> Self {
        Self::with_clock(provider, SystemTime::now)
    }

    fn with_clock(
        provider: SharedCredentialsProvider,
        clock: impl Fn() -> SystemTime + Send + Sync + 'static,
    ) -> Self {
        let (clock, state, asking) =
            (Box::new(clock), Mutex::default(), tokio::sync::Mutex::default());
        Self { provider, clock, state, asking }
    }

    /// Credentials that are valid by this machine's clock. At once, while those that are kept are
    /// not about to expire.
    pub(crate) async fn get(&self) -> Result<Credentials, CredentialsError> {
        match self.find() {
            Found::Fresh(credentials) => Ok(credentials),
            Found::Expiring { left, .. } => self.refresh(left).await,
            Found::Nothing => self.load_with_others().await,
        }
    }

    /// Forgets credentials that the service has refused. Others, which another call may have been
    /// given meanwhile, are kept.
    pub(crate) fn invalidate(&self, refused: &Credentials) {
        let mut state = self.lock();
        if state.kept.as_ref().is_some_and(|kept| kept.credentials == *refused) {
            state.kept = None;
        }
    }

    fn find(&self) -> Found {
        let mut state = self.lock();
        let Some(Kept { credentials, expiry }) = &mut state.kept else { return Found::Nothing };
        let credentials = credentials.clone();
        let Some(expiry) = expiry else { return Found::Fresh(credentials) };
        let now = (self.clock)();
        let Some(left) = left(expiry.at, now) else { return Found::Nothing };
        if now < expiry.refresh_at {
            return Found::Fresh(credentials);
        }
        // Set here, so that the next calls are not held up as well if this one is given up.
        expiry.refresh_at = now + PAUSE;
        Found::Expiring { credentials, left }
    }

    /// Asks while there is something else to hand out, and so neither for long nor at any price.
    async fn refresh(&self, left: Duration) -> Result<Credentials, CredentialsError> {
        match timeout(left.min(PATIENCE), self.load()).await {
            Ok(Ok(credentials)) => return Ok(credentials),
            Ok(Err(error)) => {
                let error: &(dyn Error + 'static) = &error;
                tracing::warn!(error, "credentials that expire soon could not be refreshed");
            }
            Err(_) => tracing::warn!("the provider of credentials that expire soon is slow"),
        }
        self.load_with_others().await
    }

    /// Hands out what there is once no other call is asking, and asks if there is nothing. A call
    /// that waited takes a failure as its own: one after the other, many would take for ever.
    async fn load_with_others(&self) -> Result<Credentials, CredentialsError> {
        let failures = self.lock().failures;
        let _asking = self.asking.lock().await;
        if let Found::Fresh(credentials) | Found::Expiring { credentials, .. } = self.find() {
            return Ok(credentials);
        }
        if let Some(failure) = self.lock().failure_since(failures) {
            return Err(failure);
        }
        let loaded = self.load().await;
        if let Err(failure) = &loaded {
            let mut state = self.lock();
            state.failures += 1;
            state.failure = Some(failure.clone());
        }
        loaded
    }

    async fn load(&self) -> Result<Credentials, CredentialsError> {
        let answer = self.provider.provide_credentials().await;
        let credentials = answer.map_err(|error| CredentialsError::Provider(Arc::new(error)))?;
        let expiry = match credentials.expiry() {
            Some(at) => Some(Expiry::new(at, (self.clock)())?),
            None => None,
        };
        self.lock().kept = Some(Kept { credentials: credentials.clone(), expiry });
        Ok(credentials)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Each write replaces a value whole, so a panic cannot leave half of one.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for CredentialsCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CredentialsCache").finish_non_exhaustive()
    }
}

impl State {
    fn failure_since(&self, failures: u64) -> Option<CredentialsError> {
        self.failure.clone().filter(|_| self.failures != failures)
    }
}

impl Expiry {
    fn new(at: SystemTime, now: SystemTime) -> Result<Self, CredentialsError> {
        let left = left(at, now).ok_or(CredentialsError::Expired { at, now })?;
        Ok(Self { at, refresh_at: at - MARGIN.min(left / 10) })
    }
}

/// Why there are no credentials.
#[derive(Clone, Debug)]
pub(crate) enum CredentialsError {
    Provider(Arc<ProviderError>),
    /// What the provider gave is of no use: it would be asked again on every call.
    Expired {
        at: SystemTime,
        now: SystemTime,
    },
}

impl fmt::Display for CredentialsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Provider(_) => f.write_str("the credentials provider gave none"),
            Self::Expired { at, now } => {
                let ago = now.duration_since(*at).unwrap_or_default();
                write!(
                    f,
                    "the credentials provider gave some that expired {ago:?} ago by the clock of \
                     this machine"
                )
            }
        }
    }
}

impl Error for CredentialsError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Provider(error) => Some(&**error),
            Self::Expired { .. } => None,
        }
    }
}

fn left(expiry: SystemTime, now: SystemTime) -> Option<Duration> {
    expiry.duration_since(now).ok().filter(|left| !left.is_zero())
}

/// How long before they expire credentials are refreshed, if a tenth of the time they last is not
/// less. EC2 has the next ones ready five minutes ahead
/// (<https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/instance-metadata-security-credentials.html>).
const MARGIN: Duration = Duration::from_secs(5 * 60);
/// How long a call waits for a refresh that it could do without: what the AWS SDK
/// for Rust gives a provider.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long no other refresh is begun, so that a broken provider slows down one call out of many.
const PAUSE: Duration = Duration::from_secs(10);

#[cfg(test)]
mod tests;
