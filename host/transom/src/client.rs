//! The HTTP API from the other side: what `call`, `run` and `approvals` use towards a host in another process.
//!
//! Plain HTTP to loopback, or through a control socket. Not here: what is asked for (the commands).

use std::{path::Path, time::Duration};

use reqwest::{Method, Response, StatusCode};
use serde_json::{Value, json};
use url::{Host, Url};

use crate::exit::{Exit, Failure};

/// How long it may take until a host on this machine accepts a connection.
const CONNECT_WITHIN: Duration = Duration::from_secs(5);

/// Largest answer that is read, in bytes: above what any tool returns.
const ANSWER_BYTES_MAX: usize = 64 << 20;

/// One host's API.
#[derive(Clone, Debug)]
pub struct Client {
    http: reqwest::Client,
    base: String,
    token: Option<String>,
}

/// Why an answer was not the one that was hoped for.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// The address can't be used.
    #[error("{0}")]
    Address(String),
    /// Nobody answers there.
    #[error("no host answers at {base}: {problem}")]
    Unreachable {
        /// The address.
        base: String,
        /// What happened.
        problem: String,
    },
    /// The host answered with an error.
    #[error("{}", .0.message)]
    Refused(Box<Refusal>),
    /// What answers there is no Transom host.
    #[error("what answers at {base} is no Transom host")]
    Foreign {
        /// The address.
        base: String,
    },
}

/// The error that a host answered with.
#[derive(Clone, Debug)]
pub struct Refusal {
    /// The HTTP status.
    pub status: StatusCode,
    /// The error's code.
    pub code: String,
    /// One line.
    pub message: String,
    /// The next step.
    pub hint: Option<String>,
    /// The error as it came.
    pub error: Value,
}

impl Refusal {
    /// Whether what was asked for is not there, as opposed to a tool's error about something that is not there.
    #[must_use]
    pub fn is_not_there(&self) -> bool {
        self.status == StatusCode::NOT_FOUND && !self.code.starts_with("computer_use_")
    }
}

impl From<ClientError> for Failure {
    fn from(error: ClientError) -> Failure {
        match error {
            ClientError::Address(_) => Failure::usage(error),
            ClientError::Unreachable { .. } => {
                Failure::not_there(error).with_hint("is it running? `transom serve` starts one")
            }
            ClientError::Foreign { .. } => Failure::not_there(error),
            ClientError::Refused(refusal) => {
                let exit = match refusal.status {
                    _ if refusal.is_not_there() => Exit::NotThere,
                    StatusCode::UNAUTHORIZED => Exit::Usage,
                    _ => Exit::Failed,
                };
                let Refusal { code, message, hint, .. } = *refusal;
                Failure { exit, message: format!("{code}: {message}"), hint }
            }
        }
    }
}

impl Client {
    /// The API at `url`, opened by `token`.
    ///
    /// # Errors
    /// When it is no address of a host.
    pub fn of_url(url: &str, token: Option<String>) -> Result<Client, ClientError> {
        let wrong =
            |problem: &str| ClientError::Address(format!("\"{url}\" {problem}, as in \"http://127.0.0.1:7411\""));
        let parsed = Url::parse(url).map_err(|_| wrong("is no address of a host: write it with http"))?;
        let is_loopback = match parsed.host() {
            Some(Host::Domain(name)) => name == "localhost",
            Some(Host::Ipv4(ip)) => ip.is_loopback(),
            Some(Host::Ipv6(ip)) => ip.is_loopback(),
            None => false,
        };
        // Anywhere else the token would cross a network in the clear.
        if parsed.scheme() != "http" || !is_loopback {
            return Err(wrong("is no address of a host: hosts speak plain http on loopback so far"));
        }
        if !parsed.username().is_empty()
            || parsed.password().is_some()
            || parsed.query().is_some()
            || parsed.fragment().is_some()
        {
            return Err(wrong("holds more than an address: write scheme, host, port and path only"));
        }
        let base = parsed.as_str().trim_end_matches('/').to_owned();
        Ok(Client { http: build(None)?, base, token })
    }

    /// The API behind a control socket.
    ///
    /// # Errors
    /// When no client can be made.
    pub fn of_socket(path: &Path) -> Result<Client, ClientError> {
        Ok(Client { http: build(Some(path))?, base: "http://localhost".to_owned(), token: None })
    }

    /// Asks for the JSON at `path`.
    ///
    /// # Errors
    /// When nobody answers, or the answer is an error.
    pub async fn get(&self, path: &str) -> Result<Value, ClientError> {
        self.value(self.send(Method::GET, path, None).await?).await
    }

