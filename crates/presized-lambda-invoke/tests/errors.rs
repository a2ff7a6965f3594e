//! The error types of the crate.

use std::error::Error as StdError;

use presized_lambda_invoke::{
    Error, FunctionError, PayloadError, ServiceError, StreamedFunctionError,
};

#[test]
fn errors_are_send_sync_and_static() {
    fn check<E: StdError + Send + Sync + 'static>() {}

    check::<Error>();
    check::<FunctionError>();
    check::<PayloadError>();
    check::<ServiceError>();
    check::<StreamedFunctionError>();
}
