//! `/v1/runs/{id}/calls`: one call of one tool, answered when it is done.
//!
//! A caller that closes its connection takes the call back; what a call may take at most is the dispatcher's deadline, so there is
//! no other here.

use axum::{Extension, Json, extract::Request};
use serde::Deserialize;
use serde_json::{Value, json};
use transom_runs::{CallOptions, Run};

use super::{ApiError, body};

/// A call, as a caller writes it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct NewCall {
    /// The tool's full name.
    tool: String,
    /// Its arguments.
    #[serde(default)]
    arguments: Value,
}

pub(super) async fn call(Extension(run): Extension<Run>, request: Request) -> Result<Json<Value>, ApiError> {
    let NewCall { tool, arguments } = body::json(request, body::CALL_BYTES_MAX).await?;
    let result = run.call(&tool, arguments, CallOptions::default()).await?;
    Ok(Json(json!({"result": result})))
}
