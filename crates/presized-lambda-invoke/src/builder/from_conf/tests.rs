use std::time::Duration;

use aws_credential_types::Credentials;
use aws_credential_types::provider::SharedCredentialsProvider;
use aws_smithy_types::retry::RetryConfig;
use aws_smithy_types::timeout::TimeoutConfig;
use aws_types::app_name::AppName;
use aws_types::origin::Origin;
use aws_types::region::Region;
use aws_types::sdk_config::Builder;
use aws_types::service_config::LoadServiceConfig;
use presized_support::scripted::{Reply, Scripted};

use super::*;
use crate::ErrorKind;
use crate::call_options::{CallOptions, Deadline};
use crate::retry::RetryPolicy;

#[tokio::test]
async fn all_settings_are_taken_and_later_ones_precede() {
    let server = Scripted::start(|_, _| Reply::response("200 OK", &[], "1"));
    let config = config()
        .endpoint_url(server.url())
        .retry_config(
            RetryConfig::standard()
                .with_max_attempts(7)
                .with_initial_backoff(Duration::from_millis(30))
                .with_max_backoff(Duration::from_secs(4)),
        )
        .timeout_config(
            TimeoutConfig::builder()
                .connect_timeout(Duration::from_secs(1))
                .read_timeout(Duration::from_secs(2))
                .operation_timeout(Duration::from_secs(33))
                .operation_attempt_timeout(Duration::from_secs(11))
                .build(),
        )
        .app_name(AppName::new("shop").unwrap())
        .build();
    let builder = ClientBuilder::from_conf(&config);
    assert_eq!(builder.connect_timeout, Duration::from_secs(1));
    assert_eq!(times(&builder), (Some(Duration::from_secs(33)), Some(Duration::from_secs(11))));
    assert_eq!(retries(&builder.retry), (7, Duration::from_millis(30), Duration::from_secs(4)));
    let client = builder.build().unwrap();
    assert_eq!(client.invoke("f").send().await.unwrap().payload, "1");

    let builder = ClientBuilder::from_conf(&config)
        .region("us-east-1")
        .credentials(Credentials::new("LATER", "secret", None, None, "test"))
        .connect_timeout(Duration::from_secs(9))
        .timeout(Duration::from_secs(8))
        .attempt_timeout(Duration::from_secs(7))
        .max_attempts(6)
        .user_agent("me/1");
    assert_eq!(builder.connect_timeout, Duration::from_secs(9));
    assert_eq!(times(&builder), (Some(Duration::from_secs(8)), Some(Duration::from_secs(7))));
    assert_eq!(builder.retry.max_attempts, 6);
    drop(builder.build().unwrap().invoke("f").send().await.unwrap());

    let requests = server.requests();
    for (request, scope, agent) in [
        (
            &requests[0],
            " Credential=AKID/",
            concat!("presized/", env!("CARGO_PKG_VERSION"), " lambda-invoke app/shop"),
        ),
        (&requests[1], " Credential=LATER/", "me/1"),
    ] {
        let authorization = request.header("authorization").unwrap();
        assert!(authorization.contains(scope), "{authorization}");
        assert_eq!(request.header("user-agent"), Some(agent));
    }
    for (request, region) in [(&requests[0], "eu-north-1"), (&requests[1], "us-east-1")] {
        let authorization = request.header("authorization").unwrap();
        assert!(authorization.contains(&format!("/{region}/lambda/")), "{authorization}");
    }
}

#[test]
fn settings_that_are_missing_or_disabled_are_the_defaults() {
    for config in [
        Builder::default().build(),
        Builder::default().timeout_config(TimeoutConfig::disabled()).build(),
    ] {
        let (builder, default) = (ClientBuilder::from_conf(&config), ClientBuilder::new());
        assert_eq!(builder.connect_timeout, default.connect_timeout);
        assert_eq!(times(&builder), times(&default));
        assert_eq!(retries(&builder.retry), retries(&RetryPolicy::default()));
        assert!(builder.region.is_none() && builder.endpoint.is_none());
        assert!(builder.fips.is_none() && builder.dual_stack.is_none());
        assert!(builder.credentials.is_none() && builder.user_agent.is_none());
        assert!(builder.environment.is_none());
    }
}

