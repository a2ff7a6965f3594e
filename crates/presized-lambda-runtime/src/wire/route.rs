//! The routes of the Runtime API.

use std::borrow::Cow;

use http::Method;

/// Puts the version of the Runtime API before the rest of a path.
macro_rules! path {
    ($rest:literal) => {
        concat!("/2018-06-01/runtime", $rest)
    };
}

/// A route of the Runtime API, or of the
/// [Extensions API](https://docs.aws.amazon.com/lambda/latest/dg/runtimes-extensions-api.html) beside
/// it: a method and a path.
///
/// # Examples
///
/// ```
/// use http::Method;
/// use presized_lambda_runtime::wire::Route;
///
/// let route = Route::Response("8476a536");
/// assert_eq!(route.method(), Method::POST);
/// assert_eq!(route.path(), "/2018-06-01/runtime/invocation/8476a536/response");
/// assert_eq!(Route::parse(&Method::POST, &route.path()), Some(route));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Route<'a> {
    /// Waits for the next invocation.
    NextInvocation,
    /// Posts the response to the invocation with this request id.
    Response(&'a str),
    /// Posts the error of the invocation with this request id.
    Error(&'a str),
    /// Posts an error of the initialization.
    InitError,
    /// Waits until the process was restored from a snapshot.
    RestoreNext,
    /// Posts an error of the restoration.
    RestoreError,
    /// Registers an extension.
    RegisterExtension,
    /// Waits for the next event of an extension.
    NextExtensionEvent,
}

impl<'a> Route<'a> {
    /// Returns the route of a request, or `None` if the Runtime API has no such route.
    pub fn parse(method: &Method, path: &'a str) -> Option<Self> {
        let extension = [Self::RegisterExtension, Self::NextExtensionEvent];
        if let Some(route) = extension.into_iter().find(|route| route.path() == path) {
            return (*method == route.method()).then_some(route);
        }
        let mut segments = path.strip_prefix(path!("/"))?.split('/');
        let route = match (segments.next()?, segments.next()?, segments.next()) {
            ("invocation", "next", None) => Self::NextInvocation,
            ("invocation", request_id, Some("response")) => Self::Response(request_id),
            ("invocation", request_id, Some("error")) => Self::Error(request_id),
            ("init", "error", None) => Self::InitError,
            ("restore", "next", None) => Self::RestoreNext,
            ("restore", "error", None) => Self::RestoreError,
            _ => return None,
        };
        (segments.next().is_none() && *method == route.method()).then_some(route)
    }

    /// Returns the method of the route.
    pub fn method(&self) -> Method {
        match self {
            Self::NextInvocation | Self::RestoreNext | Self::NextExtensionEvent => Method::GET,
            Self::Response(_)
            | Self::Error(_)
            | Self::InitError
            | Self::RestoreError
            | Self::RegisterExtension => Method::POST,
        }
    }

    /// Returns the path of the route.
    pub fn path(&self) -> Cow<'static, str> {
        match self {
            Self::NextInvocation => Cow::Borrowed(path!("/invocation/next")),
            Self::Response(id) => Cow::Owned([path!("/invocation/"), id, "/response"].concat()),
            Self::Error(id) => Cow::Owned([path!("/invocation/"), id, "/error"].concat()),
            Self::InitError => Cow::Borrowed(path!("/init/error")),
            Self::RestoreNext => Cow::Borrowed(path!("/restore/next")),
            Self::RestoreError => Cow::Borrowed(path!("/restore/error")),
            Self::RegisterExtension => Cow::Borrowed("/2020-01-01/extension/register"),
            Self::NextExtensionEvent => Cow::Borrowed("/2020-01-01/extension/event/next"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn route_is_parsed_from_its_method_and_path() {
        for route in [
            Route::NextInvocation,
            Route::Response("r-1"),
            Route::Error("r-1"),
            Route::InitError,
            Route::RestoreNext,
            Route::RestoreError,
            Route::RegisterExtension,
            Route::NextExtensionEvent,
        ] {
            assert_eq!(Route::parse(&route.method(), &route.path()), Some(route));
            assert_eq!(Route::parse(&Method::PUT, &route.path()), None, "{route:?}");
        }
    }

    #[test]
    fn unknown_path_is_no_route() {
        for (method, path) in [
            (Method::POST, "/2018-06-01/runtime/invocation/next"),
            (Method::GET, "/2018-06-01/runtime/invocation/next/"),
            (Method::GET, "/2018-06-01/runtime/invocation/a/b/response"),
            (Method::POST, "/2018-06-01/runtime/invocation/a/b/response"),
            (Method::POST, "/2018-06-01/runtime/invocation/a/response/"),
            (Method::GET, "/2020-01-01/runtime/invocation/next"),
            (Method::GET, "/2018-06-01/runtime/invocation"),
            (Method::GET, ""),
        ] {
            assert_eq!(Route::parse(&method, path), None, "{method} {path}");
        }
    }
}
