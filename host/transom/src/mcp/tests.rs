//! A real run, met by rmcp's own client in this process and by plain HTTP. No call here gets as far as a browser.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use reqwest::{Client, RequestBuilder, StatusCode, header};
use rmcp::{
    ClientHandler, RoleClient, ServiceExt as _,
    model::{
        CallToolRequest, CallToolRequestParams, CallToolResult, ClientRequest, ProgressNotificationParam,
        RequestMetaObject,
    },
    service::{NotificationContext, PeerRequestOptions, RunningService},
};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::task::JoinHandle;
use transom_runs::{
    EndReason, GivenFile, Host, HostOptions, Run, RunSpec, Tools, binding::SecretValues, journal::JournalFilter,
};

use super::{Options, RunServer, server::ERROR_META, stdio};
use crate::http::{Api, Door, OperatorToken, router};

/// Everything here ends far sooner, but for the wait of ten seconds for the first word of progress.
const WITHIN: Duration = Duration::from_secs(30);

const BINDINGS: &str = r#"
[[binding]]
prefix = "shop"
hosts = ["shop.localhost"]
start = "http://shop.localhost/"
resolve = { "shop.localhost" = "127.0.0.1:9" }

[[binding]]
prefix = "shop_a"
hosts = ["shop.localhost"]
start = "http://shop.localhost/"
"#;

struct World {
    host: Host,
    run: Run,
    _state: TempDir,
}

async fn world(tools: &[&str]) -> World {
    let state = tempfile::tempdir().unwrap();
    let options = HostOptions {
        launcher: std::env::current_exe().unwrap(),
        state: state.path().to_owned(),
        base_dir: state.path().to_owned(),
    };
    let host = Host::start(toml::from_str(BINDINGS).unwrap(), SecretValues::new(), options).await.unwrap();
    let spec = RunSpec {
        tools: Tools::Named(tools.iter().map(|tool| (*tool).to_owned()).collect()),
        files: vec![GivenFile { name: "receipt.txt".into(), bytes: b"abc".to_vec(), media_type: None }],
        model: None,
        shape: "mcp".into(),
        idle: None,
    };
    let run = host.create_run(spec).await.unwrap();
    World { host, run, _state: state }
}

#[derive(Clone, Default)]
struct Listener {
    progress: Arc<Mutex<Vec<ProgressNotificationParam>>>,
    heard: Arc<tokio::sync::Notify>,
}

impl ClientHandler for Listener {
    async fn on_progress(&self, word: ProgressNotificationParam, _context: NotificationContext<RoleClient>) {
        self.progress.lock().unwrap().push(word);
        self.heard.notify_one();
    }
}

struct Connected {
    client: RunningService<RoleClient, Listener>,
    listener: Listener,
    server: JoinHandle<Result<(), stdio::StdioError>>,
}

async fn connect(run: &Run, separator: &str) -> Connected {
    let (ours, theirs) = tokio::io::duplex(64 * 1024);
    let (run, options) = (run.clone(), Options { separator: separator.to_owned() });
    let server = tokio::spawn(async move { stdio::serve(run, &options, tokio::io::split(ours)).await });
    let listener = Listener::default();
    let client = listener.clone().serve(tokio::io::split(theirs)).await.unwrap();
    Connected { client, listener, server }
}

impl Connected {
    async fn call(&self, tool: &str, arguments: Value) -> CallToolResult {
        let call = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments.as_object().cloned().unwrap());
        tokio::time::timeout(WITHIN, self.client.call_tool(call)).await.unwrap().unwrap()
    }

    async fn leave(self) {
        self.client.cancel().await.unwrap();
        tokio::time::timeout(WITHIN, self.server).await.unwrap().unwrap().unwrap();
    }
}

fn text(result: &CallToolResult) -> &str {
    &result.content[0].as_text().unwrap().text
}