#[test]
fn retries_that_are_disabled_leave_one_attempt() {
    let config = Builder::default().retry_config(RetryConfig::disabled()).build();
    assert_eq!(ClientBuilder::from_conf(&config).retry.max_attempts, 1);
}

#[test]
fn fips_and_dual_stack_select_the_endpoint() {
    for (config, host) in [
        (config(), "lambda.eu-north-1.amazonaws.com"),
        (config().use_fips(true), "lambda-fips.eu-north-1.amazonaws.com"),
        (config().use_dual_stack(true), "lambda.eu-north-1.api.aws"),
        (config().use_fips(false).use_dual_stack(false), "lambda.eu-north-1.amazonaws.com"),
    ] {
        let builder = ClientBuilder::from_conf(&config.build());
        let client = builder.system_roots(false).root_certificates_pem(root()).build_inner();
        assert_eq!(client.unwrap().endpoint.authority(), host);
    }
}

#[test]
fn endpoint_of_the_code_precedes_the_one_of_the_service_and_that_the_shared_one() {
    let code = config().endpoint_url("http://code").service_config(Service(Some("http://own")));
    let mut code = code;
    code.insert_origin("endpoint_url", Origin::shared_config());
    let mut own = config().endpoint_url("http://all").service_config(Service(Some("http://own")));
    own.insert_origin("endpoint_url", Origin::shared_environment_variable());
    let mut shared = config().endpoint_url("http://all").service_config(Service(None));
    shared.insert_origin("endpoint_url", Origin::shared_profile_file());
    for (config, expected) in [(code, "http://code"), (own, "http://own"), (shared, "http://all")] {
        let builder = ClientBuilder::from_conf(&config.build());
        assert_eq!(builder.endpoint, Some(("from_conf()", expected.to_owned())));
    }
}

#[test]
fn endpoint_that_is_refused_is_named_after_from_conf() {
    for (config, expected) in [
        (config().endpoint_url("ftp://host"), "endpoint URL of from_conf() is invalid"),
        (
            config().endpoint_url("http://host").use_dual_stack(true),
            "endpoint URL of from_conf() cannot be combined with dual_stack() or \
             AWS_USE_DUALSTACK_ENDPOINT: unset one of them",
        ),
    ] {
        let error = ClientBuilder::from_conf(&config.build()).build().expect_err(expected);
        let ErrorKind::Config(source) = error.into_kind() else { panic!("{expected}") };
        assert_eq!(source.to_string(), expected);
    }
}

/// The endpoint URL for Lambda in the environment or in the profile.
#[derive(Debug)]
struct Service(Option<&'static str>);

impl LoadServiceConfig for Service {
    fn load_config(&self, key: ServiceConfigKey<'_>) -> Option<String> {
        let key = (key.service_id(), key.env(), key.profile());
        assert_eq!(key, ("Lambda", "AWS_ENDPOINT_URL", "endpoint_url"));
        self.0.map(str::to_owned)
    }
}

fn config() -> Builder {
    let keys = Credentials::new("AKID", "secret", None, None, "test");
    Builder::default()
        .region(Region::new("eu-north-1"))
        .credentials_provider(SharedCredentialsProvider::new(keys))
}

/// Returns the timeouts of a call and of an attempt.
fn times(builder: &ClientBuilder) -> (Option<Duration>, Option<Duration>) {
    let CallOptions { deadline, attempt_timeout, .. } = &builder.defaults;
    let Deadline::After(timeout) = *deadline else { return (None, *attempt_timeout) };
    (Some(timeout), *attempt_timeout)
}

fn retries(policy: &RetryPolicy) -> (u32, Duration, Duration) {
    (policy.max_attempts, policy.base, policy.cap)
}

fn root() -> String {
    let key = rcgen::KeyPair::generate().unwrap();
    rcgen::CertificateParams::new(["localhost".to_owned()])
        .unwrap()
        .self_signed(&key)
        .unwrap()
        .pem()
}
