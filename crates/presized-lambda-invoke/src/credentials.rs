//! The credentials of a client, from the environment or from a provider.

use std::fmt;

use aws_credential_types::Credentials;

use super::environment::variable;

pub(super) use self::cache::CredentialsCache;
pub(super) use self::provider::Provider;

mod cache;
mod provider;

/// Returns the credentials in the environment, which `lookup` reads.
pub(super) fn from_env(
    lookup: &dyn Fn(&str) -> Option<String>,
) -> Result<Credentials, NoCredentials> {
    let set = |name| variable(lookup, name);
    match (set(ACCESS_KEY_ID), set(SECRET_ACCESS_KEY)) {
        (Some(key_id), Some(secret)) => {
            Ok(Credentials::new(key_id, secret, set(SESSION_TOKEN), None, "environment"))
        }
        (None, Some(_)) => Err(NoCredentials::Unset(&[ACCESS_KEY_ID])),
        (Some(_), None) => Err(NoCredentials::Unset(&[SECRET_ACCESS_KEY])),
        (None, None) => Err(match OTHER_SOURCES.into_iter().find(|name| set(name).is_some()) {
            Some(source) => NoCredentials::OtherSource(source),
            None => NoCredentials::Unset(&[ACCESS_KEY_ID, SECRET_ACCESS_KEY]),
        }),
    }
}

/// The reason why a client has no credentials.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NoCredentials {
    /// None are set, and the environment is not read.
    NotSet,
    /// These variables are required and not set.
    Unset(&'static [&'static str]),
    /// This variable names a source that only `aws-config` reads.
    OtherSource(&'static str),
}

impl fmt::Display for NoCredentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotSet => write!(
                f,
                "no credentials are set: call credentials(), or call environment() to read \
                 {ACCESS_KEY_ID} and {SECRET_ACCESS_KEY}; {PROVIDER}"
            ),
            Self::Unset(names) => {
                let (verb, object) = if names.len() == 1 { ("is", "it") } else { ("are", "them") };
                let names = names.join(" and ");
                write!(f, "{names} {verb} not set: set {object}, or call credentials(); {PROVIDER}")
            }
            Self::OtherSource(name) => write!(
                f,
                "{ACCESS_KEY_ID} and {SECRET_ACCESS_KEY} are not set, and {name} is not read: enable \
                 the feature aws-config and call ClientBuilder::from_conf(), or call credentials()"
            ),
        }
    }
}

impl std::error::Error for NoCredentials {}

const PROVIDER: &str = "for those of a profile, a container or an instance, enable the feature \
    aws-config and call ClientBuilder::from_conf()";
const ACCESS_KEY_ID: &str = "AWS_ACCESS_KEY_ID";
const SECRET_ACCESS_KEY: &str = "AWS_SECRET_ACCESS_KEY";
const SESSION_TOKEN: &str = "AWS_SESSION_TOKEN";

/// The variables of other sources, in the order in which the AWS SDKs ask them
/// (<https://docs.aws.amazon.com/sdkref/latest/guide/standardized-credentials.html>).
const OTHER_SOURCES: [&str; 4] = [
    "AWS_PROFILE",
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn environment_gives_key_secret_and_optional_token() {
        for (token, expected) in [(None, None), (Some(""), None), (Some("token"), Some("token"))] {
            let credentials = read(Some("AKID"), Some("secret"), token).expect("both are set");
            assert_eq!(credentials.access_key_id(), "AKID");
            assert_eq!(credentials.secret_access_key(), "secret");
            assert_eq!(credentials.session_token(), expected);
            assert_eq!(credentials.expiry(), None);
        }
    }

    #[test]
    fn white_space_around_a_variable_is_removed() {
        for (key_id, secret, token) in [
            ("AKID", "secret\n", "token"),
            (" AKID", "secret", "token\r\n"),
            ("AKID\n", "\tsecret", " token"),
        ] {
            let credentials = read(Some(key_id), Some(secret), Some(token)).expect("all are set");
            assert_eq!(credentials.access_key_id(), "AKID");
            assert_eq!(credentials.secret_access_key(), "secret");
            assert_eq!(credentials.session_token(), Some("token"));
        }
    }

    #[test]
    fn missing_variables_are_named() {
        for (key_id, secret, expected) in [
            (None, Some("secret"), "AWS_ACCESS_KEY_ID is not set: set it, or call credentials()"),
            (Some("AKID"), None, "AWS_SECRET_ACCESS_KEY is not set: set it, or call credentials()"),
            (
                Some("AKID"),
                Some(" \n"),
                "AWS_SECRET_ACCESS_KEY is not set: set it, or call credentials()",
            ),
            (
                None,
                Some(""),
                "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are not set: set them, or call credentials()",
            ),
        ] {
            let missing = read(key_id, secret, Some("token")).expect_err("one is not set");
            let expected = format!(
                "{expected}; for those of a profile, a container or an instance, enable the feature \
                 aws-config and call ClientBuilder::from_conf()"
            );
            assert_eq!(missing.to_string(), expected);
        }
    }

    #[test]
    fn variable_of_a_source_that_is_not_read_is_named() {
        for name in OTHER_SOURCES {
            let only = |value: &'static str| {
                from_env(&move |asked| (asked == name).then(|| value.to_owned()))
                    .expect_err("no keys")
                    .to_string()
            };
            assert_eq!(
                only("set"),
                format!(
                    "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are not set, and {name} is not \
                     read: enable the feature aws-config and call ClientBuilder::from_conf(), or \
                     call credentials()"
                )
            );
            assert!(only(" ").contains("not set: set them, or call credentials()"));
        }
    }

    #[test]
    fn keys_precede_the_variables_of_other_sources() {
        let credentials = from_env(&|name| Some(name.to_owned())).expect("all are set");
        assert_eq!(credentials.access_key_id(), "AWS_ACCESS_KEY_ID");
    }

    fn read(
        key_id: Option<&str>,
        secret: Option<&str>,
        token: Option<&str>,
    ) -> Result<Credentials, NoCredentials> {
        from_env(&|name| {
            let value = match name {
                "AWS_ACCESS_KEY_ID" => key_id,
                "AWS_SECRET_ACCESS_KEY" => secret,
                "AWS_SESSION_TOKEN" => token,
                _ => None,
            };
            value.map(str::to_owned)
        })
    }
}
