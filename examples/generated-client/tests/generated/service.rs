//! The response side of generated code for operations of the service aws.protocoltests.restjson.

use std::error::Error;
use std::fmt;

use bytes::Bytes;
use http::{HeaderMap, Response};
use http_body::Body;
use presized::Reader;
use serde::Deserialize;

use generated_client::{BoxError, ErrorMetadata, ErrorResponse, SdkError, rest_json};

/// The output of `HttpPayloadTraits` and `HttpPayloadTraitsWithMediaType`. The `@mediaType` of the second
/// concerns requests only.
#[derive(Debug)]
pub struct HttpPayloadTraitsOutput {
    pub foo: Option<String>,
    pub blob: Option<Bytes>,
}

#[derive(Debug)]
pub struct HttpStringPayloadOutput {
    pub payload: Option<String>,
}

#[derive(Debug)]
pub struct HttpEnumPayloadOutput {
    pub payload: Option<StringEnum>,
}

#[derive(Debug, PartialEq, Eq)]
pub enum StringEnum {
    V,
    /// A value that the model did not have when this was generated.
    Unknown(String),
}

#[derive(Debug)]
pub struct HttpPayloadWithStructureOutput {
    pub nested: Option<NestedPayload>,
}

#[derive(Debug, Deserialize)]
pub struct NestedPayload {
    pub greeting: Option<String>,
    pub name: Option<String>,
}

#[derive(Debug)]
pub struct GreetingWithErrorsOutput {
    pub greeting: Option<String>,
}

/// The error of operations whose model declares no errors.
#[derive(Debug)]
pub struct UnhandledError(pub ErrorMetadata);

#[derive(Debug, PartialEq, Eq)]
pub enum GreetingWithErrorsError {
    Invalid(InvalidGreeting),
    Complex(ComplexError),
    Foo,
    Unhandled(ErrorMetadata),
}

#[derive(Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct InvalidGreeting {
    #[serde(rename = "Message")]
    pub message: Option<String>,
}

#[derive(Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct ComplexError {
    #[serde(skip)]
    pub header: Option<String>,
    #[serde(rename = "TopLevel")]
    pub top_level: Option<String>,
    #[serde(rename = "Nested")]
    pub nested: Option<ComplexNestedErrorData>,
}

#[derive(Debug, PartialEq, Eq, Deserialize)]
pub struct ComplexNestedErrorData {
    #[serde(rename = "Fooooo")]
    pub foo: Option<String>,
}

pub async fn deserialize_http_payload_traits<B: Body<Error: Into<BoxError>>>(
    response: Response<B>,
    reader: &Reader,
) -> Result<HttpPayloadTraitsOutput, SdkError<UnhandledError>> {
    let response = success(response).await?;
    let mut output =
        HttpPayloadTraitsOutput { foo: header(response.headers(), "x-foo"), blob: None };
    let blob = reader.blob(response).await.map_err(SdkError::payload)?;
    output.blob = (!blob.is_empty()).then_some(blob);
    Ok(output)
}

pub async fn deserialize_http_string_payload<B: Body<Error: Into<BoxError>>>(
    response: Response<B>,
    reader: &Reader,
) -> Result<HttpStringPayloadOutput, SdkError<UnhandledError>> {
    let response = success(response).await?;
    let payload = reader.text(response).await.map_err(SdkError::payload)?;
    Ok(HttpStringPayloadOutput { payload: (!payload.is_empty()).then_some(payload) })
}

pub async fn deserialize_http_enum_payload<B: Body<Error: Into<BoxError>>>(
    response: Response<B>,
    reader: &Reader,
) -> Result<HttpEnumPayloadOutput, SdkError<UnhandledError>> {
    let response = success(response).await?;
    let payload = reader.text(response).await.map_err(SdkError::payload)?;
    Ok(HttpEnumPayloadOutput { payload: (!payload.is_empty()).then(|| payload.into()) })
}

pub async fn deserialize_http_payload_with_structure<B: Body<Error: Into<BoxError>>>(
    response: Response<B>,
    reader: &Reader,
) -> Result<HttpPayloadWithStructureOutput, SdkError<UnhandledError>> {
    let response = success(response).await?;
    let payload = reader.blob(response).await.map_err(SdkError::payload)?;
    let nested = match payload.is_empty() {
        true => None,
        false => {
            serde_json::from_slice(&payload).map_err(|error| SdkError::Deserialize(error.into()))?
        }
    };
    Ok(HttpPayloadWithStructureOutput { nested })
}

/// Reads no body, because all members of the output are in the head.
pub async fn deserialize_greeting_with_errors<B: Body<Error: Into<BoxError>>>(
    response: Response<B>,
) -> Result<GreetingWithErrorsOutput, SdkError<GreetingWithErrorsError>> {
    if !response.status().is_success() {
        let response = ErrorResponse::read(response).await;
        return Err(SdkError::Service(deserialize_greeting_with_errors_error(&response)));
    }
    Ok(GreetingWithErrorsOutput { greeting: header(response.headers(), "x-greeting") })
}

fn deserialize_greeting_with_errors_error(response: &ErrorResponse) -> GreetingWithErrorsError {
    let metadata = rest_json::metadata(response);
    match metadata.code.as_deref() {
        Some("InvalidGreeting") => GreetingWithErrorsError::Invalid(members(response)),
        Some("ComplexError") => GreetingWithErrorsError::Complex(ComplexError {
            header: header(&response.headers, "x-header"),
            ..members(response)
        }),
        Some("FooError") => GreetingWithErrorsError::Foo,
        _ => GreetingWithErrorsError::Unhandled(metadata),
    }
}

/// Reads the members in the body of an error. A body without them is not an error, because the name
/// of the error is known already.
fn members<E: Default + for<'de> Deserialize<'de>>(response: &ErrorResponse) -> E {
    serde_json::from_slice(&response.content).unwrap_or_default()
}

async fn success<B: Body>(response: Response<B>) -> Result<Response<B>, SdkError<UnhandledError>> {
    if response.status().is_success() {
        return Ok(response);
    }
    let metadata = rest_json::metadata(&ErrorResponse::read(response).await);
    Err(SdkError::Service(UnhandledError(metadata)))
}

fn header(headers: &HeaderMap, name: &str) -> Option<String> {
    headers.get(name)?.to_str().ok().map(str::to_owned)
}

impl From<String> for StringEnum {
    fn from(value: String) -> Self {
        match value.as_str() {
            "enumvalue" => Self::V,
            _ => Self::Unknown(value),
        }
    }
}

impl fmt::Display for UnhandledError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Error for UnhandledError {}

impl fmt::Display for GreetingWithErrorsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:?}")
    }
}

impl Error for GreetingWithErrorsError {}
