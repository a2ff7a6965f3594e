//! Credentials that expire, and providers that fail.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, SystemTime};

use aws_credential_types::Credentials;
use aws_credential_types::provider::error::CredentialsError;
use aws_credential_types::provider::{ProvideCredentials, future};
use presized_support::log::Log;
use presized_support::scripted::{Recorded, Reply, Scripted};

use super::{builder, keys, ok, service_error};

#[tokio::test]
async fn expired_token_is_replaced_and_the_call_is_tried_once_more() {
    for code in ["ExpiredTokenException", "ExpiredToken"] {
        let server = Scripted::start(move |_, request| match key_of(request).as_str() {
            "OLD" => service_error("403 Forbidden", code),
            _ => ok("1"),
        });
        let provider = Scripts::new(|asked| Ok(keys(["OLD", "NEW"][asked as usize], "secret")));
        // Without other retries, because Lambda has not run the function.
        let settings = builder(&server).credentials(provider.clone()).max_attempts(1);
        let client = settings.build().unwrap();
        let invocation = client.invoke("f").send().await.unwrap();
        assert_eq!((invocation.payload.as_ref(), invocation.attempts), (&b"1"[..], 2), "{code}");
        assert_eq!(client.invoke("f").send().await.unwrap().attempts, 1);
        assert_eq!((server.requests().len(), provider.asked()), (3, 2), "{code}");
    }
}

#[tokio::test]
async fn expired_token_is_final_if_the_provider_has_no_other() {
    let server = Scripted::start(|_, _| service_error("403 Forbidden", "ExpiredTokenException"));
    let fixed = builder(&server).build().unwrap();
    // Only the expiry differs, which does not change a signature.
    let extended = Scripts::new(|asked| Ok(expiring(3600 + i64::from(asked))));
    let extended = builder(&server).credentials(extended).build().unwrap();
    let failing = Scripts::new(|asked| match asked {
        0 => Ok(keys("OLD", "secret")),
        _ => Err(CredentialsError::not_loaded("no metadata service")),
    });
    let failing = builder(&server).credentials(failing).build().unwrap();
    for (number, client) in [fixed, extended, failing].into_iter().enumerate() {
        let error = client.invoke("f").send().await.unwrap_err();
        let code = error.as_service_error().and_then(|error| error.code.as_deref());
        assert_eq!(code, Some("ExpiredTokenException"), "{error:?}");
        assert_eq!((error.attempts(), server.requests().len()), (1, number + 1));
    }
}

#[tokio::test]
async fn token_is_replaced_at_most_once_a_call() {
    let server = Scripted::start(|_, _| service_error("403 Forbidden", "ExpiredTokenException"));
    let provider = Scripts::new(|asked| Ok(keys(&format!("AKID{asked}"), "secret")));
    let client = builder(&server).credentials(provider.clone()).build().unwrap();
    for calls in [1, 2] {
        let error = client.invoke("f").send().await.unwrap_err();
        assert_eq!((error.attempts(), server.requests().len()), (2, 2 * calls));
    }
}

#[tokio::test]
async fn expired_credentials_of_a_provider_are_used_with_a_warning_and_not_asked_for_each_call() {
    let log = Log::of_this_thread();
    let server = Scripted::start(|_, _| ok("1"));
    let provider = Scripts::new(|_| Ok(expiring(-1)));
    let client = builder(&server).credentials(provider.clone()).build().unwrap();
    for _ in 0..10 {
        assert_eq!(client.invoke("f").send().await.unwrap().payload, "1");
    }
    assert_eq!(provider.asked(), 1);
    let log = log.finish();
    assert_eq!(log.matches("WARN").count(), 1, "{log}");
    assert!(log.contains("have expired"), "{log}");
}

#[tokio::test]
async fn credentials_are_used_after_they_expired_while_their_provider_fails() {
    let log = Log::of_this_thread();
    let server = Scripted::start(|_, _| ok("1"));
    let provider = Scripts::new(|asked| match asked {
        0 => Ok(expiring(1)),
        _ => Err(CredentialsError::not_loaded("no metadata service")),
    });
    let client = builder(&server).credentials(provider.clone()).build().unwrap();
    assert_eq!(client.invoke("f").send().await.unwrap().payload, "1");
    tokio::time::sleep(Duration::from_millis(1_100)).await;
    for _ in 0..10 {
        assert_eq!(client.invoke("f").send().await.unwrap().payload, "1");
    }
    assert_eq!(provider.asked(), 2);
    let log = log.finish();
    assert_eq!(log.matches("WARN").count(), 1, "{log}");
    assert!(log.contains("no metadata service"), "{log}");
}

/// The clock of this machine is two hours ahead.
#[tokio::test]
async fn clock_of_lambda_decides_whether_credentials_have_expired() {
    let log = Log::of_this_thread();
    let server = Scripted::start(|number, _| match number {
        0 => {
            let date = httpdate::fmt_http_date(SystemTime::now() - Duration::from_secs(7200));
            let headers = [("Date", date.as_str()), ("x-amzn-ErrorType", "ExpiredTokenException")];
            Reply::response("403 Forbidden", &headers, "{}")
        }
        _ => ok("1"),
    });
    let provider = Scripts::new(|asked| match asked {
        0 => Ok(keys("OLD", "secret")),
        _ => Ok(expiring(-30 * 60)),
    });
    let client = builder(&server).credentials(provider.clone()).build().unwrap();
    for attempts in [2, 1, 1] {
        assert_eq!(client.invoke("f").send().await.unwrap().attempts, attempts);
    }
    assert_eq!(provider.asked(), 2);
    let log = log.finish();
    assert!(!log.contains("WARN"), "they expire in 90 minutes: {log}");
}

type Provide = dyn Fn(u32) -> Result<Credentials, CredentialsError> + Send + Sync;

/// Provides what a function of the number of earlier requests returns. Clones share the number.
#[derive(Clone)]
struct Scripts {
    asked: Arc<AtomicU32>,
    provide: Arc<Provide>,
}

impl Scripts {
    fn new(
        provide: impl Fn(u32) -> Result<Credentials, CredentialsError> + Send + Sync + 'static,
    ) -> Self {
        Self { asked: Arc::default(), provide: Arc::new(provide) }
    }

    fn asked(&self) -> u32 {
        self.asked.load(Ordering::SeqCst)
    }
}

impl ProvideCredentials for Scripts {
    fn provide_credentials<'a>(&'a self) -> future::ProvideCredentials<'a>
    where
        Self: 'a,
    {
        let number = self.asked.fetch_add(1, Ordering::SeqCst);
        future::ProvideCredentials::ready((self.provide)(number))
    }
}

impl fmt::Debug for Scripts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Scripts")
    }
}

/// Returns credentials that expire this number of seconds from now.
fn expiring(seconds: i64) -> Credentials {
    let by = Duration::from_secs(seconds.unsigned_abs());
    let now = SystemTime::now();
    let expiry = if seconds < 0 { now - by } else { now + by };
    Credentials::new("EXPIRING", "secret", None, Some(expiry), "test")
}

fn key_of(request: &Recorded) -> String {
    let authorization = request.header("authorization").unwrap();
    authorization.split(['=', '/']).nth(1).unwrap().to_owned()
}
