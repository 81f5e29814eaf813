//! `/v1/runs/{id}/journal`: what happened in a run. Also for runs that the host no longer holds.

use axum::{
    Json,
    extract::{Path, Query, State, rejection::QueryRejection},
};
use serde::Deserialize;
use serde_json::{Value, json};
use transom_runs::journal::JournalFilter;

use super::{Api, ApiError, access::no_such_run};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Which {
    after: Option<i64>,
    limit: Option<usize>,
}

pub(super) async fn of_run(
    State(api): State<Api>,
    Path(id): Path<String>,
    query: Result<Query<Which>, QueryRejection>,
) -> Result<Json<Value>, ApiError> {
    let Query(Which { after, limit }) = query.map_err(|_| ApiError::invalid("`after` and `limit` are numbers"))?;
    let filter = JournalFilter { run: Some(id.clone()), after, limit };
    let entries = api.host.journal().entries(filter).await.map_err(|error| {
        tracing::error!(%error, "the journal could not be read");
        ApiError::internal()
    })?;
    if entries.is_empty() && after.is_none() && api.host.run(&id).is_none() {
        return Err(no_such_run(true));
    }
    Ok(Json(json!({"entries": entries})))
}
