//! The clients of the services, with the same configuration.

use std::net::SocketAddr;
use std::time::Duration;

use aws_sdk_lambda::config::{
    BehaviorVersion, Credentials, Region, StalledStreamProtectionConfig, retry::RetryConfig,
};
use presized_aws_sdk::Interceptor;

/// The settings of a test.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) interceptor: Option<Interceptor>,
    /// The most requests of one call.
    pub(crate) attempts: u32,
    /// The time for which a stream may stall.
    pub(crate) grace: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self { interceptor: None, attempts: 3, grace: Duration::from_secs(60) }
    }
}

impl From<Interceptor> for Settings {
    fn from(interceptor: Interceptor) -> Self {
        Self { interceptor: Some(interceptor), ..Self::default() }
    }
}

/// Configures a builder. The builders have no common trait.
macro_rules! configure {
    ($builder:expr, $server:expr, $settings:expr) => {{
        let settings: Settings = $settings.into();
        let retries = RetryConfig::standard()
            .with_max_attempts(settings.attempts)
            .with_initial_backoff(Duration::from_millis(1));
        let stalls = StalledStreamProtectionConfig::enabled().grace_period(settings.grace);
        let mut builder = $builder
            .behavior_version(BehaviorVersion::latest())
            .region(Region::new("eu-central-1"))
            .credentials_provider(Credentials::new(
                "AKIAIOSFODNN7EXAMPLE",
                "key",
                None,
                None,
                "test",
            ))
            .endpoint_url(format!("http://{}", $server))
            .retry_config(retries)
            .stalled_stream_protection(stalls.build());
        if let Some(interceptor) = settings.interceptor {
            builder = builder.interceptor(interceptor);
        }
        builder
    }};
}

pub(crate) fn lambda(server: SocketAddr, settings: impl Into<Settings>) -> aws_sdk_lambda::Client {
    let builder = configure!(aws_sdk_lambda::Config::builder(), server, settings);
    aws_sdk_lambda::Client::from_conf(builder.build())
}

pub(crate) fn s3(server: SocketAddr, settings: impl Into<Settings>) -> aws_sdk_s3::Client {
    let builder = configure!(aws_sdk_s3::Config::builder(), server, settings);
    aws_sdk_s3::Client::from_conf(builder.force_path_style(true).build())
}

pub(crate) fn schemas(
    server: SocketAddr,
    settings: impl Into<Settings>,
) -> aws_sdk_schemas::Client {
    let builder = configure!(aws_sdk_schemas::Config::builder(), server, settings);
    aws_sdk_schemas::Client::from_conf(builder.build())
}