    /// Sends JSON to `path`.
    ///
    /// # Errors
    /// When nobody answers, or the answer is an error.
    pub async fn post(&self, path: &str, body: &Value) -> Result<Value, ClientError> {
        self.value(self.send(Method::POST, path, Some(body)).await?).await
    }

    /// Asks for the bytes at `path`, to be read as they come.
    ///
    /// # Errors
    /// When nobody answers, or the answer is an error.
    pub async fn download(&self, path: &str) -> Result<Response, ClientError> {
        let response = self.send(Method::GET, path, None).await?;
        if response.status().is_success() { Ok(response) } else { Err(self.refused(response).await) }
    }

    async fn send(&self, method: Method, path: &str, body: Option<&Value>) -> Result<Response, ClientError> {
        let mut request = self.http.request(method, format!("{}{path}", self.base));
        if let Some(token) = &self.token {
            request = request.bearer_auth(token);
        }
        if let Some(body) = body {
            request = request.json(body);
        }
        request.send().await.map_err(|error| self.unreachable(&error))
    }

    async fn value(&self, response: Response) -> Result<Value, ClientError> {
        if !response.status().is_success() {
            return Err(self.refused(response).await);
        }
        self.body(response).await
    }

    async fn body(&self, mut response: Response) -> Result<Value, ClientError> {
        let foreign = || ClientError::Foreign { base: self.base.clone() };
        let mut bytes = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|error| self.unreachable(&error))? {
            if bytes.len() + chunk.len() > ANSWER_BYTES_MAX {
                return Err(foreign());
            }
            bytes.extend_from_slice(&chunk);
        }
        serde_json::from_slice(&bytes).map_err(|_| foreign())
    }

    async fn refused(&self, response: Response) -> ClientError {
        let status = response.status();
        let body = match self.body(response).await {
            Ok(body) => body,
            Err(error) => return error,
        };
        let error = body.get("error").cloned().unwrap_or_default();
        let text = |name: &str| error.get(name).and_then(Value::as_str).map(str::to_owned);
        match (text("code"), text("message")) {
            (Some(code), Some(message)) => {
                ClientError::Refused(Box::new(Refusal { status, code, message, hint: text("hint"), error }))
            }
            _ => ClientError::Foreign { base: self.base.clone() },
        }
    }

    fn unreachable(&self, error: &reqwest::Error) -> ClientError {
        // The innermost cause is what a person understands: "Connection refused".
        let mut cause: &dyn std::error::Error = error;
        while let Some(source) = cause.source() {
            cause = source;
        }
        ClientError::Unreachable { base: self.base.clone(), problem: cause.to_string() }
    }
}

impl ClientError {
    /// The error as a caller of the API reads it.
    #[must_use]
    pub fn to_json(&self) -> Value {
        match self {
            ClientError::Refused(refusal) => refusal.error.clone(),
            other => json!({"code": "unreachable", "message": other.to_string()}),
        }
    }
}

fn build(socket: Option<&Path>) -> Result<reqwest::Client, ClientError> {
    // No proxy and no redirect: a token goes to the address that was named, and nowhere else.
    let mut builder = reqwest::Client::builder()
        .no_proxy()
        .redirect(reqwest::redirect::Policy::none())
        .connect_timeout(CONNECT_WITHIN);
    if let Some(path) = socket {
        builder = builder.unix_socket(path);
    }
    builder.build().map_err(|error| ClientError::Address(format!("no HTTP client could be made: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_plain_address_is_taken() {
        let message = |url: &str| Client::of_url(url, None).map(drop).map_err(|error| error.to_string());
        assert_eq!(message("http://127.0.0.1:7411"), Ok(()));
        assert_eq!(message("http://127.0.0.1:7411/v1/runs/run_1"), Ok(()));
        for bad in [
            "127.0.0.1:7411",
            "https://127.0.0.1:7411",
            "http://example.com:7411",
            "nonsense",
            "http://a:b@127.0.0.1/",
            "http://127.0.0.1/?token=x",
        ] {
            assert!(message(bad).unwrap_err().contains("as in \"http://127.0.0.1:7411\""), "{bad}");
        }
    }

    #[tokio::test]
    async fn a_host_that_is_not_there_is_one_line_and_its_own_exit_code() {
        let folder = tempfile::tempdir().unwrap();
        let client = Client::of_socket(&folder.path().join("none.sock")).unwrap();
        let failure = Failure::from(client.get("/v1/health").await.unwrap_err());
        assert_eq!(failure.exit, Exit::NotThere);
        assert!(failure.message.starts_with("no host answers at http://localhost: "), "{}", failure.message);
    }
}
