//! A client without a TLS provider: no feature has one, and the process has no default one.
#![cfg(not(any(feature = "ring", feature = "aws-lc-rs")))]

use std::error::Error as _;

use aws_credential_types::Credentials;
use presized_lambda_invoke::{Client, ErrorKind};

#[test]
fn https_endpoint_is_refused_and_http_endpoint_is_not() {
    let builder = || {
        Client::builder().region("us-east-1").credentials(Credentials::new(
            "AKIDEXAMPLE",
            "not-a-real-secret",
            None,
            None,
            "test",
        ))
    };
    let error = builder().build().unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Config(_)), "{error:?}");
    let source = error.source().expect("the reason").to_string();
    assert!(source.contains("enable the feature `ring` or `aws-lc-rs`"), "{source}");
    builder().endpoint("http://127.0.0.1:9000").build().expect("needs no TLS");
}
