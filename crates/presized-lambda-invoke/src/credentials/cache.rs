//! The cache of a provider's credentials, which refreshes them shortly before they expire.
//!
//! While there are no valid credentials, the caller must bound the wait: the cache does not.

use std::error::Error as StdError;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use aws_credential_types::Credentials;
use aws_credential_types::provider::error::CredentialsError as ProviderError;
use aws_credential_types::provider::{ProvideCredentials, SharedCredentialsProvider};
use tokio::time::timeout;

/// Caches the credentials of a provider for many calls.
///
/// If a call is dropped while it waits for the provider, the next call asks the provider.
pub(crate) struct CredentialsCache {
    provider: SharedCredentialsProvider,
    clock: Box<dyn Fn() -> SystemTime + Send + Sync>,
    state: Mutex<State>,
    /// Held by the call that asks the provider while the cache has no valid credentials.
    loading: tokio::sync::Mutex<()>,
}

#[derive(Default)]
struct State {
    cached: Option<Cached>,
    /// The number of failures without valid credentials, and the last one.
    failures: u64,
    failure: Option<CredentialsError>,
}

struct Cached {
    credentials: Credentials,
    /// `None` if they do not expire.
    expiry: Option<Expiry>,
}

struct Expiry {
    at: SystemTime,
    refresh_at: SystemTime,
}

enum Found {
    /// They need no refresh, or another call refreshes them.
    Fresh(Credentials),
    /// The caller should refresh them. They are valid for `left`.
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
        let (clock, state, loading) =
            (Box::new(clock), Mutex::default(), tokio::sync::Mutex::default());
        Self { provider, clock, state, loading }
    }

    /// Returns credentials that are valid by the clock of this machine. It does not wait while the
    /// cached ones do not expire soon.
    pub(crate) async fn get(&self) -> Result<Credentials, CredentialsError> {
        match self.find() {
            Found::Fresh(credentials) => Ok(credentials),
            Found::Expiring { left, .. } => self.refresh(left).await,
            Found::Nothing => self.load_with_others().await,
        }
    }

    /// Drops credentials that the service has refused. Other credentials, which another call may
    /// have loaded since, stay in the cache.
    pub(crate) fn invalidate(&self, refused: &Credentials) {
        let mut state = self.lock();
        if state.cached.as_ref().is_some_and(|cached| cached.credentials == *refused) {
            state.cached = None;
        }
    }

    fn find(&self) -> Found {
        let mut state = self.lock();
        let Some(Cached { credentials, expiry }) = &mut state.cached else { return Found::Nothing };
        let credentials = credentials.clone();
        let Some(expiry) = expiry else { return Found::Fresh(credentials) };
        let now = (self.clock)();
        let Some(left) = left(expiry.at, now) else { return Found::Nothing };
        if now < expiry.refresh_at {
            return Found::Fresh(credentials);
        }
        // Set before the refresh, so that the next calls do not wait too if this call is dropped.
        expiry.refresh_at = now + PAUSE;
        Found::Expiring { credentials, left }
    }

    /// Refreshes credentials that are still valid. It waits a few seconds at most, and a failure is
    /// only logged.
    async fn refresh(&self, left: Duration) -> Result<Credentials, CredentialsError> {
        match timeout(left.min(PATIENCE), self.load()).await {
            Ok(Ok(credentials)) => return Ok(credentials),
            Ok(Err(error)) => {
                let error: &(dyn StdError + 'static) = &error;
                tracing::warn!(error, "credentials expire soon and could not be refreshed");
            }
            Err(_) => tracing::warn!(
                "credentials expire soon and their provider has not returned new ones"
            ),
        }
        self.load_with_others().await
    }

    /// Waits until no other call asks the provider, and then returns the cached credentials or asks
    /// the provider. If the other call failed, this call fails with the same error, because many
    /// calls that ask one after the other would take too long.
    async fn load_with_others(&self) -> Result<Credentials, CredentialsError> {
        let failures = self.lock().failures;
        let _loading = self.loading.lock().await;
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
        let provided = self.provider.provide_credentials().await;
        let credentials = provided.map_err(|error| CredentialsError::Provider(Arc::new(error)))?;
        let expiry = match credentials.expiry() {
            Some(at) => Some(Expiry::new(at, (self.clock)())?),
            None => None,
        };
        self.lock().cached = Some(Cached { credentials: credentials.clone(), expiry });
        Ok(credentials)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Each value is replaced as a whole, so a panic cannot leave an incomplete one.
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

/// Why the provider gave no valid credentials.
#[derive(Clone, Debug)]
pub(crate) enum CredentialsError {
    Provider(Arc<ProviderError>),
    /// The credentials had already expired.
    Expired {
        at: SystemTime,
        now: SystemTime,
    },
}

impl fmt::Display for CredentialsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Provider(_) => f.write_str("credentials provider failed"),
            Self::Expired { at, now } => {
                let ago = now.duration_since(*at).unwrap_or_default();
                write!(
                    f,
                    "credentials provider returned credentials that expired {ago:?} ago by the clock \
                     of this machine"
                )
            }
        }
    }
}

impl StdError for CredentialsError {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        match self {
            Self::Provider(error) => Some(&**error),
            Self::Expired { .. } => None,
        }
    }
}

fn left(expiry: SystemTime, now: SystemTime) -> Option<Duration> {
    expiry.duration_since(now).ok().filter(|left| !left.is_zero())
}

/// The time before their expiry at which credentials are refreshed. It is a tenth of their
/// remaining time if that is less. EC2 has new credentials five minutes ahead
/// (<https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/instance-metadata-security-credentials.html>).
const MARGIN: Duration = Duration::from_secs(5 * 60);
/// The time that a call waits for a refresh while its credentials are valid: the timeout of a
/// provider in the AWS SDK for Rust.
const PATIENCE: Duration = Duration::from_secs(5);
/// The time until the next refresh begins, so that a broken provider delays one call out of many.
const PAUSE: Duration = Duration::from_secs(10);

#[cfg(test)]
mod tests;
