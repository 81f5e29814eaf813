//! The API from outside: what each token opens, what each mistake reads like.

use axum::{
    body::Body,
    http::{Method, StatusCode},
};
use http_body_util::BodyExt as _;
use tempfile::TempDir;
use tower::ServiceExt as _;
use transom_runs::{HostOptions, binding::SecretValues, settings::Settings};

use super::*;

const OPERATOR: &str = "the-operators-token-of-these-tests";
const HOST: &str = "127.0.0.1:7411";

struct Fixture {
    state: TempDir,
    host: Host,
}

impl Fixture {
    async fn new() -> Fixture {
        let settings: Settings = toml::from_str(
            r#"
            [host]
            chromium = "/nowhere/chromium"
            [[binding]]
            prefix = "shop"
            hosts = ["shop.test"]
            start = "https://shop.test/"
            verbs = ["navigate", "click", "upload"]
            "#,
        )
        .unwrap();
        let state = tempfile::tempdir().unwrap();
        let options = HostOptions {
            launcher: "/nowhere".into(),
            state: state.path().to_owned(),
            base_dir: state.path().to_owned(),
        };
        let host = Host::start(settings, SecretValues::new(), options).await.unwrap();
        Fixture { state, host }
    }

    fn router(&self) -> Router {
        let operator = OperatorToken::parse(OPERATOR, "test").unwrap();
        router(Api::new(self.host.clone(), Door::Tcp { operator, port: 7411 }))
    }

    async fn send(&self, request: Request) -> Response {
        self.router().oneshot(request).await.unwrap()
    }

    /// Asks with a JSON body, or with none for `Value::Null`.
    async fn ask(&self, method: Method, path: &str, token: Option<&str>, body: Value) -> (StatusCode, Value) {
        let mut request = request(method, path, token);
        let body = if body.is_null() { Body::empty() } else { Body::from(body.to_string()) };
        request = request.header(header::CONTENT_TYPE, "application/json");
        self.answer(request.body(body).unwrap()).await
    }

    async fn answer(&self, request: Request) -> (StatusCode, Value) {
        let response = self.send(request).await;
        let status = response.status();
        let bytes = response.into_body().collect().await.unwrap().to_bytes();
        let text = String::from_utf8(bytes.to_vec()).unwrap();
        assert!(!text.contains(self.state.path().to_str().unwrap()), "a path of the host got out: {text}");
        (status, serde_json::from_str(&text).unwrap_or_default())
    }

    async fn get(&self, path: &str, token: Option<&str>) -> (StatusCode, Value) {
        self.ask(Method::GET, path, token, Value::Null).await
    }

    async fn post(&self, path: &str, token: Option<&str>, body: Value) -> (StatusCode, Value) {
        self.ask(Method::POST, path, token, body).await
    }

    /// Makes a run: its path and its token.
    async fn run(&self) -> (String, String) {
        let (status, made) =
            self.post("/v1/runs", Some(OPERATOR), json!({"tools": ["shop.navigate", "shop.upload"]})).await;
        assert_eq!(status, StatusCode::CREATED, "{made}");
        (format!("/v1/runs/{}", made["id"].as_str().unwrap()), made["token"].as_str().unwrap().to_owned())
    }
}

fn request(method: Method, path: &str, token: Option<&str>) -> axum::http::request::Builder {
    let mut request = Request::builder().method(method).uri(path).header(header::HOST, HOST);
    if let Some(token) = token {
        request = request.header(header::AUTHORIZATION, format!("Bearer {token}"));
    }
    request
}

fn message(answer: &(StatusCode, Value)) -> (u16, &str, &str) {
    let error = &answer.1["error"];
    (answer.0.as_u16(), error["code"].as_str().unwrap_or_default(), error["message"].as_str().unwrap_or_default())
}

#[tokio::test]
async fn health_needs_no_token_and_tells_nothing() {
    let fixture = Fixture::new().await;
    assert_eq!(fixture.get("/v1/health", None).await, (StatusCode::OK, json!({"ok": true})));
}

#[tokio::test]
async fn a_foreign_host_or_origin_is_refused_with_every_token() {
    let fixture = Fixture::new().await;
    let status = async |name: &str, host: &str, origin: Option<&str>| {
        let mut request = Request::builder()
            .uri("/v1/runs")
            .header(header::HOST, host)
            .header(header::AUTHORIZATION, format!("Bearer {OPERATOR}"));
        if let Some(origin) = origin {
            request = request.header(header::ORIGIN, origin);
        }
        let response = fixture.send(request.body(Body::empty()).unwrap()).await;
        assert!(response.headers().keys().all(|key| !key.as_str().starts_with("access-control")), "{name}");
        response.status().as_u16()
    };
    assert_eq!(status("ours", HOST, None).await, 200);
    assert_eq!(status("our origin", HOST, Some("http://127.0.0.1:7411")).await, 200);
    assert_eq!(status("rebound", "evil.test:7411", None).await, 403);
    assert_eq!(status("other port", "127.0.0.1:80", None).await, 403);
    assert_eq!(status("a page", HOST, Some("https://evil.test")).await, 403);
    assert_eq!(status("a sandboxed page", HOST, Some("null")).await, 403);
}

