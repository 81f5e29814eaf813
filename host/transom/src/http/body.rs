//! The body of a request: bounded in size and time, JSON or a form with files.
//!
//! JSON needs its Content-Type: a form on a web page can't send that without asking first, which is one more lock against pages.

use std::time::Duration;

use axum::{
    body::{Body, to_bytes},
    extract::{FromRequest as _, Multipart, Request},
    http::header,
};
use base64::{Engine as _, prelude::BASE64_STANDARD};
use bytes::Bytes;
use serde::{Deserialize, de::DeserializeOwned};
use transom_runs::GivenFile;

use super::ApiError;

/// Largest body of a call, in bytes. The largest arguments that a verb takes are a script of 256 KiB and a text of 100,000
/// characters; JSON may escape each byte as six.
pub(super) const CALL_BYTES_MAX: usize = 2 << 20;

/// Largest body that brings files, in bytes. They are held in memory until they are stored, so this bounds what one request of somebody
/// with a token costs; base64 takes a third of it.
pub(super) const FILES_BYTES_MAX: usize = 64 << 20;

/// How long a body may take to arrive. From this machine even the largest takes well under a second.
const BODY_WITHIN: Duration = Duration::from_secs(30);

/// A file in a JSON body.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct JsonFile {
    /// Its name.
    name: String,
    /// Its bytes, in standard base64.
    content_base64: String,
    /// Its media type.
    #[serde(rename = "type")]
    media_type: Option<String>,
}

impl JsonFile {
    pub(super) fn into_given(self) -> Result<GivenFile, ApiError> {
        let bytes = BASE64_STANDARD
            .decode(self.content_base64.as_bytes())
            .map_err(|_| ApiError::invalid("`content_base64` is not base64 (the standard alphabet, padded)"))?;
        Ok(GivenFile { name: self.name, bytes, media_type: self.media_type })
    }
}

/// What kind of body it is, by its Content-Type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Json,
    Form,
    Other,
}

pub(super) fn kind(request: &Request) -> Kind {
    let media_type =
        request.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let essence = media_type.split(';').next().unwrap_or_default().trim();
    if essence.eq_ignore_ascii_case("application/json") {
        Kind::Json
    } else if essence.eq_ignore_ascii_case("multipart/form-data") {
        Kind::Form
    } else {
        Kind::Other
    }
}

/// Reads a JSON body of at most `limit` bytes.
pub(super) async fn json<T: DeserializeOwned>(request: Request, limit: usize) -> Result<T, ApiError> {
    if kind(&request) != Kind::Json {
        return Err(ApiError::media_type("application/json"));
    }
    parse(&bytes(request.into_body(), limit).await?)
}

async fn bytes(body: Body, limit: usize) -> Result<Bytes, ApiError> {
    let read = tokio::time::timeout(BODY_WITHIN, to_bytes(body, limit)).await.map_err(|_| ApiError::timeout())?;
    read.map_err(|error| {
        let is_limit =
            std::error::Error::source(&error).is_some_and(|source| source.is::<http_body_util::LengthLimitError>());
        if is_limit { ApiError::too_large(limit) } else { ApiError::invalid("the body did not arrive whole") }
    })
}

fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, ApiError> {
    let mut deserializer = serde_json::Deserializer::from_slice(bytes);
    let value = serde_path_to_error::deserialize(&mut deserializer).map_err(|error| {
        let path = error.path().to_string();
        let problem = error.into_inner();
        if problem.is_data() && path != "." {
            ApiError::invalid(format!("`{path}`: {problem}"))
        } else {
            ApiError::invalid(format!("not the JSON that is expected here: {problem}"))
        }
    })?;
    deserializer.end().map_err(|_| ApiError::invalid("something stands after the JSON"))?;
    Ok(value)
}

/// A form: its files, and the field `run` with JSON where there is one.
pub(super) struct Form<T> {
    pub(super) files: Vec<GivenFile>,
    pub(super) run: Option<T>,
}

/// Reads a form with files. Each part with a file name is a file; the part `run` is JSON; any other is an error.
pub(super) async fn form<T: DeserializeOwned>(request: Request) -> Result<Form<T>, ApiError> {
    let (parts, body) = request.into_parts();
    // Read whole first, so that one limit and one deadline hold for everything that it brings.
    let body = bytes(body, FILES_BYTES_MAX).await?;
    let request = Request::from_parts(parts, Body::from(body));
    let broken = |_| ApiError::invalid("not a well-formed multipart/form-data body");
    let mut multipart = Multipart::from_request(request, &())
        .await
        .map_err(|_| ApiError::media_type("multipart/form-data with a boundary"))?;
    let mut form = Form { files: Vec::new(), run: None };
    while let Some(field) = multipart.next_field().await.map_err(broken)? {
        if let Some(name) = field.file_name().map(str::to_owned) {
            let media_type = field.content_type().map(str::to_owned);
            let bytes = field.bytes().await.map_err(broken)?.to_vec();
            form.files.push(GivenFile { name, bytes, media_type });
        } else if field.name() == Some("run") {
            form.run = Some(parse(&field.bytes().await.map_err(broken)?)?);
        } else {
            return Err(ApiError::invalid("a part of the form is neither a file nor `run`"));
        }
    }
    Ok(form)
}
