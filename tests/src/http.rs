//! The smallest HTTP client that tests need: JSON in, JSON out, any header.

use anyhow::Context;
use serde_json::Value;

/// An answer.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The status.
    pub status: u16,
    /// The body; a string where it is no JSON.
    pub body: Value,
}

/// Posts JSON.
///
/// # Errors
/// When there is no answer.
pub async fn post(url: &str, token: Option<&str>, body: &Value) -> anyhow::Result<Answer> {
    post_with(url, token, body, &[]).await
}

/// Posts JSON with further headers.
///
/// # Errors
/// When there is no answer.
pub async fn post_with(
    url: &str,
    token: Option<&str>,
    body: &Value,
    headers: &[(&str, &str)],
) -> anyhow::Result<Answer> {
    let mut request = reqwest::Client::builder().no_proxy().build()?.post(url).json(body);
    if let Some(token) = token {
        request = request.bearer_auth(token);
    }
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let response = request.send().await.with_context(|| url.to_owned())?;
    let (status, text) = (response.status().as_u16(), response.text().await?);
    Ok(Answer { status, body: serde_json::from_str(&text).unwrap_or(Value::String(text)) })
}
