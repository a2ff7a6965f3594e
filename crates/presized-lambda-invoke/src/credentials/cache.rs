//! The cache of a provider's credentials, which refreshes them shortly before they expire.
//!
//! No wait for the provider is longer than [`PATIENCE`].
//!
//! The identity cache of aws-smithy-runtime 1.16.2, read on 2026-12-01, does not replace it. It drops
//! expired credentials before it asks the provider, so that a call fails if the provider does. It
//! cannot drop credentials that the service has refused, and all calls wait for a refresh. It would
//! add three crates.

use std::error::Error as StdError;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use aws_credential_types::Credentials;
use aws_credential_types::provider::error::CredentialsError as ProviderError;
use aws_credential_types::provider::{ProvideCredentials, SharedCredentialsProvider};
use tokio::time::{Instant, timeout};

use super::Provider;

/// Caches the credentials of a provider for many calls.
///
/// If a call is dropped while it waits for the provider, the next call asks the provider.
pub(crate) struct CredentialsCache {
    provider: SharedCredentialsProvider,
    /// The name of the provider, for errors and the log.
    name: &'static str,
    clock: Box<dyn Fn() -> SystemTime + Send + Sync>,
    state: Mutex<State>,
    /// Held by the call that asks the provider while the cache has no valid credentials.
    loading: tokio::sync::Mutex<()>,
}

#[derive(Default)]
struct State {
    cached: Option<Cached>,
    /// The number of failures without any credentials, and the last one.
    failures: u64,
    failure: Option<CredentialsError>,
}

struct Cached {
    credentials: Credentials,
    /// The time before their expiry at which they are refreshed.
    margin: Duration,
    /// The next refresh begins no earlier.
    not_before: Instant,
}

enum Found {
    /// They need no refresh, or another call refreshes them.
    Usable(Credentials),
    /// The caller should refresh them. They are valid for `left`.
    Expiring {
        credentials: Credentials,
        left: Duration,
    },
    /// Calls wait until one of them has refreshed the credentials.
    Expired(Credentials),
    Nothing,
}

impl CredentialsCache {
    /// Makes a cache. `clock` decides whether credentials have expired.
    pub(crate) fn new(
        Provider { provider, name }: Provider,
        clock: impl Fn() -> SystemTime + Send + Sync + 'static,
    ) -> Self {
        let (clock, state, loading) =
            (Box::new(clock), Mutex::default(), tokio::sync::Mutex::default());
        Self { provider, name, clock, state, loading }
    }

