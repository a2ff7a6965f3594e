//! Under tokio's paused clock, which the clock of the cache follows.

use std::collections::VecDeque;
use std::time::UNIX_EPOCH;

use aws_credential_types::provider::future;
use futures_util::FutureExt;
use tokio::task::JoinSet;
use tokio::time::{Instant, advance, sleep};

use super::*;

use self::Answer::{Fails, Lasts, NeverExpires};

#[tokio::test(start_paused = true)]
async fn credentials_that_never_expire_are_asked_for_once() {
    let (cache, _) = cache([(0, NeverExpires)]);
    let first = cache.get().await.expect("the answer");
    advance(secs(1_000_000)).await;
    let second = cache.get().now_or_never().expect("no wait").expect("the answer");
    // The same strings, not equal ones.
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
async fn many_calls_ask_once() {
    let (cache, asked) = cache([(1, NeverExpires)]);
    let calls: JoinSet<_> = (0..50).map(|_| call(&cache)).collect();
    assert_eq!(calls.join_all().await, vec![Ok("1".to_owned()); 50]);
    assert_eq!(asked(), 1);
}

#[tokio::test(start_paused = true)]
async fn while_one_call_refreshes_the_others_are_given_what_is_still_valid() {
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
async fn a_failed_refresh_is_not_noticed_until_the_former_ones_expire() {
    let (cache, asked) = cache([(0, Lasts(30)), (0, Fails), (0, Fails)]);
    key(&cache).await;
    advance(secs(27)).await;
    for _ in 0..10 {
        assert_eq!(key(&cache).await, "1");
    }
    assert_eq!(asked(), 2);
    advance(secs(3)).await;
    assert!(matches!(cache.get().await, Err(CredentialsError::Provider(_))));
    assert_eq!(asked(), 3);
}

#[tokio::test(start_paused = true)]
async fn a_failed_refresh_is_tried_again_after_a_pause() {
    let (cache, asked) = cache([(0, Lasts(3600)), (0, Fails), (0, Fails), (0, NeverExpires)]);
    key(&cache).await;
    advance(secs(3300)).await;
    for (after, expected, asked_by_then) in [(0, "1", 2), (9, "1", 2), (1, "1", 3), (10, "4", 4)] {
        advance(secs(after)).await;
        assert_eq!((&*key(&cache).await, asked()), (expected, asked_by_then));
    }
}

#[tokio::test(start_paused = true)]
async fn a_refresh_that_hangs_costs_one_call_a_few_seconds() {
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
async fn a_refresh_that_outlasts_the_former_ones_is_waited_for() {
    let (cache, asked) = cache([(0, Lasts(10)), (FOR_EVER, Fails), (7, NeverExpires)]);
    key(&cache).await;
    advance(secs(9)).await;
    let start = Instant::now();
    // The last second of the former ones, and then the seven of the answer that must be had.
    assert_eq!((key(&cache).await, start.elapsed()), ("3".to_owned(), secs(8)));
    assert_eq!(asked(), 3);
}

#[tokio::test(start_paused = true)]
async fn a_provider_that_hangs_is_given_up_by_the_caller_and_asked_again_by_the_next() {
    let (cache, asked) = cache([(FOR_EVER, Fails), (0, NeverExpires)]);
    assert!(timeout(secs(60), cache.get()).await.is_err());
    assert_eq!((key(&cache).await, asked()), ("2".to_owned(), 2));
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_given_up_while_it_asks_leaves_it_to_one_that_waits() {
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
async fn a_failure_is_that_of_all_who_waited_and_of_no_later_call() {
    let (cache, asked) = cache([(1, Fails), (0, NeverExpires)]);
    let calls: JoinSet<_> = (0..50).map(|_| call(&cache)).collect();
    let failure = "the credentials provider gave none".to_owned();
    assert_eq!(calls.join_all().await, vec![Err(failure); 50]);
    assert_eq!(asked(), 1);
    assert_eq!((key(&cache).await, asked()), ("2".to_owned(), 2));
}

#[tokio::test(start_paused = true)]
async fn credentials_that_have_expired_already_are_an_error() {
    for (lasts, message) in [
        (0, "the credentials provider gave some that expired 0ns ago by the clock of this machine"),
        (-9, "the credentials provider gave some that expired 9s ago by the clock of this machine"),
    ] {
        let (cache, asked) = cache([(0, Lasts(lasts)), (0, NeverExpires)]);
        let expired = cache.get().await.expect_err("of no use");
        assert_eq!((expired.to_string(), asked()), (message.to_owned(), 1));
        assert_eq!(key(&cache).await, "2");
    }
}

#[tokio::test(start_paused = true)]
async fn expired_ones_do_not_replace_those_that_are_valid() {
    let (cache, asked) = cache([(0, Lasts(3600)), (0, Lasts(-1))]);
    key(&cache).await;
    advance(secs(3300)).await;
    assert_eq!(
        (key(&cache).await, key(&cache).await, asked()),
        ("1".to_owned(), "1".to_owned(), 2)
    );
}

#[tokio::test(start_paused = true)]
async fn refused_credentials_are_forgotten_and_later_ones_are_not() {
    let (cache, asked) = cache([(0, NeverExpires), (0, NeverExpires)]);
    let refused = cache.get().await.expect("the answer");
    cache.invalidate(&refused);
    assert_eq!(key(&cache).await, "2");
    // Another call, that was sent with the same ones.
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
async fn the_error_of_the_provider_is_the_source_of_ours() {
    let (cache, _) = cache([(0, Fails)]);
    let error = cache.get().await.expect_err("a failure");
    let source = error.source().and_then(Error::source).map(ToString::to_string);
    assert_eq!(source.as_deref(), Some("no metadata service"));
}

/// The `n`th answer is given after so many seconds; its key id is `n`.
#[derive(Debug)]
struct Script {
    answers: Mutex<VecDeque<(u64, Answer)>>,
    asked: Arc<Mutex<u32>>,
    start: Instant,
}

#[derive(Debug)]
enum Answer {
    NeverExpires,
    /// Seconds from the answer on.
    Lasts(i64),
    Fails,
}

impl Script {
    async fn answer(&self) -> Result<Credentials, ProviderError> {
        let number = {
            let mut asked = self.asked.lock().expect("no panic");
            *asked += 1;
            asked.to_string()
        };
        let answer = self.answers.lock().expect("no panic").pop_front();
        let (delay, answer) = answer.expect("the provider is not asked more often");
        sleep(secs(delay)).await;
        let expiry = match answer {
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
        future::ProvideCredentials::new(self.answer())
    }
}

/// The cache of a provider with these answers, and how often that was asked.
fn cache<const N: usize>(answers: [(u64, Answer); N]) -> (Arc<CredentialsCache>, impl Fn() -> u32) {
    let (start, asked) = (Instant::now(), Arc::new(Mutex::new(0)));
    let script = Script { answers: Mutex::new(answers.into()), asked: asked.clone(), start };
    let provider = SharedCredentialsProvider::new(script);
    let cache = CredentialsCache::with_clock(provider, move || time(start));
    (Arc::new(cache), move || *asked.lock().expect("no panic"))
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
        let answer = cache.get().await;
        answer.map(|it| it.access_key_id().to_owned()).map_err(|error| error.to_string())
    }
}

fn secs(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// Seconds: longer than any test waits.
const FOR_EVER: u64 = 1_000_000_000;
