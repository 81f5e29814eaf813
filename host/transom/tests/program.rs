//! The program as an operator meets it when something is wrong: one clear line on standard error, and an exit code that says of
//! which kind it is. Nothing here needs a browser.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "helpers of tests fail as tests do")]

use std::{
    io::{BufRead as _, BufReader},
    path::Path,
    process::{Command, Output, Stdio},
};

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

const CONFIG: &str = r#"
[host]
chromium = "/nowhere/chromium"

[[binding]]
prefix = "shop"
hosts = ["shop.test"]
start = "https://shop.test/"
verbs = ["navigate", "click", "upload"]
"#;

/// A folder with a configuration, where the program runs with nothing else in its environment.
struct Place(TempDir);

impl Place {
    fn new(config: &str) -> Place {
        let place = Place(tempfile::tempdir().unwrap());
        std::fs::write(place.path().join("transom.toml"), config).unwrap();
        place
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_transom"));
        command.args(arguments).current_dir(self.path()).env_clear().env("HOME", self.path()).stdin(Stdio::null());
        command
    }

    /// The exit code, and what was said on standard error.
    fn run(&self, arguments: &[&str]) -> (i32, String) {
        said(&self.command(arguments).output().unwrap())
    }

    fn state(&self) -> std::path::PathBuf {
        self.path().join(".local/state/transom")
    }
}

fn said(output: &Output) -> (i32, String) {
    let text = String::from_utf8(output.stderr.clone()).unwrap();
    assert!(!text.contains("panicked"), "{text}");
    (output.status.code().unwrap(), text)
}

/// Asserts that the failure is `code`, its first line begins so, and nothing but a hint follows.
#[track_caller]
fn assert_fails((code, text): (i32, String), expected_code: i32, start: &str) {
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(code, expected_code, "{text}");
    assert!(lines[0].starts_with(&format!("error: {start}")), "{text}");
    assert!(lines.len() == 1 || lines.len() == 2 && lines[1].starts_with("  hint: "), "{text}");
}

#[test]
fn a_wrong_configuration_is_its_place_and_code_2() {
    let place = Place::new(&CONFIG.replace("hosts", "hots"));
    assert_fails(
        place.run(&["config", "check"]),
        2,
        "transom.toml:7:1: binding \"shop\": unknown key `hots`: did you mean `hosts`?",
    );
    assert_fails(place.run(&["call", "shop.navigate"]), 2, "transom.toml:7:1: ");
    assert_fails(place.run(&["config", "check", "--config", "other.toml"]), 2, "other.toml: no such file");

    let place = Place::new(&CONFIG.replace("https://shop.test/", "https://evil.test/"));
    assert_fails(place.run(&["config", "check"]), 2, "transom.toml:8:1: binding \"shop\", start: ");
    assert_fails(place.run(&["serve"]), 2, "transom.toml:8:1: binding \"shop\", start: ");

    let place = Place::new(CONFIG);
    assert_eq!(place.run(&["config", "check"]), (0, String::new()));
}

#[test]
fn a_secret_without_a_value_is_one_line_and_code_2() {
    let place = Place::new(&format!("{CONFIG}[binding.secrets]\npassword = {{ env = \"SHOP_PASSWORD\" }}\n"));
    let line = "binding \"shop\", secret \"password\": the environment variable SHOP_PASSWORD is not set";
    assert_fails(place.run(&["config", "check"]), 2, line);
    assert_fails(place.run(&["call", "shop.navigate", "url=https://shop.test/"]), 2, line);
    let given = place.command(&["config", "check"]).env("SHOP_PASSWORD", "correct horse").output().unwrap();
    assert_eq!(said(&given), (0, String::new()));
    // Too short to be taken out of texts again: said without the value.
    let short = said(&place.command(&["config", "check"]).env("SHOP_PASSWORD", "tiny7").output().unwrap());
    assert!(!short.1.contains("tiny7"), "{}", short.1);
    assert_fails(short, 2, "");
}

#[test]
fn a_wrong_binding_verb_or_tool_is_one_line_and_code_2() {
    let place = Place::new(CONFIG);
    assert_fails(place.run(&["call", "shp.navigate"]), 2, "no binding \"shp\" in transom.toml: did you mean \"shop\"?");
    assert_fails(place.run(&["mcp", "--binding", "shp"]), 2, "no binding \"shp\"");
    assert_fails(place.run(&["mcp", "--binding", "shop", "--tools", "evaluate"]), 2, "computer_use_not_granted: ");
    assert_fails(place.run(&["mcp", "--binding", "shop", "--tools", "clik"]), 2, "computer_use_not_granted: ");
    assert_fails(place.run(&["mcp"]), 2, "which binding? give --binding PREFIX");
    assert_fails(place.run(&["call", "navigate"]), 2, "\"navigate\" of which binding?");
}

#[test]
fn a_call_that_fails_is_its_code_and_line_and_code_1() {
    let place = Place::new(CONFIG);
    assert_fails(
        place.run(&["call", "shop.navigate", "url=https://evil.test/"]),
        1,
        "computer_use_site_blocked: refused: evil.test ",
    );
    assert_fails(
        place.run(&["call", "shop.navigate"]),
        1,
        "computer_use_invalid_input: `navigate` needs the argument `url`",
    );
    assert_fails(place.run(&["call", "shop.click", "ref=12"]), 1, "computer_use_invalid_input: ");
    assert_fails(place.run(&["call", "shop.upload", "selector=#f", "file=/etc/passwd"]), 1, "computer_use_");
    assert_fails(place.run(&["call", "shop.snapshot"]), 1, "computer_use_not_granted: ");
}