    /// Returns the credentials of the provider. It does not wait while the cached ones do not
    /// expire soon.
    ///
    /// Credentials that have expired are still used while the provider fails or has no others: AWS may
    /// have extended them, or the clock may be wrong. The service decides.
    pub(crate) async fn get(&self) -> Result<Credentials, CredentialsError> {
        match self.find() {
            Found::Usable(credentials) => Ok(credentials),
            Found::Expiring { left, .. } => self.refresh(left).await,
            Found::Expired(_) | Found::Nothing => self.load_with_others().await,
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
        let Some(cached) = &mut state.cached else { return Found::Nothing };
        let credentials = cached.credentials.clone();
        let Some(at) = credentials.expiry() else { return Found::Usable(credentials) };
        let left = left(at, (self.clock)());
        if left > cached.margin || Instant::now() < cached.not_before {
            return Found::Usable(credentials);
        }
        if left.is_zero() {
            return Found::Expired(credentials);
        }
        // Set before the refresh, so that the next calls do not wait too if this call is dropped.
        cached.postpone(left);
        Found::Expiring { credentials, left }
    }

    /// Refreshes credentials that are still valid.
    async fn refresh(&self, left: Duration) -> Result<Credentials, CredentialsError> {
        match self.replace(left.min(PATIENCE)).await {
            Some(credentials) => Ok(credentials),
            None => self.load_with_others().await,
        }
    }

    /// Waits until no other call asks the provider, and then returns the cached credentials or asks
    /// the provider. If the other call failed, this call fails with the same error, because many
    /// calls that ask one after the other would take too long.
    async fn load_with_others(&self) -> Result<Credentials, CredentialsError> {
        let failures = self.lock().failures;
        let _loading = self.loading.lock().await;
        match self.find() {
            Found::Usable(credentials) | Found::Expiring { credentials, .. } => {
                return Ok(credentials);
            }
            Found::Expired(expired) => {
                if let Some(credentials) = self.replace(PATIENCE).await {
                    return Ok(credentials);
                }
                if let Some(cached) = &mut self.lock().cached {
                    cached.postpone(Duration::ZERO);
                }
                return Ok(expired);
            }
            Found::Nothing => {}
        }
        if let Some(failure) = self.lock().failure_since(failures) {
            return Err(failure);
        }
        let loaded = match timeout(PATIENCE, self.load()).await {
            Ok(loaded) => loaded,
            Err(_elapsed) => Err(CredentialsError { provider: self.name, source: None }),
        };
        if let Err(failure) = &loaded {
            let mut state = self.lock();
            state.failures += 1;
            state.failure = Some(failure.clone());
        }
        loaded
    }

    /// Asks the provider for credentials that replace the cached ones. A failure is only logged.
    async fn replace(&self, patience: Duration) -> Option<Credentials> {
        match timeout(patience, self.load()).await {
            Ok(Ok(credentials)) => return Some(credentials),
            Ok(Err(error)) => {
                let error: &(dyn StdError + 'static) = &error;
                tracing::warn!(error, "credentials could not be refreshed and are still used");
            }
            Err(_elapsed) => tracing::warn!(
                provider = self.name,
                "credentials are still used, because their provider has returned no others in \
                 {patience:?}"
            ),
        }
        None
    }

    async fn load(&self) -> Result<Credentials, CredentialsError> {
        let provided = self.provider.provide_credentials().await;
        let credentials = provided.map_err(|error| CredentialsError {
            provider: self.name,
            source: Some(Arc::new(error)),
        })?;
        let now = (self.clock)();
        let mut state = self.lock();
        let mut margin = Duration::ZERO;
        let mut not_before = Instant::now();
        if let Some(at) = credentials.expiry() {
            let left = left(at, now);
            if left.is_zero() {
                tracing::warn!(
                    "credentials of the provider have expired {:?} ago by the clock of this client",
                    now.duration_since(at).unwrap_or_default()
                );
                not_before += PAUSE;
                // They do not replace others that expire later.
                if let Some(cached) = &mut state.cached
                    && cached.credentials.expiry().is_none_or(|other| other > at)
                {
                    cached.not_before = cached.not_before.max(not_before);
                    return Ok(cached.credentials.clone());
                }
            }
            margin = MARGIN.min(left / 10);
        }
        state.cached = Some(Cached { credentials: credentials.clone(), margin, not_before });
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

impl Cached {
    /// Lets the next refresh begin after a pause, or when they expire if that is earlier. `left` is
    /// the time until then, and is zero if they have expired.
    fn postpone(&mut self, left: Duration) {
        let pause = if left.is_zero() { PAUSE } else { PAUSE.min(left) };
        self.not_before = Instant::now() + pause;
    }
}

/// The reason why the provider gave no credentials.
#[derive(Clone, Debug)]
pub(crate) struct CredentialsError {
    provider: &'static str,
    /// `None` if the provider has not returned in time.
    source: Option<Arc<ProviderError>>,
}

impl fmt::Display for CredentialsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let provider = self.provider;
        match self.source {
            Some(_) => write!(f, "credentials provider {provider} failed"),
            None => write!(f, "credentials provider {provider} did not return within {PATIENCE:?}"),
        }
    }
}

impl StdError for CredentialsError {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.source.as_ref().map(|source| &**source as _)
    }
}

/// Returns the time until `expiry`, which is zero if it has passed.
fn left(expiry: SystemTime, now: SystemTime) -> Duration {
    expiry.duration_since(now).unwrap_or_default()
}

/// The time before their expiry at which credentials are refreshed. It is a tenth of their
/// remaining time if that is less. EC2 has new credentials five minutes ahead
/// (<https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/instance-metadata-security-credentials.html>).
const MARGIN: Duration = Duration::from_secs(5 * 60);
/// The time that a call waits for the provider: its timeout in the AWS SDK for Rust.
const PATIENCE: Duration = Duration::from_secs(5);
/// The time until the next refresh begins, so that a broken provider delays one call out of many.
const PAUSE: Duration = Duration::from_secs(10);

#[cfg(test)]
mod tests;
