//! The operation GetCodeBindingSource of EventBridge Schemas, whose output is a blob. Its protocol is
//! aws.protocols#restJson1.

use std::error::Error;
use std::fmt;

use bytes::Bytes;
use http::{Method, Request, Response};
use http_body::Body;
use presized::Reader;

use crate::uri::{encode, label};
use crate::{
    BoxError, BuildError, Config, ErrorMetadata, ErrorResponse, SdkError, Transport, rest_json,
};

/// A client of EventBridge Schemas.
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
    pub async fn get_code_binding_source(
        &self,
        input: GetCodeBindingSourceInput,
    ) -> Result<GetCodeBindingSourceOutput, SdkError<GetCodeBindingSourceError>> {
        let request = serialize_get_code_binding_source(&self.config.endpoint, &input);
        let response = self.config.send(request.map_err(SdkError::Build)?).await?;
        deserialize_get_code_binding_source(response, &self.config.reader).await
    }
}

/// The input of the operation. Required members are arguments of [`new`](Self::new), and the others
/// are fields.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct GetCodeBindingSourceInput {
    pub registry_name: String,
    pub schema_name: String,
    pub language: String,
    pub schema_version: Option<String>,
}

impl GetCodeBindingSourceInput {
    pub fn new(
        registry_name: impl Into<String>,
        schema_name: impl Into<String>,
        language: impl Into<String>,
    ) -> Self {
        Self {
            registry_name: registry_name.into(),
            schema_name: schema_name.into(),
            language: language.into(),
            schema_version: None,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct GetCodeBindingSourceOutput {
    /// The source code, as a ZIP archive.
    pub body: Option<Bytes>,
}

/// The error of the operation. All errors of the service have the same members: a code and a message.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum GetCodeBindingSourceError {
    BadRequest(ErrorMetadata),
    Forbidden(ErrorMetadata),
    InternalServerError(ErrorMetadata),
    NotFound(ErrorMetadata),
    ServiceUnavailable(ErrorMetadata),
    TooManyRequests(ErrorMetadata),
    Unauthorized(ErrorMetadata),
    /// An error that the model does not declare.
    Unhandled(ErrorMetadata),
}

impl GetCodeBindingSourceError {
    pub fn metadata(&self) -> &ErrorMetadata {
        match self {
            Self::BadRequest(metadata)
            | Self::Forbidden(metadata)
            | Self::InternalServerError(metadata)
            | Self::NotFound(metadata)
            | Self::ServiceUnavailable(metadata)
            | Self::TooManyRequests(metadata)
            | Self::Unauthorized(metadata)
            | Self::Unhandled(metadata) => metadata,
        }
    }
}

impl From<ErrorMetadata> for GetCodeBindingSourceError {
    fn from(metadata: ErrorMetadata) -> Self {
        match metadata.code.as_deref() {
            Some("BadRequestException") => Self::BadRequest(metadata),
            Some("ForbiddenException") => Self::Forbidden(metadata),
            Some("InternalServerErrorException") => Self::InternalServerError(metadata),
            Some("NotFoundException") => Self::NotFound(metadata),
            Some("ServiceUnavailableException") => Self::ServiceUnavailable(metadata),
            Some("TooManyRequestsException") => Self::TooManyRequests(metadata),
            Some("UnauthorizedException") => Self::Unauthorized(metadata),
            _ => Self::Unhandled(metadata),
        }
    }
}

impl fmt::Display for GetCodeBindingSourceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.metadata().fmt(f)
    }
}

impl Error for GetCodeBindingSourceError {}

pub fn serialize_get_code_binding_source(
    endpoint: &str,
    input: &GetCodeBindingSourceInput,
) -> Result<Request<Bytes>, BuildError> {
    let mut uri = format!(
        "{endpoint}/v1/registries/name/{}/schemas/name/{}/language/{}/source",
        label("RegistryName", &input.registry_name)?,
        label("SchemaName", &input.schema_name)?,
        label("Language", &input.language)?,
    );
    if let Some(version) = &input.schema_version {
        uri.push_str("?schemaVersion=");
        uri.extend(encode(version));
    }
    let request = Request::builder().method(Method::GET).uri(uri);
    request.body(Bytes::new()).map_err(BuildError::Request)
}

pub async fn deserialize_get_code_binding_source<B: Body<Error: Into<BoxError>>>(
    response: Response<B>,
    reader: &Reader,
) -> Result<GetCodeBindingSourceOutput, SdkError<GetCodeBindingSourceError>> {
    if !response.status().is_success() {
        let metadata = rest_json::metadata(&ErrorResponse::read(response).await);
        return Err(SdkError::Service(metadata.into()));
    }
    let body = reader.blob(response).await.map_err(SdkError::payload)?;
    Ok(GetCodeBindingSourceOutput { body: (!body.is_empty()).then_some(body) })
}