#[tokio::test]
async fn the_granted_tools_are_listed_with_schemas_and_hints_and_no_others() {
    let world = world(&["shop.snapshot", "shop.click", "shop.upload"]).await;
    let connected = connect(&world.run, ".").await;
    let tools = connected.client.list_all_tools().await.unwrap();
    let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_ref()).collect();
    assert_eq!(names, ["shop.click", "shop.snapshot", "shop.upload"]);
    for tool in &tools {
        assert_eq!(tool.input_schema["type"], "object", "{}", tool.name);
        assert_eq!(tool.output_schema.as_ref().unwrap()["type"], "object", "{}", tool.name);
        let hints = tool.annotations.as_ref().unwrap();
        assert_eq!(hints.read_only_hint, Some(tool.name == "shop.snapshot"), "{}", tool.name);
        assert_eq!(hints.destructive_hint, (tool.name != "shop.snapshot").then_some(true), "{}", tool.name);
    }
    let info = connected.client.peer_info().unwrap();
    let instructions = info.instructions.as_deref().unwrap();
    assert!(instructions.contains("`shop.`") && instructions.contains("never an instruction"), "{instructions}");
    assert!(!instructions.contains("{{secret:"), "`type` is not granted: {instructions}");
    connected.leave().await;
}

#[tokio::test]
async fn a_tool_that_is_not_granted_is_refused_to_the_model_and_written_down() {
    let world = world(&["shop.snapshot"]).await;
    let connected = connect(&world.run, ".").await;
    for (tool, says) in [("shop.click", "not granted"), ("nowhere.click", "not granted"), ("rm -rf", "refused")] {
        let result = connected.call(tool, json!({})).await;
        assert_eq!(result.is_error, Some(true), "{tool}");
        assert!(
            text(&result).starts_with("computer_use_not_granted: ") && text(&result).contains(says),
            "{}",
            text(&result)
        );
        assert_eq!(result.meta.as_ref().unwrap().0[ERROR_META]["code"], "computer_use_not_granted");
        assert!(result.structured_content.is_none());
    }
    let filter = JournalFilter { run: Some(world.run.id().to_owned()), ..JournalFilter::default() };
    let rows = world.host.journal().entries(filter).await.unwrap();
    assert_eq!(rows.iter().filter(|row| row.kind == "refusal").count(), 3);
    connected.leave().await;
}

#[tokio::test]
async fn a_wrong_argument_is_an_error_that_the_model_can_read() {
    let world = world(&["shop.navigate"]).await;
    let connected = connect(&world.run, ".").await;
    let result = connected.call("shop.navigate", json!({"ulr": "http://shop.localhost/"})).await;
    assert_eq!(
        text(&result),
        "computer_use_invalid_input: `navigate` takes no argument `ulr`\nhint: did you mean `url`?"
    );
    let result = connected.call("shop.navigate", json!({"url": "http://evil.test/"})).await;
    assert!(text(&result).starts_with("computer_use_site_blocked: refused"), "{}", text(&result));
    connected.leave().await;
}

#[tokio::test]
async fn another_separator_changes_the_names_and_nothing_else() {
    let world = world(&["shop.navigate", "shop_a.navigate"]).await;
    for (separator, name) in [("_", "shop_a_navigate"), ("-", "shop_a-navigate"), ("__", "shop_a__navigate")] {
        let server = RunServer::new(world.run.clone(), &Options { separator: separator.into() }).unwrap();
        assert!(rmcp::ServerHandler::get_tool(&server, name).is_some(), "{name}");
    }
    let connected = connect(&world.run, "_").await;
    let result = connected.call("shop_a_navigate", json!({})).await;
    assert!(
        text(&result).starts_with("computer_use_invalid_input: `navigate` needs the argument `url`"),
        "{}",
        text(&result)
    );
    connected.leave().await;
}

#[tokio::test]
async fn a_run_ends_with_its_clients_input() {
    let world = world(&["shop.tabs"]).await;
    let connected = connect(&world.run, ".").await;
    assert!(world.run.ended().is_none());
    connected.leave().await;
    assert_eq!(world.run.ended(), Some(EndReason::Caller));
}

#[tokio::test]
async fn a_client_that_leaves_before_it_begins_ends_the_run_too() {
    let world = world(&["shop.tabs"]).await;
    let (ours, theirs) = tokio::io::duplex(1024);
    drop(theirs);
    stdio::serve(world.run.clone(), &Options::default(), tokio::io::split(ours)).await.unwrap();
    assert_eq!(world.run.ended(), Some(EndReason::Caller));
}

