//! What a caller of the API reads when a request fails: a status, and `{error: {code, reason?, message, hint?}}`.
//!
//! A tool's error keeps its own code and reason; the status only helps those who look at nothing else. The messages of this
//! file hold no path of the host and nothing of the request but names that it is about.

use axum::{
    Json,
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use serde::Serialize;
use transom_policy::redact::Redacted;
use transom_verbs::{ErrorCode, Reason, ToolError};

/// A request that failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ApiError {
    #[serde(skip)]
    status: StatusCode,
    code: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
}

#[derive(Serialize)]
struct Envelope {
    error: ApiError,
}

impl ApiError {
    fn new(status: StatusCode, code: &'static str, message: impl Into<String>) -> ApiError {
        ApiError { status, code, reason: None, message: message.into(), hint: None }
    }

    /// The body or a parameter is wrong.
    pub(crate) fn invalid(message: impl Into<String>) -> ApiError {
        ApiError::new(StatusCode::BAD_REQUEST, "invalid_request", message)
    }

    /// The body is of a kind that is not taken here.
    pub(crate) fn media_type(expected: &str) -> ApiError {
        let message = format!("the body has to be {expected}: say so in Content-Type");
        ApiError::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "invalid_request", message)
    }

    /// No token came along.
    pub(crate) fn unauthorized() -> ApiError {
        ApiError::new(StatusCode::UNAUTHORIZED, "unauthorized", "a token is missing")
            .with_hint("send it as `Authorization: Bearer TOKEN`")
    }

    /// The request did not come from where requests may come from.
    pub(crate) fn forbidden(message: impl Into<String>) -> ApiError {
        ApiError::new(StatusCode::FORBIDDEN, "forbidden", message)
    }

    /// It is not there, or not for this token: which of both is not said.
    pub(crate) fn not_found(message: impl Into<String>) -> ApiError {
        ApiError::new(StatusCode::NOT_FOUND, "not_found", message)
    }

    pub(crate) fn method_not_allowed() -> ApiError {
        ApiError::new(StatusCode::METHOD_NOT_ALLOWED, "invalid_request", "this address does not take that method")
    }

    /// The body is too large.
    pub(crate) fn too_large(limit: usize) -> ApiError {
        ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", format!("the body has more than {limit} bytes"))
    }

    /// The request took too long.
    pub(crate) fn timeout() -> ApiError {
        ApiError::new(StatusCode::REQUEST_TIMEOUT, "timeout", "the request took too long")
    }

    /// Something that should not fail did; the log has it.
    pub(crate) fn internal() -> ApiError {
        ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", "the host failed; its log says how")
    }

    /// The same with the next step.
    pub(crate) fn with_hint(mut self, hint: impl Into<String>) -> ApiError {
        self.hint = Some(hint.into());
        self
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let status = self.status;
        let mut response = (status, Json(Envelope { error: self })).into_response();
        if status == StatusCode::UNAUTHORIZED {
            response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}

impl From<ToolError> for ApiError {
    fn from(error: ToolError) -> ApiError {
        ApiError {
            status: status_of(&error),
            code: error.code.as_str(),
            reason: error.reason.map(Reason::as_str),
            message: error.message,
            hint: error.hint,
        }
    }
}

impl From<Redacted<ToolError>> for ApiError {
    fn from(error: Redacted<ToolError>) -> ApiError {
        ApiError::from(error.into_inner())
    }
}

/// No status here is one that an HTTP client repeats by itself (408, 425, 429, 503 without care): a repeated write acts twice.
fn status_of(error: &ToolError) -> StatusCode {
    match error.code {
        ErrorCode::InvalidInput | ErrorCode::UploadRefused => StatusCode::BAD_REQUEST,
        ErrorCode::ModelUnsupported
        | ErrorCode::SiteBlocked
        | ErrorCode::NotGranted
        | ErrorCode::UploadRejected
        | ErrorCode::UploadTimedOut
        | ErrorCode::ApprovalRejected
        | ErrorCode::ApprovalTimedOut => StatusCode::FORBIDDEN,
        ErrorCode::BrowserUnavailable => StatusCode::BAD_GATEWAY,
        ErrorCode::FileNotSaved => StatusCode::INSUFFICIENT_STORAGE,
        ErrorCode::Failed => match error.reason {
            Some(Reason::NotFound) => StatusCode::NOT_FOUND,
            Some(Reason::RunEnded) => StatusCode::GONE,
            Some(Reason::Timeout) => StatusCode::GATEWAY_TIMEOUT,
            Some(Reason::Quota) => StatusCode::CONFLICT,
            _ => StatusCode::UNPROCESSABLE_ENTITY,
        },
    }
}
