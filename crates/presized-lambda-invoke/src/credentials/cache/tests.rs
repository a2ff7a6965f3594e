//! Tests under the paused clock of tokio, which the clock of the cache follows.

use std::collections::VecDeque;
use std::time::UNIX_EPOCH;

use aws_credential_types::provider::future;
use futures_util::FutureExt;
use tokio::task::JoinSet;
use tokio::time::{Instant, advance, sleep};

use super::*;

use self::Provided::{Fails, Lasts, NeverExpires};

#[tokio::test(start_paused = true)]
async fn credentials_without_expiry_are_loaded_once() {
    let (cache, _) = cache([(0, NeverExpires)]);
    let first = cache.get().await.expect("credentials");
    advance(secs(1_000_000)).await;
    let second = cache.get().now_or_never().expect("no wait").expect("credentials");
    // The same memory, not only equal strings.
    assert_eq!(second.secret_access_key().as_ptr(), first.secret_access_key().as_ptr());
}

#[tokio::test(start_paused = true)]
async fn credentials_are_refreshed_shortly_before_they_expire() {
    for (lasts, refreshed_after) in [(3600, 3300), (3000, 2700), (600, 540), (10, 9)] {
        let (cache, asked) = cache([(0, Lasts(lasts)), (0, NeverExpires)]);
        assert_eq!(key(&cache).await, "1");
        advance(secs(refreshed_after) - Duration::from_millis(1)).await;
        assert_eq!((key(&cache).await, asked()), ("1".to_owned(), 1));
        advance(Duration::from_millis(1)).await;
        assert_eq!((key(&cache).await, asked()), ("2".to_owned(), 2));
    }
}

#[tokio::test(start_paused = true)]
async fn concurrent_calls_ask_the_provider_once() {
    let (cache, asked) = cache([(1, NeverExpires)]);
    let calls: JoinSet<_> = (0..50).map(|_| call(&cache)).collect();
    assert_eq!(calls.join_all().await, vec![Ok("1".to_owned()); 50]);
    assert_eq!(asked(), 1);
}

#[tokio::test(start_paused = true)]
async fn other_calls_use_valid_credentials_while_one_refreshes_them() {
    let (cache, asked) = cache([(0, Lasts(3600)), (1, NeverExpires)]);
    key(&cache).await;
    advance(secs(3300)).await;
    let refreshing = tokio::spawn(call(&cache));
    sleep(Duration::from_millis(1)).await;
    for _ in 0..10 {
        assert_eq!(key(&cache).now_or_never(), Some("1".to_owned()));
    }
    assert_eq!(refreshing.await.expect("no panic"), Ok("2".to_owned()));
    assert_eq!((key(&cache).await, asked()), ("2".to_owned(), 2));
}

#[tokio::test(start_paused = true)]
async fn failed_refresh_is_hidden_and_repeated_when_the_credentials_expire() {
    let (cache, asked) = cache([(0, Lasts(30)), (0, Fails), (0, Fails)]);
    key(&cache).await;
    advance(secs(27)).await;
    for _ in 0..10 {
        assert_eq!(key(&cache).await, "1");
    }
    assert_eq!(asked(), 2);
    advance(secs(3)).await;
    for _ in 0..10 {
        assert_eq!((key(&cache).await, asked()), ("1".to_owned(), 3));
    }
}

#[tokio::test(start_paused = true)]
async fn failed_refresh_is_retried_after_a_pause() {
    let (cache, asked) = cache([(0, Lasts(3600)), (0, Fails), (0, Fails), (0, NeverExpires)]);
    key(&cache).await;
    advance(secs(3300)).await;
    for (after, expected, asked_by_then) in [(0, "1", 2), (9, "1", 2), (1, "1", 3), (10, "4", 4)] {
        advance(secs(after)).await;
        assert_eq!((&*key(&cache).await, asked()), (expected, asked_by_then));
    }
}

#[tokio::test(start_paused = true)]
async fn hanging_refresh_delays_one_call_by_a_few_seconds() {
    let (cache, asked) = cache([(0, Lasts(3600)), (FOR_EVER, Fails), (0, NeverExpires)]);
    key(&cache).await;
    advance(secs(3300)).await;
    let start = Instant::now();
    assert_eq!(key(&cache).await, "1");
    assert_eq!(start.elapsed(), PATIENCE);
    assert_eq!(key(&cache).now_or_never(), Some("1".to_owned()));
    assert_eq!(asked(), 2);
}

#[tokio::test(start_paused = true)]
async fn call_waits_for_a_refresh_when_the_credentials_expire() {
    let (cache, asked) = cache([(0, Lasts(10)), (FOR_EVER, Fails), (3, NeverExpires)]);
    key(&cache).await;
    advance(secs(9)).await;
    let start = Instant::now();
    // One second until the credentials expire, and three for the second request.
    assert_eq!((key(&cache).await, start.elapsed()), ("3".to_owned(), secs(4)));
    assert_eq!(asked(), 3);
}

