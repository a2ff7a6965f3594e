//! Which function a request is for, and which version of it.
//!
//! Pure: whether there is such a function is for others to say.

use std::fmt;

use percent_encoding::percent_decode_str;

/// What is asked of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operation {
    Invoke,
    InvokeStreaming,
}

/// What a request is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Target {
    pub(super) operation: Operation,
    pub(super) name: String,
    /// A version or an alias.
    pub(super) qualifier: Option<String>,
}

/// Why a request is for nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum NameError {
    /// The path is of no operation that is known here.
    NoOperation,
    /// This is not the name of a function.
    Name(String),
    /// This is not the name of a version or an alias.
    Qualifier(String),
    /// The name has one qualifier and the query another.
    TwoQualifiers,
}

/// What the target of a request names.
///
/// The region and the account of an ARN are read over: there is one of each here.
pub(super) fn target(path: &str, query: Option<&str>) -> Result<Target, NameError> {
    let (operation, label) = operation(path).ok_or(NameError::NoOperation)?;
    let label = percent_decode_str(label).decode_utf8_lossy();
    let (name, qualifier) = split(&label).ok_or_else(|| NameError::Name(label.to_string()))?;
    let asked = query.and_then(qualifier_of).filter(|qualifier| !qualifier.is_empty());
    let qualifier = match (qualifier, asked) {
        (Some(one), Some(other)) if one != other => return Err(NameError::TwoQualifiers),
        (Some(one), _) => Some(one.to_owned()),
        (None, asked) => asked,
    };
    match qualifier {
        Some(qualifier) if !is_qualifier(&qualifier) => Err(NameError::Qualifier(qualifier)),
        qualifier => Ok(Target { operation, name: name.to_owned(), qualifier }),
    }
}

/// Whether a function can have this name.
pub(super) fn is_name(name: &str) -> bool {
    (1..=64).contains(&name.len()) && name.bytes().all(is_word)
}

/// The ARN of a function, as it is invoked.
pub(super) fn arn(name: &str, qualifier: Option<&str>) -> String {
    let arn = format!("arn:aws:lambda:{REGION}:{ACCOUNT}:function:{name}");
    match qualifier {
        None => arn,
        Some(qualifier) => format!("{arn}:{qualifier}"),
    }
}

impl Target {
    /// The version that runs. All versions of a function are the same here, and an alias is one
    /// of the unpublished version.
    pub(super) fn version(&self) -> &str {
        match &self.qualifier {
            Some(qualifier) if qualifier.bytes().all(|byte| byte.is_ascii_digit()) => qualifier,
            _ => LATEST,
        }
    }
}

impl fmt::Display for NameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoOperation => f.write_str("no such operation"),
            Self::Name(name) => write!(f, "{name:?} is not the name or the ARN of a function"),
            Self::Qualifier(name) => write!(f, "{name:?} is not the name of a version or an alias"),
            Self::TwoQualifiers => f.write_str(
                "The derived qualifier from the function name does not match the specified \
                 qualifier.",
            ),
        }
    }
}

fn operation(path: &str) -> Option<(Operation, &str)> {
    for (operation, before, after) in [
        (Operation::Invoke, "/2015-03-31/functions/", "/invocations"),
        (Operation::InvokeStreaming, "/2021-11-15/functions/", "/response-streaming-invocations"),
    ] {
        let label = path.strip_prefix(before).and_then(|rest| rest.strip_suffix(after));
        if let Some(label) = label {
            return Some((operation, label));
        }
    }
    None
}

/// Name and qualifier out of a name, a partial ARN or an ARN, each with or without a qualifier
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
        [name] if is_name(name) => Some((name, None)),
        [name, qualifier] if is_name(name) => Some((name, Some(qualifier))),
        _ => None,
    }
}

fn qualifier_of(query: &str) -> Option<String> {
    let value = query.split('&').find_map(|pair| pair.strip_prefix("Qualifier="))?;
    Some(percent_decode_str(value).decode_utf8_lossy().into_owned())
}

fn is_qualifier(qualifier: &str) -> bool {
    let published = qualifier.strip_prefix(LATEST);
    matches!(published, Some("" | ".PUBLISHED"))
        || (1..=128).contains(&qualifier.len()) && qualifier.bytes().all(is_word)
}

fn is_account(part: &str) -> bool {
    part.len() == 12 && part.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_'
}

pub(super) const LATEST: &str = "$LATEST";

pub(super) const REGION: &str = "us-east-1";

/// The account of AWS's own examples.
const ACCOUNT: &str = "123456789012";

#[cfg(test)]
mod tests {
    use super::*;

    fn invoke(label: &str, query: Option<&str>) -> Result<(String, Option<String>), NameError> {
        target(&format!("/2015-03-31/functions/{label}/invocations"), query)
            .map(|target| (target.name, target.qualifier))
    }

    #[test]
    fn a_function_is_named_in_many_ways() {
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
            assert_eq!(invoke(label, query), Ok(expected), "{label} {query:?}");
        }
        let alone = (String::from("function"), None);
        assert_eq!(invoke("function", None), Ok(alone));
    }

    #[test]
    fn what_is_no_name_is_refused() {
        let long = "f".repeat(65);
        for label in
            ["", "a%20b", "a%2Fb", "a/b", "%FF", "a:b:c", "arn:aws:s3:::bucket", "arn", &long]
        {
            let refused = invoke(label, None);
            if label == "arn" {
                assert_eq!(refused, Err(NameError::Name("arn".into())));
            }
            assert!(matches!(refused, Err(NameError::Name(_))), "{label}: {refused:?}");
        }
        for (label, query, expected) in [
            ("fn:1", Some("Qualifier=2"), NameError::TwoQualifiers),
            ("fn:", None, NameError::Qualifier(String::new())),
            ("fn", Some("Qualifier=a%20b"), NameError::Qualifier("a b".into())),
            ("fn:$OLDEST", None, NameError::Qualifier("$OLDEST".into())),
        ] {
            assert_eq!(invoke(label, query), Err(expected));
        }
    }

    #[test]
    fn each_operation_has_its_date_and_route() {
        for (path, expected) in [
            ("/2015-03-31/functions/fn/invocations", Some(Operation::Invoke)),
            (
                "/2021-11-15/functions/fn/response-streaming-invocations",
                Some(Operation::InvokeStreaming),
            ),
            ("/2015-03-31/functions/fn/response-streaming-invocations", None),
            ("/2021-11-15/functions/fn/invocations", None),
            ("/2015-03-31/functions/fn", None),
            ("/", None),
            ("*", None),
        ] {
            assert_eq!(target(path, None).ok().map(|target| target.operation), expected, "{path}");
        }
    }

    #[test]
    fn a_number_is_the_version_that_runs() {
        for (qualifier, version) in [(None, "$LATEST"), (Some("7"), "7"), (Some("live"), "$LATEST")]
        {
            let target = Target {
                operation: Operation::Invoke,
                name: "fn".into(),
                qualifier: qualifier.map(str::to_owned),
            };
            assert_eq!(target.version(), version);
        }
    }
}
