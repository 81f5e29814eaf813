//! Whether a request's token opens what it asks for.
//!
//! The operator's token opens everything. A run's token opens that run: for any other run, whether it exists or not, and for
//! everything of the operator's, the answer is the same as for an address that leads nowhere, so that ids can't be probed.
//!
//! Not here: where the request comes from (`guard`).

use std::{
    fmt, fs,
    io::{self, Write as _},
    os::unix::fs::{MetadataExt as _, OpenOptionsExt as _},
    path::Path,
};

use axum::{
    extract::{RawPathParams, Request, State},
    http::{HeaderMap, header},
    middleware::Next,
    response::Response,
};
use subtle::ConstantTimeEq as _;
use transom_runs::Run;

use super::{Api, ApiError, Door};

/// The file in the state folder that holds the operator's token.
pub const TOKEN_FILE: &str = "operator-token";

/// The variable that holds the operator's token instead.
pub const TOKEN_VARIABLE: &str = "TRANSOM_OPERATOR_TOKEN";

/// Random bytes of a token: 256 bits can't be guessed.
const TOKEN_BYTES: usize = 32;

/// The shortest token that an operator may choose, in characters: with fewer, somebody on this machine could try them all.
const TOKEN_CHARS_MIN: usize = 20;

/// What opens everything.
#[derive(Clone, PartialEq, Eq)]
pub struct OperatorToken(String);

impl fmt::Debug for OperatorToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OperatorToken(…)")
    }
}

/// Why there is no operator token. `Display` is one line for the operator.
#[derive(Debug, thiserror::Error)]
pub enum TokenError {
    /// It could be guessed.
    #[error("{0} is too short: use at least {TOKEN_CHARS_MIN} characters")]
    TooShort(String),
    /// Others can read the file.
    #[error("{0} can be read by other users: `chmod 600` it, or delete it for a new one")]
    Readable(String),
    /// The file can't be read or made.
    #[error("{path}: {source}")]
    File {
        /// The file.
        path: String,
        /// What the system said.
        source: io::Error,
    },
    /// The system gave no random bytes.
    #[error("the system gave no random bytes for a token: {0}")]
    Random(getrandom::Error),
}

impl OperatorToken {
    /// A token that the operator chose.
    ///
    /// # Errors
    /// When it is too short. `source` says where it came from.
    pub fn parse(text: &str, source: &str) -> Result<OperatorToken, TokenError> {
        let text = text.trim();
        if text.chars().count() < TOKEN_CHARS_MIN {
            return Err(TokenError::TooShort(source.to_owned()));
        }
        Ok(OperatorToken(text.to_owned()))
    }

    /// The token in the state folder; it is made where there is none.
    ///
    /// # Errors
    /// When the file can't be made or read, or others can read it.
    pub fn of_state(state: &Path) -> Result<OperatorToken, TokenError> {
        let path = state.join(TOKEN_FILE);
        let shown = path.display().to_string();
        let failed = |source| TokenError::File { path: shown.clone(), source };
        let mut bytes = [0; TOKEN_BYTES];
        getrandom::fill(&mut bytes).map_err(TokenError::Random)?;
        let token: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        let new = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path);
        match new {
            Ok(mut file) => {
                file.write_all(format!("op_{token}\n").as_bytes()).and_then(|()| file.sync_all()).map_err(failed)?;
                Ok(OperatorToken(format!("op_{token}")))
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                if fs::metadata(&path).map_err(failed)?.mode() & 0o077 != 0 {
                    return Err(TokenError::Readable(shown));
                }
                OperatorToken::parse(&fs::read_to_string(&path).map_err(failed)?, &shown)
            }
            Err(error) => Err(failed(error)),
        }
    }

    /// The token itself, for a client of this host.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// Whether this is the token, in a time that does not tell how much of it is right.
    fn matches(&self, shown: &str) -> bool {
        self.0.as_bytes().ct_eq(shown.as_bytes()).into()
    }
}

/// The token that a request shows.
fn bearer(headers: &HeaderMap) -> Option<&str> {
    let mut all = headers.get_all(header::AUTHORIZATION).iter();
    let (Some(value), None) = (all.next(), all.next()) else { return None };
    let (scheme, token) = value.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

/// Whether the request is the operator's. `None`: it shows no token at all.
fn is_operator(api: &Api, headers: &HeaderMap) -> Option<bool> {
    match &*api.door {
        Door::Control => Some(true),
        Door::Tcp { operator, .. } => bearer(headers).map(|token| operator.matches(token)),
    }
}

/// Lets only the operator through.
pub(super) async fn operator(State(api): State<Api>, request: Request, next: Next) -> Result<Response, ApiError> {
    match is_operator(&api, request.headers()) {
        Some(true) => Ok(next.run(request).await),
        Some(false) => Err(ApiError::not_found("there is no such address for this token")),
        None => Err(ApiError::unauthorized()),
    }
}

/// Lets the operator and the run's own token through, and puts the [`Run`] into the request's extensions.
pub(super) async fn run(
    State(api): State<Api>,
    params: RawPathParams,
    mut request: Request,
    next: Next,
) -> Result<Response, ApiError> {
    let is_operator = is_operator(&api, request.headers()).ok_or_else(ApiError::unauthorized)?;
    let id = params.iter().find(|(name, _)| *name == "id").map(|(_, id)| id.to_owned()).unwrap_or_default();
    let run = api
        .host
        .run(&id)
        .filter(|run| is_operator || bearer(request.headers()).is_some_and(|token| run.token().matches(token)));
    let run: Run = run.ok_or_else(|| no_such_run(is_operator))?;
    request.extensions_mut().insert(run);
    Ok(next.run(request).await)
}

/// The answer for a run that is not there.
pub(super) fn no_such_run(is_operator: bool) -> ApiError {
    if is_operator {
        ApiError::not_found("there is no such run")
            .with_hint("`GET /v1/runs` lists them; those that ended long ago are only in the journal")
    } else {
        ApiError::not_found("there is no such address for this token")
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn the_token_is_made_once_for_its_owner_only() {
        let state = tempfile::tempdir().unwrap();
        let first = OperatorToken::of_state(state.path()).unwrap();
        let path = state.path().join(TOKEN_FILE);
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
        assert_eq!(OperatorToken::of_state(state.path()).unwrap(), first);
        assert!(first.matches(first.reveal()) && !first.matches("op_"));
        assert!(!format!("{first:?}").contains(first.reveal()));

        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        assert!(matches!(OperatorToken::of_state(state.path()), Err(TokenError::Readable(_))));
    }

    #[test]
    fn a_token_that_can_be_guessed_is_refused() {
        let error = OperatorToken::parse("secret", TOKEN_VARIABLE).unwrap_err();
        assert_eq!(error.to_string(), "TRANSOM_OPERATOR_TOKEN is too short: use at least 20 characters");
        assert!(OperatorToken::parse("a-token-of-more-than-twenty", TOKEN_VARIABLE).is_ok());
    }
}