#[tokio::test]
async fn a_call_that_waits_for_a_person_says_so_and_is_taken_back_with_its_question() {
    let world = world(&["shop.upload"]).await;
    let connected = connect(&world.run, ".").await;
    let file = world.run.files()[0].id.to_string();
    let arguments = json!({"selector": "#receipt", "file": file}).as_object().cloned().unwrap();
    let call = CallToolRequest::new(CallToolRequestParams::new("shop.upload").with_arguments(arguments));
    let mut changes = world.host.approvals().changes();
    // The client's library adds a progress token by itself.
    let request = connected
        .client
        .send_cancellable_request(ClientRequest::CallToolRequest(call), PeerRequestOptions::no_options())
        .await
        .unwrap();
    tokio::time::timeout(WITHIN, changes.changed()).await.unwrap().unwrap();
    assert_eq!(world.host.approvals().pending().len(), 1);

    tokio::time::timeout(WITHIN, connected.listener.heard.notified()).await.unwrap();
    let word = connected.listener.progress.lock().unwrap()[0].clone();
    assert!(word.progress >= 10.0, "{word:?}");
    assert!(word.message.as_deref().unwrap().contains("receipt.txt"), "{word:?}");

    changes.borrow_and_update();
    request.cancel(None).await.unwrap();
    tokio::time::timeout(WITHIN, changes.changed()).await.unwrap().unwrap();
    assert!(world.host.approvals().pending().is_empty());
    connected.leave().await;
}

#[tokio::test]
async fn without_a_progress_token_nothing_is_said_and_the_answer_comes() {
    let world = world(&["shop.upload"]).await;
    let server = RunServer::new(world.run.clone(), &Options::default()).unwrap();
    let (ours, theirs) = tokio::io::duplex(64 * 1024);
    let serving = tokio::spawn(async move {
        rmcp::service::serve_server(server, tokio::io::split(ours)).await.unwrap().waiting().await
    });
    let client = Listener::default().serve(tokio::io::split(theirs)).await.unwrap();
    let arguments = json!({"selector": "#receipt", "file": "/etc/passwd"}).as_object().cloned().unwrap();
    let mut call = CallToolRequestParams::new("shop.upload").with_arguments(arguments);
    call.meta = Some(RequestMetaObject::new());
    let result = client.call_tool(call).await.unwrap();
    assert_eq!(result.is_error, Some(true));
    assert!(!text(&result).contains("/etc/passwd"), "{}", text(&result));
    client.cancel().await.unwrap();
    serving.await.unwrap().unwrap();
}

/// The API on a port of its own, and a client that shows a token.
struct OverHttp {
    client: Client,
    addr: std::net::SocketAddr,
    token: String,
    server: JoinHandle<()>,
}

impl Drop for OverHttp {
    fn drop(&mut self) {
        self.server.abort();
    }
}

impl OverHttp {
    async fn serve(world: &World) -> OverHttp {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let addr = listener.local_addr().unwrap();
        let operator = OperatorToken::parse("op_0123456789abcdef0123456789", "a test").unwrap();
        let api = router(Api::new(world.host.clone(), Door::Tcp { operator, port: addr.port() }));
        let server = tokio::spawn(async move { axum::serve(listener, api).await.unwrap() });
        OverHttp { client: Client::new(), addr, token: world.run.token().reveal().to_owned(), server }
    }

    fn post(&self, run: &Run, query: &str, body: &Value) -> RequestBuilder {
        self.client
            .post(format!("http://{}/v1/runs/{}/mcp{query}", self.addr, run.id()))
            .bearer_auth(&self.token)
            .header(header::ACCEPT, "application/json, text/event-stream")
            .json(body)
    }

    /// A session's id.
    async fn initialize(&self, run: &Run, query: &str) -> String {
        let answer = self.post(run, query, &initialize()).send().await.unwrap();
        assert_eq!(answer.status(), StatusCode::OK);
        answer.headers()["mcp-session-id"].to_str().unwrap().to_owned()
    }

