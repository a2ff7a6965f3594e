//! The configuration of the function.

/// The configuration of the function, which Lambda puts into the environment.
///
/// A field is `None` if its
/// [variable](https://docs.aws.amazon.com/lambda/latest/dg/configuration-envvars.html) is missing,
/// blank or invalid.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct FunctionConfig {
    /// The name of the function: `AWS_LAMBDA_FUNCTION_NAME`.
    pub name: Option<String>,
    /// The version that is executed, or `$LATEST`: `AWS_LAMBDA_FUNCTION_VERSION`.
    pub version: Option<String>,
    /// The memory of the function in MiB: `AWS_LAMBDA_FUNCTION_MEMORY_SIZE`.
    pub memory_mib: Option<u32>,
    /// The log group in Amazon CloudWatch Logs: `AWS_LAMBDA_LOG_GROUP_NAME`.
    pub log_group: Option<String>,
    /// The log stream in Amazon CloudWatch Logs: `AWS_LAMBDA_LOG_STREAM_NAME`.
    pub log_stream: Option<String>,
}

impl FunctionConfig {
    /// Reads the environment of the process.
    pub fn from_env() -> Self {
        Self::from_variables(|name| std::env::var(name).ok())
    }

    /// Reads the environment, in which `variable` looks up a name.
    pub(super) fn from_variables(variable: impl Fn(&str) -> Option<String>) -> Self {
        let variable = |name| variable(name).filter(|value| !value.trim().is_empty());
        Self {
            name: variable("AWS_LAMBDA_FUNCTION_NAME"),
            version: variable("AWS_LAMBDA_FUNCTION_VERSION"),
            memory_mib: variable("AWS_LAMBDA_FUNCTION_MEMORY_SIZE")
                .and_then(|size| size.trim().parse().ok()),
            log_group: variable("AWS_LAMBDA_LOG_GROUP_NAME"),
            log_stream: variable("AWS_LAMBDA_LOG_STREAM_NAME"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_blank_or_invalid_variable_is_none() {
        let variables = |name: &str| {
            let value = match name {
                "AWS_LAMBDA_FUNCTION_NAME" => "bill",
                "AWS_LAMBDA_FUNCTION_VERSION" => " ",
                "AWS_LAMBDA_FUNCTION_MEMORY_SIZE" => "128 MB",
                "AWS_LAMBDA_LOG_GROUP_NAME" => "/aws/lambda/bill",
                _ => return None,
            };
            Some(value.to_owned())
        };
        let expected = FunctionConfig {
            name: Some("bill".to_owned()),
            log_group: Some("/aws/lambda/bill".to_owned()),
            ..FunctionConfig::default()
        };
        assert_eq!(FunctionConfig::from_variables(variables), expected);
        let sized = FunctionConfig::from_variables(|_| Some("1024".to_owned()));
        assert_eq!(sized.memory_mib, Some(1024));
        assert_eq!(sized.log_stream.as_deref(), Some("1024"));
    }
}