#[test]
fn a_plugin_that_cannot_be_loaded_is_one_line_and_code_1() {
    let place = Place::new(CONFIG);
    assert_fails(place.run(&["plugin", "check", "nowhere"]), 1, "nowhere: ");
    let folder = place.path().join("orders");
    std::fs::create_dir(&folder).unwrap();
    let manifest = "[plugin]\nname = \"orders\"\nversion = \"0.1.0\"\ncomponent = \"orders.wasm\"\ndescription = \"Reads orders\"\n";
    std::fs::write(folder.join("plugin.toml"), format!("{manifest}licence = \"x\"\n")).unwrap();
    assert_fails(place.run(&["plugin", "check", "orders"]), 1, "orders/plugin.toml: line 6: unknown key ");
    std::fs::write(folder.join("plugin.toml"), manifest).unwrap();
    assert_fails(place.run(&["plugin", "check", "orders"]), 1, "orders/orders.wasm: ");
    std::fs::write(folder.join("orders.wasm"), "no component").unwrap();
    assert_fails(place.run(&["plugin", "check", "orders"]), 1, "orders/orders.wasm: ");
}

#[test]
fn what_is_not_there_is_one_line_and_code_3() {
    let place = Place::new(CONFIG);
    assert_fails(place.run(&["approvals"]), 3, "no host is running with this state folder");
    assert_fails(place.run(&["approvals", "approve", "appr_1"]), 3, "no host is running");
    assert_fails(place.run(&["approvals", "approve", "../x"]), 2, "\"../x\" is no id of an approval");
    assert_fails(place.run(&["journal", "show"]), 3, "no journal at ");
    let url = "http://127.0.0.1:1/v1/runs/run_1";
    assert_fails(
        place.run(&["call", "shop.navigate", "--run", url, "--token", "t"]),
        3,
        "no host answers at http://127.0.0.1:1/",
    );
    assert_fails(
        place.run(&["call", "shop.navigate", "--run", "ftp://x", "--token", "t"]),
        2,
        "\"ftp://x\" is no address of a host",
    );
}

#[test]
fn a_script_with_a_mistake_is_refused_before_its_first_call() {
    let place = Place::new(CONFIG);
    std::fs::write(place.path().join("s.jsonl"), "{\"tool\": \"navigate\"}\nnavigate\n").unwrap();
    assert_fails(place.run(&["run", "s.jsonl", "--binding", "shop"]), 2, "s.jsonl:2: not a call as ");
    assert!(!place.state().exists());
    assert_fails(place.run(&["run", "none.jsonl", "--binding", "shop"]), 2, "none.jsonl: ");

    std::fs::write(place.path().join("s.jsonl"), "# two\n{\"tool\": \"navigate\"}\n{\"tool\": \"click\"}\n").unwrap();
    let stopped = place.command(&["run", "s.jsonl", "--binding", "shop"]).output().unwrap();
    assert_eq!((stopped.status.code(), String::from_utf8_lossy(&stopped.stdout).lines().count()), (Some(1), 1));
    let went_on = place.command(&["run", "s.jsonl", "--binding", "shop", "--keep-going"]).output().unwrap();
    assert_eq!((went_on.status.code(), String::from_utf8_lossy(&went_on.stdout).lines().count()), (Some(1), 2));
}

#[test]
fn the_daemon_says_where_it_is_refuses_strangers_and_leaves_nothing_behind() {
    let place = Place::new(CONFIG);
    assert_fails(place.run(&["serve", "--listen", "0.0.0.0:0"]), 2, "0.0.0.0:0 is not a loopback address");

    let mut daemon = place
        .command(&["serve", "--listen", "127.0.0.1:0"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut ready = String::new();
    BufReader::new(daemon.stdout.take().unwrap()).read_line(&mut ready).unwrap();
    let url = ready.trim().strip_prefix("transom is ready at ").unwrap_or_else(|| panic!("{ready}")).to_owned();

    let socket = place.state().join(format!("control/{}.sock", daemon.id()));
    assert!(socket.exists());
    assert_eq!(place.run(&["approvals", "list"]), (0, "nothing waits for a person\n".to_owned()));
    assert_fails(place.run(&["approvals", "approve", "appr_1"]), 3, "nothing waits under appr_1: ");
    assert_fails(place.run(&["approvals", "--url", &url, "--token", "wrong"]), 3, "not_found: ");
    let token = std::fs::read_to_string(place.state().join("operator-token")).unwrap();
    assert_eq!(place.run(&["approvals", "--url", &url, "--token", token.trim()]).0, 0);
    assert_fails(
        place.run(&["call", "shop.navigate", "--run", &format!("{url}/v1/runs/run_1"), "--token", "wrong"]),
        3,
        "not_found: ",
    );
    assert_fails(place.run(&["serve", "--listen", url.trim_start_matches("http://")]), 2, "can't listen on 127.0.0.1:");

    let pid = Pid::from_raw(i32::try_from(daemon.id()).unwrap()).unwrap();
    kill_process(pid, Signal::TERM).unwrap();
    let ended = daemon.wait_with_output().unwrap();
    assert_eq!(ended.status.code(), Some(0), "{}", String::from_utf8_lossy(&ended.stderr));
    assert!(!socket.exists());
}