#[tokio::test(start_paused = true)]
async fn next_call_asks_again_after_a_caller_gave_up_on_a_hanging_provider() {
    let (cache, asked) = cache([(FOR_EVER, Fails), (0, NeverExpires)]);
    assert!(timeout(secs(1), cache.get()).await.is_err());
    assert_eq!((key(&cache).await, asked()), ("2".to_owned(), 2));
}

#[tokio::test(start_paused = true)]
async fn waiting_call_asks_the_provider_when_the_asking_call_is_dropped() {
    let (cache, asked) = cache([(FOR_EVER, Fails), (1, NeverExpires)]);
    let first = tokio::spawn(call(&cache));
    sleep(secs(1)).await;
    let waiting: JoinSet<_> = (0..10).map(|_| call(&cache)).collect();
    sleep(secs(1)).await;
    first.abort();
    assert_eq!(waiting.join_all().await, vec![Ok("2".to_owned()); 10]);
    assert_eq!(asked(), 2);
}

#[tokio::test(start_paused = true)]
async fn failure_is_shared_by_waiting_calls_and_not_by_later_ones() {
    let (cache, asked) = cache([(1, Fails), (0, NeverExpires)]);
    let calls: JoinSet<_> = (0..50).map(|_| call(&cache)).collect();
    let failure = "credentials provider Script failed".to_owned();
    assert_eq!(calls.join_all().await, vec![Err(failure); 50]);
    assert_eq!(asked(), 1);
    assert_eq!((key(&cache).await, asked()), ("2".to_owned(), 2));
}

#[tokio::test(start_paused = true)]
async fn credentials_that_have_already_expired_are_used_and_refreshed_after_a_pause() {
    for lasts in [0, -9] {
        let (cache, asked) = cache([(0, Lasts(lasts)), (0, Lasts(lasts)), (0, NeverExpires)]);
        for (after, expected) in [(0, 1), (9, 1), (1, 2), (9, 2), (1, 3), (100, 3)] {
            advance(secs(after)).await;
            assert_eq!((key(&cache).await, asked()), (expected.to_string(), expected));
        }
    }
}

#[tokio::test(start_paused = true)]
async fn expired_credentials_are_used_while_the_provider_fails_and_until_it_recovers() {
    let (cache, asked) = cache([(0, Lasts(10)), (0, Fails), (0, Fails), (0, NeverExpires)]);
    key(&cache).await;
    for (after, expected, asked_by_then) in
        [(3600, "1", 2), (9, "1", 2), (1, "1", 3), (9, "1", 3), (1, "4", 4)]
    {
        advance(secs(after)).await;
        assert_eq!((&*key(&cache).await, asked()), (expected, asked_by_then));
    }
}

#[tokio::test(start_paused = true)]
async fn calls_do_not_use_expired_credentials_while_the_provider_may_have_others() {
    let (cache, asked) = cache([(0, Lasts(10)), (4, NeverExpires)]);
    key(&cache).await;
    advance(secs(3600)).await;
    let calls: JoinSet<_> = (0..50).map(|_| call(&cache)).collect();
    assert_eq!(calls.join_all().await, vec![Ok("2".to_owned()); 50]);
    assert_eq!(asked(), 2);
}

#[tokio::test(start_paused = true)]
async fn hanging_provider_delays_calls_with_expired_credentials_once() {
    let (cache, asked) = cache([(0, Lasts(10)), (FOR_EVER, Fails)]);
    key(&cache).await;
    advance(secs(3600)).await;
    let start = Instant::now();
    let calls: JoinSet<_> = (0..50).map(|_| call(&cache)).collect();
    assert_eq!(calls.join_all().await, vec![Ok("1".to_owned()); 50]);
    assert_eq!((start.elapsed(), asked()), (PATIENCE, 2));
    assert_eq!(key(&cache).now_or_never(), Some("1".to_owned()));
}

#[tokio::test(start_paused = true)]
async fn hanging_provider_is_named_after_its_deadline_and_asked_again_by_the_next_call() {
    let (cache, asked) = cache([(FOR_EVER, NeverExpires), (1, NeverExpires)]);
    let begin = Instant::now();
    let error = cache.get().await.expect_err("the provider hangs");
    assert_eq!(begin.elapsed(), PATIENCE);
    assert_eq!(error.to_string(), "credentials provider Script did not return within 5s");
    assert!(error.source().is_none());
    assert_eq!((key(&cache).await, asked()), ("2".to_owned(), 2));
}

