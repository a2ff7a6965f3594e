//! The Invoke API over loopback: clients with the same keys, and the checks of a server.

use std::net::SocketAddr;

use aws_sdk_lambda::config::{BehaviorVersion, Builder, Credentials, Region};

/// Creates a client of the SDK with its defaults, keys and an address.
pub fn sdk(server: SocketAddr) -> aws_sdk_lambda::Client {
    aws_sdk_lambda::Client::from_conf(sdk_config(server).build())
}

/// Returns the configuration of [`sdk`].
pub fn sdk_config(server: SocketAddr) -> Builder {
    aws_sdk_lambda::Config::builder()
        .behavior_version(BehaviorVersion::latest())
        .region(Region::new(REGION))
        .credentials_provider(credentials())
        .endpoint_url(format!("http://{server}"))
}

/// Returns the builder of a client of presized with the same settings.
pub fn presized(server: SocketAddr) -> presized_lambda_invoke::ClientBuilder {
    presized_lambda_invoke::Client::builder()
        .region(REGION)
        .credentials(credentials())
        .endpoint(format!("http://{server}"))
}

/// Returns the name of the function that a request to this path calls.
pub fn function_at(path: &str) -> Option<&str> {
    path.strip_prefix("/2015-03-31/functions/")?.strip_suffix("/invocations")
}

/// Returns whether this `Authorization` names the keys of the clients.
pub fn is_signed(authorization: &[u8]) -> bool {
    authorization.starts_with(format!("AWS4-HMAC-SHA256 Credential={ACCESS_KEY}/").as_bytes())
}

fn credentials() -> Credentials {
    Credentials::new(ACCESS_KEY, SECRET_KEY, None, None, "benchmark")
}

const REGION: &str = "eu-central-1";
const ACCESS_KEY: &str = "AKIAIOSFODNN7EXAMPLE";
const SECRET_KEY: &str = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY";
