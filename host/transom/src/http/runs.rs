//! `/v1/runs`: making runs, looking at them, ending them.

use std::time::Duration;

use axum::{
    Extension, Json,
    extract::{Path, Request, State},
    http::{HeaderMap, StatusCode, header},
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use transom_runs::{EndReason, Run, RunSpec, Tools};

use super::{Api, ApiError, access::no_such_run, body};

/// What a run is to be, as a caller writes it.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct NewRun {
    /// The tools that it is granted, by their full names.
    tools: Option<Vec<String>>,
    /// Or: the binding whose verbs and plugin tools it is granted.
    binding: Option<String>,
    /// Files that it begins with.
    files: Vec<body::JsonFile>,
    /// The model that drives it.
    model: Option<String>,
    /// How long it may be idle, as in "5m".
    idle: Option<String>,
}

/// A run that was made. The only answer that holds its token.
#[derive(Debug, Serialize)]
pub(super) struct Made {
    id: String,
    token: String,
    /// Where the run is called; none on the control socket, which has no address.
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mcp_url: Option<String>,
    tools: Vec<String>,
}

pub(super) async fn create(
    State(api): State<Api>,
    headers: HeaderMap,
    request: Request,
) -> Result<(StatusCode, Json<Made>), ApiError> {
    let (new, mut files): (NewRun, _) = match body::kind(&request) {
        body::Kind::Json => (body::json(request, body::FILES_BYTES_MAX).await?, Vec::new()),
        body::Kind::Form => {
            let form = body::form(request).await?;
            (form.run.ok_or_else(|| ApiError::invalid("the form has no part `run`"))?, form.files)
        }
        body::Kind::Other => return Err(ApiError::media_type("application/json or multipart/form-data")),
    };
    let tools = match (new.tools, new.binding) {
        (Some(tools), None) => Tools::Named(tools),
        (None, Some(binding)) => Tools::Binding(binding),
        _ => return Err(ApiError::invalid("give one of `tools` (full names, as in \"shop.navigate\") and `binding`")),
    };
    for file in new.files {
        files.push(file.into_given()?);
    }
    let idle = new.idle.as_deref().map(parse_idle).transpose()?;
    let spec = RunSpec { tools, files, model: new.model, shape: "http".to_owned(), idle };
    let run = api.host.create_run(spec).await?;
    // The guard has checked that this is our own name on loopback; the control socket's clients send none that leads anywhere.
    let host = match *api.door {
        super::Door::Tcp { .. } => headers.get(header::HOST).and_then(|host| host.to_str().ok()),
        super::Door::Control => None,
    };
    let url = host.map(|host| format!("http://{host}/v1/runs/{}", run.id()));
    Ok((
        StatusCode::CREATED,
        Json(Made {
            id: run.id().to_owned(),
            token: run.token().reveal().to_owned(),
            mcp_url: url.as_ref().map(|url| format!("{url}/mcp")),
            url,
            tools: run.tools().iter().map(|tool| tool.name.clone()).collect(),
        }),
    ))
}

fn parse_idle(text: &str) -> Result<Duration, ApiError> {
    humantime::parse_duration(text)
        .ok()
        .filter(|idle| !idle.is_zero())
        .ok_or_else(|| ApiError::invalid("`idle` is a time with its unit, as in \"90s\" or \"5m\""))
}

pub(super) async fn list(State(api): State<Api>) -> Json<Value> {
    Json(json!({"runs": api.host.runs()}))
}

pub(super) async fn show(State(api): State<Api>, Path(id): Path<String>) -> Result<Json<Value>, ApiError> {
    let run = find(&api, &id)?;
    Ok(Json(json!({"run": run.info(), "files": run.files()})))
}

pub(super) async fn end(State(api): State<Api>, Path(id): Path<String>) -> Result<StatusCode, ApiError> {
    find(&api, &id)?.end(EndReason::Caller).await;
    Ok(StatusCode::NO_CONTENT)
}

pub(super) async fn tools(Extension(run): Extension<Run>) -> Json<Value> {
    Json(json!({"tools": run.tools()}))
}

fn find(api: &Api, id: &str) -> Result<Run, ApiError> {
    api.host.run(id).ok_or_else(|| no_such_run(true))
}
