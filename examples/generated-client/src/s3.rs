//! The operation GetBucketPolicy of Amazon S3, whose output is text. Its protocol is
//! aws.protocols#restXml.

use std::error::Error;
use std::fmt;

use bytes::Bytes;
use http::{Method, Request, Response};
use http_body::Body;
use presized::Reader;

use crate::uri::label;
use crate::{
    BoxError, BuildError, Config, ErrorMetadata, ErrorResponse, SdkError, Transport, rest_xml,
};

/// A client of Amazon S3.
#[derive(Clone, Debug)]
pub struct Client<T> {
    config: Config<T>,
}

impl<T> Client<T> {
    pub fn new(config: Config<T>) -> Self {
        Self { config }
    }
}

impl<T: Transport> Client<T> {
    pub async fn get_bucket_policy(
        &self,
        input: GetBucketPolicyInput,
    ) -> Result<GetBucketPolicyOutput, SdkError<GetBucketPolicyError>> {
        let request = serialize_get_bucket_policy(&self.config.endpoint, &input);
        let response = self.config.send(request.map_err(SdkError::Build)?).await?;
        deserialize_get_bucket_policy(response, &self.config.reader).await
    }
}

/// The input of the operation. Required members are arguments of [`new`](Self::new), and the others
/// are fields.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct GetBucketPolicyInput {
    pub bucket: String,
    pub expected_bucket_owner: Option<String>,
}

impl GetBucketPolicyInput {
    pub fn new(bucket: impl Into<String>) -> Self {
        Self { bucket: bucket.into(), expected_bucket_owner: None }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct GetBucketPolicyOutput {
    /// The bucket policy as a JSON document.
    pub policy: Option<String>,
}

/// The error of the operation. The model declares no errors, so only the code differs.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum GetBucketPolicyError {
    Unhandled(ErrorMetadata),
}

impl GetBucketPolicyError {
    pub fn metadata(&self) -> &ErrorMetadata {
        match self {
            Self::Unhandled(metadata) => metadata,
        }
    }
}

impl fmt::Display for GetBucketPolicyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.metadata().fmt(f)
    }
}

impl Error for GetBucketPolicyError {}

pub fn serialize_get_bucket_policy(
    endpoint: &str,
    input: &GetBucketPolicyInput,
) -> Result<Request<Bytes>, BuildError> {
    let uri = format!("{endpoint}/{}?policy", label("Bucket", &input.bucket)?);
    let mut request = Request::builder().method(Method::GET).uri(uri);
    if let Some(owner) = &input.expected_bucket_owner {
        request = request.header("x-amz-expected-bucket-owner", owner);
    }
    request.body(Bytes::new()).map_err(BuildError::Request)
}

pub async fn deserialize_get_bucket_policy<B: Body<Error: Into<BoxError>>>(
    response: Response<B>,
    reader: &Reader,
) -> Result<GetBucketPolicyOutput, SdkError<GetBucketPolicyError>> {
    if !response.status().is_success() {
        let metadata = rest_xml::metadata(&ErrorResponse::read(response).await);
        return Err(SdkError::Service(GetBucketPolicyError::Unhandled(metadata)));
    }
    let policy = reader.text(response).await.map_err(SdkError::payload)?;
    Ok(GetBucketPolicyOutput { policy: (!policy.is_empty()).then_some(policy) })
}
