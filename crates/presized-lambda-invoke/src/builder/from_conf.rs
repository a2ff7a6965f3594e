use aws_types::SdkConfig;
use aws_types::service_config::ServiceConfigKey;

use super::ClientBuilder;
use super::build::AGENT;
use crate::credentials::Provider;

impl ClientBuilder {
    /// Makes a builder with the settings of an [`SdkConfig`]. `aws_config` loads them from profiles,
    /// containers, IAM Identity Center and the other sources of the AWS SDKs.
    ///
    /// A later call of a setter replaces a setting. An [`SdkConfig`] has neither proxies nor traces:
    /// call [`environment`](Self::environment) afterwards to read them. It then also gives a region,
    /// credentials or an endpoint that the [`SdkConfig`] lacks.
    ///
    /// | `SdkConfig` | here |
    /// | --- | --- |
    /// | `region` | [`region`](Self::region) |
    /// | `credentials_provider` | [`credentials`](Self::credentials) |
    /// | `endpoint_url` | [`endpoint`](Self::endpoint), after the URL for Lambda in `service_config`: `AWS_ENDPOINT_URL_LAMBDA` or the section `services` of the profile |
    /// | `use_fips`, `use_dual_stack` | [`fips`](Self::fips), [`dual_stack`](Self::dual_stack) |
    /// | `retry_config` | [`max_attempts`](Self::max_attempts), [`backoff`](Self::backoff) |
    /// | `connect_timeout` of `timeout_config` | [`connect_timeout`](Self::connect_timeout) |
    /// | `operation_timeout` of `timeout_config` | [`timeout`](Self::timeout) |
    /// | `operation_attempt_timeout` of `timeout_config` | [`attempt_timeout`](Self::attempt_timeout) |
    /// | `app_name` | `app/NAME` at the end of the [`user_agent`](Self::user_agent) |
    ///
    /// A setting that the [`SdkConfig`] does not have, or a timeout that it disables, is the default of
    /// this builder. These settings are not taken:
    ///
    /// - `read_timeout`, because it ends calls to a function that runs longer: Lambda sends the
    ///   response only after the function has run. Use [`attempt_timeout`](Self::attempt_timeout).
    /// - The retry mode: retries follow the standard mode, and the adaptive mode does not exist here.
    ///   The reconnect mode: a broken connection is never used again.
    /// - `http_client`, `sleep_impl`, `time_source`, `identity_cache` and `stalled_stream_protection`,
    ///   because the client has its own.
    /// - All settings that do not apply to Lambda with SigV4, such as checksums, compression,
    ///   `token_provider` and `auth_scheme_preference`.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// use presized_lambda_invoke::ClientBuilder;
    ///
    /// # fn build(config: aws_types::SdkConfig) -> Result<(), presized_lambda_invoke::Error> {
    /// // let config = aws_config::load_defaults(aws_config::BehaviorVersion::latest()).await;
    /// let client = ClientBuilder::from_conf(&config).environment().build()?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn from_conf(config: &SdkConfig) -> Self {
        let mut builder = Self::new();
        builder.region = config.region().map(ToString::to_string);
        builder.credentials = config.credentials_provider().map(Provider::new);
        builder.endpoint = endpoint_url(config).map(|url| ("from_conf()", url));
        builder.fips = config.use_fips();
        builder.dual_stack = config.use_dual_stack();
        builder.user_agent = config.app_name().map(|name| format!("{AGENT} app/{name}"));
        if let Some(retry) = config.retry_config() {
            builder = builder
                .max_attempts(retry.max_attempts())
                .backoff(retry.initial_backoff(), retry.max_backoff());
        }
        if let Some(timeouts) = config.timeout_config() {
            if let Some(timeout) = timeouts.connect_timeout() {
                builder = builder.connect_timeout(timeout);
            }
            if let Some(timeout) = timeouts.operation_timeout() {
                builder = builder.timeout(timeout);
            }
            if let Some(timeout) = timeouts.operation_attempt_timeout() {
                builder = builder.attempt_timeout(timeout);
            }
        }
        builder
    }
}

/// Returns the endpoint URL, in the order of the AWS SDKs: the code, the URL of the service, the URL
/// of all services.
fn endpoint_url(config: &SdkConfig) -> Option<String> {
    let shared = config.endpoint_url().map(str::to_owned);
    if config.get_origin("endpoint_url").is_client_config() {
        return shared;
    }
    let key = ServiceConfigKey::builder()
        .service_id("Lambda")
        .env("AWS_ENDPOINT_URL")
        .profile("endpoint_url")
        .build();
    let own = key.ok().and_then(|key| config.service_config()?.load_config(key));
    own.or(shared)
}

#[cfg(test)]
mod tests;
