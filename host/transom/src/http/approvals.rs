//! `/v1/approvals`: calls that wait for a person, and the person's answer.

use std::time::Duration;

use axum::{
    Json,
    extract::{Path, Query, Request, State},
    http::StatusCode,
};
use serde::Deserialize;
use serde_json::{Value, json};
use transom_runs::approvals::Answer;

use super::{Api, ApiError, Door, body};

/// How long a request with `since` waits for a change before it is answered without one: below what clients and
/// [`super::OPERATOR_REQUEST_WITHIN`] allow.
pub(super) const CHANGE_WITHIN: Duration = Duration::from_secs(25);

/// Largest body of an answer, in bytes: one word.
const ANSWER_BYTES_MAX: usize = 4 << 10;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Since {
    /// The `version` of an earlier answer: this one comes once it has changed.
    since: Option<u64>,
}

pub(super) async fn list(
    State(api): State<Api>,
    query: Result<Query<Since>, axum::extract::rejection::QueryRejection>,
) -> Result<Json<Value>, ApiError> {
    let Query(Since { since }) =
        query.map_err(|_| ApiError::invalid("`since` is the `version` of an earlier answer"))?;
    let approvals = api.host.approvals();
    let mut changes = approvals.changes();
    if let Some(seen) = since {
        // A timeout is no failure: the answer then says that nothing changed.
        let _ = tokio::time::timeout(CHANGE_WITHIN, changes.wait_for(|version| *version != seen)).await;
    }
    // The version first: a change in between is then seen twice rather than never.
    let version = *changes.borrow_and_update();
    Ok(Json(json!({"version": version, "approvals": approvals.pending()})))
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Word {
    Approve,
    Reject,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct NewAnswer {
    answer: Word,
}

pub(super) async fn answer(
    State(api): State<Api>,
    Path(id): Path<String>,
    request: Request,
) -> Result<(StatusCode, Json<Value>), ApiError> {
    let NewAnswer { answer } = body::json(request, ANSWER_BYTES_MAX).await?;
    let answer = match answer {
        Word::Approve => Answer::Approve,
        Word::Reject => Answer::Reject,
    };
    let by = match *api.door {
        Door::Tcp { .. } => "operator, by HTTP",
        Door::Control => "operator, at the control socket",
    };
    let approval =
        api.host.approvals().answer(&id, answer, by).map_err(|error| ApiError::not_found(error.to_string()))?;
    Ok((StatusCode::OK, Json(json!({"approval": approval}))))
}
