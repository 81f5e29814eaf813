//! `/v1/runs/{id}/files`: what a run holds, for the person who gives and takes it.
//!
//! A file comes from a site, so a browser that fetches it here must never show it as a page of ours: always an attachment, never
//! sniffed, in a sandbox.

use axum::{
    Extension, Json,
    body::Body,
    extract::{Path, Request},
    http::{HeaderMap, HeaderValue, StatusCode, header},
};
use serde_json::{Value, json};
use tokio_util::io::ReaderStream;
use transom_runs::Run;

use super::{ApiError, body};

pub(super) async fn list(Extension(run): Extension<Run>) -> Json<Value> {
    Json(json!({"files": run.files()}))
}

pub(super) async fn add(
    Extension(run): Extension<Run>,
    request: Request,
) -> Result<(StatusCode, Json<Value>), ApiError> {
    let given = match body::kind(&request) {
        body::Kind::Json => vec![body::json::<body::JsonFile>(request, body::FILES_BYTES_MAX).await?.into_given()?],
        body::Kind::Form => body::form::<()>(request).await?.files,
        body::Kind::Other => return Err(ApiError::media_type("application/json or multipart/form-data")),
    };
    if given.is_empty() {
        return Err(ApiError::invalid("the form holds no file"));
    }
    let mut files = Vec::with_capacity(given.len());
    for file in given {
        files.push(run.add_file(file).await?);
    }
    Ok((StatusCode::CREATED, Json(json!({"files": files}))))
}

pub(super) async fn fetch(
    Extension(run): Extension<Run>,
    Path((_, file)): Path<(String, String)>,
) -> Result<(HeaderMap, Body), ApiError> {
    let file = run.read_file(&file).await?;
    let mut headers = HeaderMap::new();
    let media_type =
        HeaderValue::from_str(&file.info.media_type).unwrap_or(HeaderValue::from_static("application/octet-stream"));
    headers.insert(header::CONTENT_TYPE, media_type);
    headers.insert(header::CONTENT_LENGTH, HeaderValue::from(file.info.size));
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static("sandbox; default-src 'none'"));
    headers.insert(header::CONTENT_DISPOSITION, attachment(&file.info.name));
    Ok((headers, Body::from_stream(ReaderStream::new(file.file))))
}

/// RFC 6266 with the name in RFC 8187's spelling, and a plain one for what does not read that.
fn attachment(name: &str) -> HeaderValue {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    let plain: String = name.chars().map(|c| if is_plain(c) { c } else { '_' }).collect();
    let extended: String = name
        .bytes()
        .map(|byte| if is_plain(char::from(byte)) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect();
    HeaderValue::from_str(&format!("attachment; filename=\"{plain}\"; filename*=UTF-8''{extended}"))
        .unwrap_or(HeaderValue::from_static("attachment"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_stays_inside_its_header() {
        assert_eq!(attachment("orders.csv"), "attachment; filename=\"orders.csv\"; filename*=UTF-8''orders.csv");
        assert_eq!(
            attachment("Übersicht \"1\";\r\nX: y.csv"),
            "attachment; filename=\"_bersicht__1____X__y.csv\"; filename*=UTF-8''%C3%9Cbersicht%20%221%22%3B%0D%0AX%3A%20y.csv"
        );
    }
}