/// The clock was two hours ahead when the credentials were loaded.
#[tokio::test(start_paused = true)]
async fn corrected_clock_decides_when_credentials_are_refreshed() {
    let start = Instant::now();
    let ahead = Arc::new(Mutex::new(secs(7200)));
    let (script, asked) = script([(0, Lasts(1800)), (0, NeverExpires)]);
    let offset = Arc::clone(&ahead);
    let clock = move || time(start) + *offset.lock().expect("no panic");
    let cache = CredentialsCache::new(script, clock);
    assert_eq!(key(&cache).await, "1");
    *ahead.lock().expect("no panic") = Duration::ZERO;
    advance(secs(1799)).await;
    assert_eq!((key(&cache).await, asked()), ("1".to_owned(), 1));
    advance(secs(1)).await;
    assert_eq!((key(&cache).await, asked()), ("2".to_owned(), 2));
}

#[tokio::test(start_paused = true)]
async fn expired_credentials_do_not_replace_valid_ones() {
    let (cache, asked) = cache([(0, Lasts(3600)), (0, Lasts(-1))]);
    key(&cache).await;
    advance(secs(3300)).await;
    assert_eq!(
        (key(&cache).await, key(&cache).await, asked()),
        ("1".to_owned(), "1".to_owned(), 2)
    );
}

#[tokio::test(start_paused = true)]
async fn refused_credentials_are_dropped_and_later_ones_are_kept() {
    let (cache, asked) = cache([(0, NeverExpires), (0, NeverExpires)]);
    let refused = cache.get().await.expect("credentials");
    cache.invalidate(&refused);
    assert_eq!(key(&cache).await, "2");
    // Another call was sent with the same credentials.
    cache.invalidate(&refused);
    assert_eq!((key(&cache).await, asked()), ("2".to_owned(), 2));
}

#[tokio::test(start_paused = true)]
async fn nothing_of_the_credentials_is_shown() {
    let (cache, _) = cache([(0, NeverExpires)]);
    key(&cache).await;
    assert_eq!(format!("{cache:?}"), "CredentialsCache { .. }");
}

#[tokio::test]
async fn error_of_the_provider_is_the_source_of_the_cache_error() {
    let (cache, _) = cache([(0, Fails)]);
    let error = cache.get().await.expect_err("a failure");
    let source = error.source().and_then(StdError::source).map(ToString::to_string);
    assert_eq!(source.as_deref(), Some("no metadata service"));
}

/// Returns the `n`th response after its number of seconds. The access key id is `n`.
#[derive(Debug)]
struct Script {
    responses: Mutex<VecDeque<(u64, Provided)>>,
    asked: Arc<Mutex<u32>>,
    start: Instant,
}

#[derive(Debug)]
enum Provided {
    NeverExpires,
    /// The credentials expire after this number of seconds.
    Lasts(i64),
    Fails,
}

impl Script {
    async fn next(&self) -> Result<Credentials, ProviderError> {
        let number = {
            let mut asked = self.asked.lock().expect("no panic");
            *asked += 1;
            asked.to_string()
        };
        let next = self.responses.lock().expect("no panic").pop_front();
        let (delay, provided) = next.expect("the provider is not asked more often");
        sleep(secs(delay)).await;
        let expiry = match provided {
            NeverExpires => None,
            Lasts(lasts) => {
                let now = time(self.start);
                let lasting = secs(lasts.unsigned_abs());
                Some(if lasts < 0 { now - lasting } else { now + lasting })
            }
            Fails => return Err(ProviderError::not_loaded("no metadata service")),
        };
        Ok(Credentials::new(number, "secret", None, expiry, "script"))
    }
}

impl ProvideCredentials for Script {
    fn provide_credentials<'a>(&'a self) -> future::ProvideCredentials<'a>
    where
        Self: 'a,
    {
        future::ProvideCredentials::new(self.next())
    }
}

/// Makes the cache of a provider with these responses. Also returns the number of requests to it.
fn cache<const N: usize>(
    responses: [(u64, Provided); N],
) -> (Arc<CredentialsCache>, impl Fn() -> u32) {
    let start = Instant::now();
    let (provider, asked) = script(responses);
    (Arc::new(CredentialsCache::new(provider, move || time(start))), asked)
}

fn script<const N: usize>(responses: [(u64, Provided); N]) -> (Provider, impl Fn() -> u32) {
    let (start, asked) = (Instant::now(), Arc::new(Mutex::new(0)));
    let script = Script { responses: Mutex::new(responses.into()), asked: asked.clone(), start };
    (Provider::new(script), move || *asked.lock().expect("no panic"))
}

fn time(start: Instant) -> SystemTime {
    UNIX_EPOCH + secs(1_700_000_000) + start.elapsed()
}

async fn key(cache: &CredentialsCache) -> String {
    cache.get().await.expect("credentials").access_key_id().to_owned()
}

fn call(
    cache: &Arc<CredentialsCache>,
) -> impl Future<Output = Result<String, String>> + Send + use<> {
    let cache = cache.clone();
    async move {
        let credentials = cache.get().await;
        credentials.map(|it| it.access_key_id().to_owned()).map_err(|error| error.to_string())
    }
}

fn secs(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// In seconds: longer than any test waits.
const FOR_EVER: u64 = 1_000_000_000;
