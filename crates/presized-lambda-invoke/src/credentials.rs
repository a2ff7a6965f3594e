//! The credentials of a client, from the environment or from a provider.

use std::fmt;

use aws_credential_types::Credentials;

use super::environment::variable;

pub(super) use self::cache::CredentialsCache;

mod cache;

/// Returns the credentials in the environment, which `lookup` reads.
pub(super) fn from_env(
    lookup: &dyn Fn(&str) -> Option<String>,
) -> Result<Credentials, MissingVariables> {
    let set = |name| variable(lookup, name);
    match (set(ACCESS_KEY_ID), set(SECRET_ACCESS_KEY)) {
        (Some(key_id), Some(secret)) => {
            Ok(Credentials::new(key_id, secret, set(SESSION_TOKEN), None, "environment"))
        }
        (None, Some(_)) => Err(MissingVariables(&[ACCESS_KEY_ID])),
        (Some(_), None) => Err(MissingVariables(&[SECRET_ACCESS_KEY])),
        (None, None) => Err(MissingVariables(&[ACCESS_KEY_ID, SECRET_ACCESS_KEY])),
    }
}

/// The required variables that are not set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct MissingVariables(&'static [&'static str]);

impl fmt::Display for MissingVariables {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verb = if self.0.len() == 1 { "is" } else { "are" };
        write!(f, "{} {verb} not set", self.0.join(" and "))
    }
}

impl std::error::Error for MissingVariables {}

const ACCESS_KEY_ID: &str = "AWS_ACCESS_KEY_ID";
const SECRET_ACCESS_KEY: &str = "AWS_SECRET_ACCESS_KEY";
const SESSION_TOKEN: &str = "AWS_SESSION_TOKEN";

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
            (None, Some("secret"), "AWS_ACCESS_KEY_ID is not set"),
            (Some("AKID"), None, "AWS_SECRET_ACCESS_KEY is not set"),
            (Some("AKID"), Some(" \n"), "AWS_SECRET_ACCESS_KEY is not set"),
            (None, Some(""), "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are not set"),
        ] {
            let missing = read(key_id, secret, Some("token")).expect_err("one is not set");
            assert_eq!(missing.to_string(), expected);
        }
    }

    fn read(
        key_id: Option<&str>,
        secret: Option<&str>,
        token: Option<&str>,
    ) -> Result<Credentials, MissingVariables> {
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