    /// The result of a request within a session.
    async fn ask(&self, run: &Run, query: &str, session: &str, method: &str, params: Value) -> Value {
        let body = json!({"jsonrpc": "2.0", "id": 2, "method": method, "params": params});
        let answer = self.post(run, query, &body).header("mcp-session-id", session).send().await.unwrap();
        assert_eq!(answer.status(), StatusCode::OK);
        let body = answer.text().await.unwrap();
        let data = body.lines().filter_map(|line| line.strip_prefix("data:")).rfind(|data| data.contains("\"id\":2"));
        serde_json::from_str::<Value>(data.unwrap_or_else(|| panic!("no answer in {body}"))).unwrap()["result"].clone()
    }
}

fn initialize() -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "a test", "version": "1"}
    }})
}

#[tokio::test]
async fn a_run_is_served_at_its_own_address_for_its_own_token() {
    let world = world(&["shop.navigate"]).await;
    let mut http = OverHttp::serve(&world).await;
    let session = http.initialize(&world.run, "").await;
    let listed = http.ask(&world.run, "", &session, "tools/list", json!({})).await;
    assert_eq!(listed["tools"][0]["name"], "shop.navigate");
    let refused =
        http.ask(&world.run, "", &session, "tools/call", json!({"name": "shop.click", "arguments": {}})).await;
    assert_eq!(refused["isError"], true);

    let session = http.initialize(&world.run, "?separator=_").await;
    let listed = http.ask(&world.run, "?separator=_", &session, "tools/list", json!({})).await;
    assert_eq!(listed["tools"][0]["name"], "shop_navigate");
    let unknown = http.post(&world.run, "?separator=/", &initialize()).send().await.unwrap();
    assert_eq!(unknown.status(), StatusCode::BAD_REQUEST);

    let spec = RunSpec {
        tools: Tools::Named(vec!["shop.tabs".into()]),
        files: Vec::new(),
        model: None,
        shape: "http".into(),
        idle: None,
    };
    let other = world.host.create_run(spec).await.unwrap();
    assert_eq!(http.post(&other, "", &initialize()).send().await.unwrap().status(), StatusCode::NOT_FOUND);
    http.token = other.token().reveal().to_owned();
    assert_eq!(http.post(&other, "", &initialize()).send().await.unwrap().status(), StatusCode::OK);
    other.end(EndReason::Caller).await;
}

#[tokio::test]
async fn pages_of_other_sites_are_refused() {
    let world = world(&["shop.navigate"]).await;
    let http = OverHttp::serve(&world).await;
    for (name, value) in [(header::HOST, "evil.test"), (header::ORIGIN, "https://evil.test"), (header::ORIGIN, "null")]
    {
        let answer = http.post(&world.run, "", &initialize()).header(name.clone(), value).send().await.unwrap();
        assert_eq!(answer.status(), StatusCode::FORBIDDEN, "{name}: {value}");
    }
    assert_eq!(http.post(&world.run, "", &initialize()).send().await.unwrap().status(), StatusCode::OK);
}

#[tokio::test]
async fn sessions_and_streams_end_with_their_run() {
    let world = world(&["shop.navigate"]).await;
    let http = OverHttp::serve(&world).await;
    let session = http.initialize(&world.run, "").await;
    // The stream for what the server says by itself stays open until the end.
    let stream = http
        .client
        .get(format!("http://{}/v1/runs/{}/mcp", http.addr, world.run.id()))
        .bearer_auth(&http.token)
        .header(header::ACCEPT, "text/event-stream")
        .header("mcp-session-id", &session)
        .send()
        .await
        .unwrap();
    assert_eq!(stream.status(), StatusCode::OK);
    world.run.end(EndReason::Caller).await;
    tokio::time::timeout(WITHIN, stream.bytes()).await.unwrap().unwrap();

    let answer = http.post(&world.run, "", &initialize()).send().await.unwrap();
    assert_eq!(answer.status(), StatusCode::GONE);
    assert!(answer.text().await.unwrap().contains("\"reason\":\"run_ended\""));
}
