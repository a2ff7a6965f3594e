//! The routes of the Invoke API: an operation, a function and a version.

use std::fmt;

use percent_encoding::percent_decode_str;
use presized_lambda_invoke::wire::{Operation, QUALIFIER};

use crate::names::{LATEST, is_function_name, is_qualifier};

/// The operation of a request, and the function that it names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct InvokeRoute {
    pub(super) operation: Operation,
    pub(super) function: String,
    /// A version or an alias.
    pub(super) qualifier: Option<String>,
}

/// The error for a path or a query that names no function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum RouteError {
    UnknownOperation,
    FunctionName(String),
    Qualifier(String),
    /// The path and the query have different qualifiers.
    TwoQualifiers,
}

impl InvokeRoute {
    /// Parses the path and the query of a request. The region and the account of an ARN are
    /// ignored, because the emulator has one of each.
    pub(super) fn parse(path: &str, query: Option<&str>) -> Result<Self, RouteError> {
        let (operation, label) = Operation::of_path(path).ok_or(RouteError::UnknownOperation)?;
        let label = percent_decode_str(label).decode_utf8_lossy();
        let (name, in_path) =
            split(&label).ok_or_else(|| RouteError::FunctionName(label.to_string()))?;
        let in_query = query.and_then(qualifier_of).filter(|qualifier| !qualifier.is_empty());
        let qualifier = match (in_path, in_query) {
            (Some(path), Some(query)) if path != query => return Err(RouteError::TwoQualifiers),
            (Some(path), _) => Some(path.to_owned()),
            (None, query) => query,
        };
        match qualifier {
            Some(qualifier) if !is_qualifier(&qualifier) => Err(RouteError::Qualifier(qualifier)),
            qualifier => Ok(Self { operation, function: name.to_owned(), qualifier }),
        }
    }

    /// Returns the version that runs. Every alias refers to the unpublished version.
    pub(super) fn version(&self) -> &str {
        match &self.qualifier {
            Some(qualifier) if qualifier.bytes().all(|byte| byte.is_ascii_digit()) => qualifier,
            _ => LATEST,
        }
    }
}

impl fmt::Display for RouteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownOperation => f.write_str("unknown operation: check the method and path"),
            Self::FunctionName(name) => write!(f, "{name:?} is not a function name or ARN"),
            Self::Qualifier(name) => write!(f, "{name:?} is not a version or alias"),
            Self::TwoQualifiers => f.write_str(
                "The derived qualifier from the function name does not match the specified \
                 qualifier.",
            ),
        }
    }
}

/// Splits a function name, a partial ARN or an ARN into the name and its qualifier, if it has one
/// (<https://docs.aws.amazon.com/lambda/latest/api/API_Invoke.html>, `FunctionName`).
fn split(label: &str) -> Option<(&str, Option<&str>)> {
    let parts: Vec<&str> = label.split(':').collect();
    let rest = match parts[..] {
        ["arn", partition, "lambda", _region, _account, "function", ref rest @ ..]
            if partition.starts_with("aws") =>
        {
            rest
        }
        ["arn", ..] => return None,
        [account, "function", ref rest @ ..] if is_account(account) => rest,
        ["function", ref rest @ ..] if !rest.is_empty() => rest,
        ref rest => rest,
    };
    match *rest {
        [name] if is_function_name(name) => Some((name, None)),
        [name, qualifier] if is_function_name(name) => Some((name, Some(qualifier))),
        _ => None,
    }
}

fn qualifier_of(query: &str) -> Option<String> {
    let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    let (_, value) = pairs.find(|(name, _)| *name == QUALIFIER)?;
    Some(percent_decode_str(value).decode_utf8_lossy().into_owned())
}

fn is_account(part: &str) -> bool {
    part.len() == 12 && part.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(label: &str, query: Option<&str>) -> Result<(String, Option<String>), RouteError> {
        InvokeRoute::parse(&format!("/2015-03-31/functions/{label}/invocations"), query)
            .map(|route| (route.function, route.qualifier))
    }

    #[test]
    fn function_is_named_by_name_partial_arn_or_arn() {
        for (label, query, qualifier) in [
            ("fn", None, None),
            ("fn%3Alive", None, Some("live")),
            ("fn:live", None, Some("live")),
            ("fn:%24LATEST", None, Some("$LATEST")),
            ("fn", Some("Qualifier=%24LATEST.PUBLISHED"), Some("$LATEST.PUBLISHED")),
            ("fn", Some("a=b&Qualifier=7"), Some("7")),
            ("fn", Some("Qualifier="), None),
            ("fn:7", Some("Qualifier=7"), Some("7")),
            ("function:fn", None, None),
            ("123456789012:function:fn", None, None),
            ("123456789012%3Afunction%3Afn%3Alive", None, Some("live")),
            ("arn:aws:lambda:us-west-2:123456789012:function:fn", None, None),
            ("arn%3Aaws-cn%3Alambda%3Acn-north-1%3A1%3Afunction%3Afn%3A7", None, Some("7")),
        ] {
            let expected = (String::from("fn"), qualifier.map(str::to_owned));
            assert_eq!(parse(label, query), Ok(expected), "{label} {query:?}");
        }
        let alone = (String::from("function"), None);
        assert_eq!(parse("function", None), Ok(alone));
    }

    #[test]
    fn invalid_function_name_or_qualifier_is_refused() {
        let long = "f".repeat(65);
        for label in
            ["", "a%20b", "a%2Fb", "a/b", "%FF", "a:b:c", "arn:aws:s3:::bucket", "arn", &long]
        {
            let refused = parse(label, None);
            if label == "arn" {
                assert_eq!(refused, Err(RouteError::FunctionName("arn".into())));
            }
            assert!(matches!(refused, Err(RouteError::FunctionName(_))), "{label}: {refused:?}");
        }
        for (label, query, expected) in [
            ("fn:1", Some("Qualifier=2"), RouteError::TwoQualifiers),
            ("fn:", None, RouteError::Qualifier(String::new())),
            ("fn", Some("Qualifier=a%20b"), RouteError::Qualifier("a b".into())),
            ("fn:$OLDEST", None, RouteError::Qualifier("$OLDEST".into())),
        ] {
            assert_eq!(parse(label, query), Err(expected));
        }
    }

    #[test]
    fn each_operation_has_its_own_api_version_and_path() {
        for (path, expected) in [
            ("/2015-03-31/functions/fn/invocations", Some(Operation::Invoke)),
            (
                "/2021-11-15/functions/fn/response-streaming-invocations",
                Some(Operation::InvokeWithResponseStream),
            ),
            ("/2015-03-31/functions/fn/response-streaming-invocations", None),
            ("/2021-11-15/functions/fn/invocations", None),
            ("/2015-03-31/functions/fn", None),
            ("/", None),
            ("*", None),
        ] {
            let route = InvokeRoute::parse(path, None);
            assert_eq!(route.ok().map(|route| route.operation), expected, "{path}");
        }
    }

    #[test]
    fn numeric_qualifier_is_the_version_that_runs() {
        for (qualifier, version) in [(None, "$LATEST"), (Some("7"), "7"), (Some("live"), "$LATEST")]
        {
            let route = InvokeRoute {
                operation: Operation::Invoke,
                function: "fn".into(),
                qualifier: qualifier.map(str::to_owned),
            };
            assert_eq!(route.version(), version);
        }
    }
}
