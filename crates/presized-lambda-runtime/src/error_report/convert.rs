//! The conversion of errors into reports.

use std::any;
use std::error::Error;

use super::ErrorReport;
use crate::BoxError;

/// Converts every error that a [`BoxError`] can hold.
///
/// `Unpin` excludes [`ErrorReport`] itself, which the standard library converts already, and no
/// other error in practice.
impl<E: Into<BoxError> + Unpin> From<E> for ErrorReport {
    fn from(error: E) -> Self {
        let error: BoxError = error.into();
        match error.downcast() {
            Ok(report) => *report,
            Err(error) => report(short_name(any::type_name::<E>()), &*error),
        }
    }
}

/// A report is not `Unpin`. This has one purpose: the compiler must see that no report is among the
/// types of the conversion above, although a report is an [`Error`]. Nothing pins a report.
///
/// The lifetime makes the bound one that may be false.
impl<'a> Unpin for ErrorReport where Pinned<'a>: Never {}

/// A type without [`Never`].
#[derive(Debug)]
pub struct Pinned<'a>(std::marker::PhantomData<&'a ()>);

/// A trait without an implementation.
#[diagnostic::on_unimplemented(
    message = "an error that contains an `ErrorReport` converts into one only if it boxes it",
    label = "`ErrorReport` is not `Unpin`: use `Box<ErrorReport>` in the error"
)]
pub trait Never {}

/// Returns a report of an error. `error_type` is its type if no report is among its sources.
pub(super) fn report(error_type: &str, error: &(dyn Error + 'static)) -> ErrorReport {
    if let Some(report) = as_report(error) {
        return report.clone();
    }
    let ErrorReport { error_message, .. } = ErrorReport::from_dyn(error_type, error);
    let mut source = error.source();
    while let Some(error) = source {
        if let Some(report) = as_report(error) {
            return ErrorReport { error_message, ..report.clone() };
        }
        source = error.source();
    }
    ErrorReport::new(error_type, error_message)
}

/// Returns the report that an error is. A source that is a field is often a box.
fn as_report<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a ErrorReport> {
    let boxed = || error.downcast_ref::<Box<ErrorReport>>().map(|report| &**report);
    error.downcast_ref().or_else(boxed)
}

/// Returns the name of an error type without its path and its parameters, and without the box
/// around it.
fn short_name(type_name: &str) -> &str {
    let mut name = type_name;
    while let Some(inner) = POINTERS.iter().find_map(|pointer| name.strip_prefix(pointer)) {
        name = inner;
    }
    let path = name.split(['<', '>']).next().unwrap_or(name);
    if path.starts_with("dyn ") || WITHOUT_NAME.contains(&path) {
        return UNNAMED;
    }
    path.rsplit("::").next().unwrap_or(path)
}

/// The type of an error without a name of its own.
pub(super) const UNNAMED: &str = "Error";

const POINTERS: [&str; 2] = ["alloc::boxed::Box<", "alloc::sync::Arc<"];

/// The types that are only a message.
const WITHOUT_NAME: [&str; 3] = ["alloc::string::String", "&str", "alloc::borrow::Cow"];

#[cfg(test)]
mod tests {
    use std::borrow::Cow;
    use std::fmt;
    use std::io;
    use std::sync::Arc;

    use super::*;

    #[derive(Debug)]
    struct Outer<T>(T);

    impl<T> fmt::Display for Outer<T> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("cannot load")
        }
    }

    impl<T: Error + 'static> Error for Outer<T> {
        fn source(&self) -> Option<&(dyn Error + 'static)> {
            Some(&self.0)
        }
    }

    #[test]
    fn message_contains_each_source_once() {
        let report = ErrorReport::from(Outer(io::Error::other(Outer(fmt::Error))));
        assert_eq!(report.error_type, "Outer");
        let inner = fmt::Error.to_string();
        assert_eq!(report.error_message, format!("cannot load: {inner}"));
    }

    #[test]
    fn type_is_the_name_of_the_rust_type_or_error() {
        fn name_of<E>() -> &'static str {
            short_name(any::type_name::<E>())
        }
        let table = [
            (name_of::<std::num::ParseIntError>(), "ParseIntError"),
            (name_of::<Outer<fmt::Error>>(), "Outer"),
            (name_of::<Box<Outer<fmt::Error>>>(), "Outer"),
            (name_of::<Arc<Box<std::num::ParseIntError>>>(), "ParseIntError"),
            (name_of::<BoxError>(), "Error"),
            (name_of::<Box<dyn Error>>(), "Error"),
            (name_of::<anyhow::Error>(), "Error"),
            (name_of::<String>(), "Error"),
            (name_of::<&'static str>(), "Error"),
            (name_of::<Cow<'static, str>>(), "Error"),
        ];
        for (name, expected) in table {
            assert_eq!(name, expected);
        }
    }

    fn whole_report() -> ErrorReport {
        ErrorReport::new("Order.TooLarge", "no").with_stack_trace(["a", "b"]).with_xray_cause("{}")
    }

    #[test]
    fn report_survives_a_box() {
        fn boxed() -> Result<(), BoxError> {
            Err(whole_report())?
        }
        fn unboxed() -> Result<(), ErrorReport> {
            Ok(boxed()?)
        }
        assert_eq!(unboxed().unwrap_err(), whole_report());
        assert_eq!(ErrorReport::from(Box::new(whole_report())), whole_report());
        assert_eq!(ErrorReport::from_boxed(Box::new(whole_report())), whole_report());
    }

    #[test]
    fn report_among_the_sources_gives_its_type_stack_and_cause() {
        let expected =
            |message: &str| ErrorReport { error_message: message.into(), ..whole_report() };
        let outer = ErrorReport::from(Outer(Box::new(whole_report())));
        assert_eq!(outer, expected("cannot load: Order.TooLarge: no"));
        let outer = ErrorReport::from(anyhow::Error::new(whole_report()).context("context"));
        assert_eq!(outer, expected("context: Order.TooLarge: no"));
    }

    #[test]
    fn message_of_anyhow_contains_its_contexts() {
        let error = anyhow::Error::new(io::Error::other("inner")).context("outer");
        assert_eq!(ErrorReport::from(error), ErrorReport::new("Error", "outer: inner"));
    }
}