#[tokio::test]
async fn the_operators_addresses_open_for_the_operator_only() {
    let fixture = Fixture::new().await;
    let (run, token) = fixture.run().await;
    let journal = format!("{run}/journal");
    for path in ["/v1/runs", run.as_str(), journal.as_str(), "/v1/approvals"] {
        assert_eq!(fixture.get(path, None).await.0, StatusCode::UNAUTHORIZED, "{path}");
        let wrong = fixture.get(path, Some("wrong")).await;
        assert_eq!(message(&wrong), (404, "not_found", "there is no such address for this token"), "{path}");
        assert_eq!(fixture.get(path, Some(&token)).await, wrong, "{path}");
        assert_eq!(fixture.get(path, Some(OPERATOR)).await.0, StatusCode::OK, "{path}");
    }
    let basic = request(Method::GET, "/v1/runs", None)
        .header(header::AUTHORIZATION, format!("Basic {OPERATOR}"))
        .body(Body::empty());
    let response = fixture.send(basic.unwrap()).await;
    assert_eq!(response.status(), StatusCode::UNAUTHORIZED);
    assert_eq!(response.headers()[header::WWW_AUTHENTICATE], "Bearer");
}

#[tokio::test]
async fn a_runs_token_opens_that_run_and_of_others_not_even_whether_they_exist() {
    let fixture = Fixture::new().await;
    let (own, token) = fixture.run().await;
    let (other, _) = fixture.run().await;
    for below in ["tools", "files", "files/file_01ARZ3NDEKTSV4RRFFQ69G5FAV"] {
        let there = fixture.get(&format!("{other}/{below}"), Some(&token)).await;
        let not_there = fixture.get(&format!("/v1/runs/run_nope/{below}"), Some(&token)).await;
        assert_eq!(there.0, StatusCode::NOT_FOUND);
        assert_eq!(there, not_there);
    }
    let call = json!({"tool": "shop.navigate", "arguments": {"url": "https://shop.test/"}});
    assert_eq!(fixture.post(&format!("{other}/calls"), Some(&token), call).await.0, StatusCode::NOT_FOUND);

    for who in [token.as_str(), OPERATOR] {
        let (status, tools) = fixture.get(&format!("{own}/tools"), Some(who)).await;
        assert_eq!(status, StatusCode::OK);
        let names: Vec<&str> =
            tools["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
        assert_eq!(names, ["shop.navigate", "shop.upload"]);
    }
    assert_eq!(fixture.get(&format!("{own}/tools"), None).await.0, StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn a_run_is_made_with_an_address_of_its_own_and_ends() {
    let fixture = Fixture::new().await;
    let (status, made) = fixture.post("/v1/runs", Some(OPERATOR), json!({"binding": "shop", "idle": "5m"})).await;
    assert_eq!(status, StatusCode::CREATED);
    let id = made["id"].as_str().unwrap();
    assert_eq!(made["url"], format!("http://{HOST}/v1/runs/{id}"));
    assert_eq!(made["mcp_url"], format!("http://{HOST}/v1/runs/{id}/mcp"));
    assert_eq!(made["tools"], json!(["shop.click", "shop.navigate", "shop.upload"]));

    let path = format!("/v1/runs/{id}");
    assert_eq!(fixture.ask(Method::DELETE, &path, Some(OPERATOR), Value::Null).await.0, StatusCode::NO_CONTENT);
    let call = json!({"tool": "shop.navigate", "arguments": {"url": "https://shop.test/"}});
    let answer = fixture.post(&format!("{path}/calls"), Some(OPERATOR), call).await;
    assert_eq!((answer.0.as_u16(), &answer.1["error"]["reason"]), (410, &json!("run_ended")));
    assert_eq!(
        fixture.ask(Method::DELETE, "/v1/runs/run_nope", Some(OPERATOR), Value::Null).await.0,
        StatusCode::NOT_FOUND
    );
}

#[tokio::test]
async fn a_run_that_cannot_be_made_is_one_clear_line() {
    let fixture = Fixture::new().await;
    let problem = async |body: Value| {
        let answer = fixture.post("/v1/runs", Some(OPERATOR), body).await;
        let (status, code, text) = message(&answer);
        format!("{status} {code}: {text} | {}", answer.1["error"]["hint"].as_str().unwrap_or_default())
    };
    assert_eq!(
        problem(json!({})).await,
        "400 invalid_request: give one of `tools` (full names, as in \"shop.navigate\") and `binding` | "
    );
    assert_eq!(
        problem(json!({"binding": "shp"})).await,
        "403 computer_use_not_granted: there is no binding \"shp\" | did you mean \"shop\"?"
    );
    assert!(
        problem(json!({"tools": ["shop.evaluate"]}))
            .await
            .starts_with("403 computer_use_not_granted: `shop.evaluate` can't be granted")
    );
    assert!(problem(json!({"tools": ["shop.clik"]})).await.ends_with("did you mean `shop.click`?"));
    assert!(problem(json!({"tools": ["shop"]})).await.starts_with("400 computer_use_invalid_input: "));
    assert!(
        problem(json!({"tool": ["shop.click"]}))
            .await
            .starts_with("400 invalid_request: `tool`: unknown field `tool`, expected one of")
    );
    assert!(
        problem(json!({"binding": "shop", "idle": "soon"}))
            .await
            .starts_with("400 invalid_request: `idle` is a time with its unit")
    );
    let file = json!({"name": "a", "content_base64": "?"});
    assert!(
        problem(json!({"binding": "shop", "files": [file]}))
            .await
            .starts_with("400 invalid_request: `content_base64` is not base64")
    );
}

#[tokio::test]
async fn a_body_of_the_wrong_form_or_size_is_refused() {
    let fixture = Fixture::new().await;
    let (run, token) = fixture.run().await;
    let path = format!("{run}/calls");
    let send = async |content_type: &str, body: Vec<u8>| {
        let request = request(Method::POST, &path, Some(&token)).header(header::CONTENT_TYPE, content_type);
        let answer = fixture.answer(request.body(Body::from(body)).unwrap()).await;
        let (status, code, text) = message(&answer);
        format!("{status} {code}: {text}")
    };
    assert_eq!(
        send("text/plain", b"{}".to_vec()).await,
        "415 invalid_request: the body has to be application/json: say so in Content-Type"
    );
    assert!(
        send("application/json", b"{".to_vec())
            .await
            .starts_with("400 invalid_request: not the JSON that is expected here: ")
    );
    assert!(
        send("application/json; charset=utf-8", b"{\"tool\": 7}".to_vec())
            .await
            .starts_with("400 invalid_request: `tool`: ")
    );
    assert_eq!(
        send("application/json", b"{\"tool\": \"a\"} x".to_vec()).await,
        "400 invalid_request: something stands after the JSON"
    );
    let large = vec![b' '; body::CALL_BYTES_MAX + 1];
    assert_eq!(
        send("application/json", large).await,
        format!("413 too_large: the body has more than {} bytes", body::CALL_BYTES_MAX)
    );
}

#[tokio::test]
async fn a_call_that_fails_has_the_tools_error_and_a_fitting_status() {
    let fixture = Fixture::new().await;
    let (run, token) = fixture.run().await;
    let call = async |tool: &str, arguments: Value| {
        let answer =
            fixture.post(&format!("{run}/calls"), Some(&token), json!({"tool": tool, "arguments": arguments})).await;
        let (status, code, _) = message(&answer);
        format!("{status} {code}")
    };
    assert_eq!(call("shop.click", json!({"ref": "e1"})).await, "403 computer_use_not_granted");
    assert_eq!(call("bank.click", json!({"ref": "e1"})).await, "403 computer_use_not_granted");
    assert_eq!(call("shop.navigate", json!({})).await, "400 computer_use_invalid_input");
    assert_eq!(
        call("shop.navigate", json!({"url": "https://shop.test/", "frob": 1})).await,
        "400 computer_use_invalid_input"
    );
}

#[tokio::test]
async fn files_go_in_and_come_out_as_attachments() {
    let fixture = Fixture::new().await;
    let (run, token) = fixture.run().await;
    let path = format!("{run}/files");
    let (status, added) = fixture
        .post(&path, Some(&token), json!({"name": "page.html", "content_base64": "PGI+aGk8L2I+", "type": "text/html"}))
        .await;
    assert_eq!(status, StatusCode::CREATED, "{added}");

    let form = "--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"../a.csv\"\r\nContent-Type: text/csv\r\n\r\n1,2\r\n--x--\r\n";
    let form = request(Method::POST, &path, Some(&token))
        .header(header::CONTENT_TYPE, "multipart/form-data; boundary=x")
        .body(Body::from(form));
    let (status, _) = fixture.answer(form.unwrap()).await;
    assert_eq!(status, StatusCode::CREATED);

    let (_, listed) = fixture.get(&path, Some(&token)).await;
    let files = listed["files"].as_array().unwrap();
    assert_eq!(files.len(), 2);
    assert!(!files[1]["name"].as_str().unwrap().contains('/'));

    let fetch =
        request(Method::GET, &format!("{path}/{}", files[0]["id"].as_str().unwrap()), Some(&token)).body(Body::empty());
    let response = fixture.send(fetch.unwrap()).await;
    assert_eq!(response.status(), StatusCode::OK);
    let headers = response.headers().clone();
    assert!(headers[header::CONTENT_DISPOSITION].to_str().unwrap().starts_with("attachment; filename=\"page.html\""));
    assert_eq!(headers[header::X_CONTENT_TYPE_OPTIONS], "nosniff");
    assert!(headers[header::CONTENT_SECURITY_POLICY].to_str().unwrap().starts_with("sandbox"));
    assert_eq!(headers[header::CACHE_CONTROL], "no-store");
    assert_eq!(response.into_body().collect().await.unwrap().to_bytes(), "<b>hi</b>");
}

#[tokio::test]
async fn a_file_that_the_run_does_not_hold_is_one_clear_line() {
    let fixture = Fixture::new().await;
    let (run, token) = fixture.run().await;
    for handle in ["file_01ARZ3NDEKTSV4RRFFQ69G5FAV", "..%2F..%2Fetc%2Fpasswd", "orders.csv"] {
        let (status, answer) = fixture.get(&format!("{run}/files/{handle}"), Some(&token)).await;
        assert!(status.is_client_error(), "{handle}: {status}");
        assert!(!answer["error"]["message"].as_str().unwrap().is_empty(), "{handle}: {answer}");
    }
    let empty = request(Method::POST, &format!("{run}/files"), Some(&token))
        .header(header::CONTENT_TYPE, "multipart/form-data; boundary=x")
        .body(Body::from("--x--\r\n"));
    let answer = fixture.answer(empty.unwrap()).await;
    assert_eq!(message(&answer), (400, "invalid_request", "the form holds no file"));
}

#[tokio::test]
async fn an_answer_to_nothing_is_not_found_and_a_wrong_answer_is_refused() {
    let fixture = Fixture::new().await;
    let answer = fixture.post("/v1/approvals/appr_1", Some(OPERATOR), json!({"answer": "approve"})).await;
    assert_eq!((answer.0.as_u16(), message(&answer).1), (404, "not_found"));
    let answer = fixture.post("/v1/approvals/appr_1", Some(OPERATOR), json!({"answer": "maybe"})).await;
    assert_eq!(answer.0, StatusCode::BAD_REQUEST);
    let (status, listed) = fixture.get("/v1/approvals", Some(OPERATOR)).await;
    assert_eq!((status, &listed["approvals"]), (StatusCode::OK, &json!([])));
    assert_eq!(fixture.get("/v1/approvals?since=x", Some(OPERATOR)).await.0, StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn what_is_not_there_is_an_error_in_the_same_form() {
    let fixture = Fixture::new().await;
    assert_eq!(message(&fixture.get("/", Some(OPERATOR)).await), (404, "not_found", "there is no such address"));
    let answer = fixture.ask(Method::PUT, "/v1/runs", Some(OPERATOR), Value::Null).await;
    assert_eq!(message(&answer), (405, "invalid_request", "this address does not take that method"));
    assert_eq!(fixture.get("/v1/runs/run_nope/journal", Some(OPERATOR)).await.0, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn whoever_is_through_the_control_socket_is_the_operator() {
    let fixture = Fixture::new().await;
    let router = router(Api::new(fixture.host.clone(), Door::Control));
    let request = Request::builder().uri("/v1/runs").body(Body::empty()).unwrap();
    assert_eq!(router.oneshot(request).await.unwrap().status(), StatusCode::OK);
}

#[tokio::test]
async fn what_happened_in_a_run_can_be_read() {
    let fixture = Fixture::new().await;
    let (run, token) = fixture.run().await;
    fixture
        .post(&format!("{run}/calls"), Some(&token), json!({"tool": "shop.click", "arguments": {"ref": "e1"}}))
        .await;
    let (status, journal) = fixture.get(&format!("{run}/journal"), Some(OPERATOR)).await;
    assert_eq!(status, StatusCode::OK);
    let kinds: Vec<&str> =
        journal["entries"].as_array().unwrap().iter().map(|entry| entry["kind"].as_str().unwrap()).collect();
    assert!(kinds.contains(&"run_started") && kinds.contains(&"refusal"), "{kinds:?}");
}
