//! What an operator reads when something in the configuration is wrong.

use std::{fs, path::Path};

use expect_test::{Expect, expect};
use transom_runs::binding::Binding;

use super::*;

const GOOD: &str = "[[binding]]\nprefix = \"shop\"\nhosts = [\"shop.test\"]\nstart = \"https://shop.test/\"\n";

fn check(text: &str, expected: Expect) {
    expected.assert_eq(&parse(Path::new("transom.toml"), text).unwrap_err().to_string());
}

fn environment(folder: &Path, variables: &[(&str, &str)]) -> Environment {
    Environment::of(folder, variables)
}

#[test]
fn the_smallest_configuration_is_read() {
    let settings = parse(Path::new("transom.toml"), GOOD).unwrap();
    assert_eq!(settings.binding[0].prefix, "shop");
    assert_eq!(settings.host.listen.to_string(), "127.0.0.1:7411");
}

#[test]
fn an_unknown_key_is_an_error_with_its_place_and_what_was_meant() {
    check(
        &GOOD.replace("hosts", "hots"),
        expect![[r#"transom.toml:3:1: binding "shop": unknown key `hots`: did you mean `hosts`?"#]],
    );
    check("[limits]\nrun = 3\n", expect!["transom.toml:2:1: [limits]: unknown key `run`: did you mean `runs`?"]);
    check("[hosts]\n", expect!["transom.toml:1:2: unknown key `hosts`: did you mean `host`?"]);
    check("[journal]\nwhatever = 1\n", expect!["transom.toml:2:1: [journal]: unknown key `whatever`: there is `sync`"]);
    check(
        &format!("{GOOD}[binding.secrets]\npassword = {{ enw = \"X\" }}\n"),
        expect![[r#"transom.toml:6:14: binding "shop": unknown key `enw`: did you mean `env`?"#]],
    );
}

#[test]
fn a_wrong_value_is_an_error_with_its_place_and_what_to_write() {
    check(
        &format!("{GOOD}dialogs = \"acept\"\n"),
        expect![[
            r#"transom.toml:5:11: binding "shop": `dialogs`: "acept" is not one of its values: did you mean `accept`?"#
        ]],
    );
    check(
        &format!("{GOOD}isolation = \"none\"\n"),
        expect![[
            r#"transom.toml:5:13: binding "shop": `isolation`: "none" is not one of its values: there is `jail`, `proxy`"#
        ]],
    );
    check(
        &GOOD.replace("[\"shop.test\"]", "\"shop.test\""),
        expect![[r#"transom.toml:3:9: binding "shop": `hosts`: invalid type: string "shop.test", expected a list"#]],
    );
    check(
        &GOOD.replace("[\"shop.test\"]", "[7]"),
        expect![[
            r#"transom.toml:3:9: binding "shop": `hosts[0]`: a host is "shop.example.com" or { host = "shop.example.com", private = true }"#
        ]],
    );
    check(
        "[limits]\nidle = \"soon\"\n",
        expect![[
            r#"transom.toml:2:8: [limits]: `idle`: `soon` is no duration: write a number and a unit, as in "15s" or "5m""#
        ]],
    );
    check(
        "[limits]\nruns = -1\n",
        expect!["transom.toml:2:8: [limits]: `runs`: invalid value: integer `-1`, expected a whole number from 0"],
    );
    check(
        "[host]\nlisten = \"localhost\"\n",
        expect![[
            r#"transom.toml:2:10: [host]: `listen`: an address is written with its port, as in "127.0.0.1:7411""#
        ]],
    );
    check("host = 3\n", expect!["transom.toml:1:8: `host`: invalid type: integer `3`, expected a table"]);
    check("[[binding]]\nprefix = \"shop\"\n", expect![[r#"transom.toml:1:1: binding "shop": `hosts` is missing"#]]);
    check(
        "[[binding]]\nhosts = 3\n",
        expect!["transom.toml:2:9: [[binding]] number 1: `hosts`: invalid type: integer `3`, expected a list"],
    );
    check("[[binding]\n", expect!["transom.toml:1:11: not TOML: unclosed array table, expected `]`"]);
    check("[host]\nstate = \"a\"\nstate = \"b\"\n", expect!["transom.toml:3:1: not TOML: duplicate key"]);
}

#[test]
fn a_binding_that_is_refused_is_shown_at_its_place() {
    let text = GOOD.replace("start = \"https://shop.test/\"", "start = \"https://evil.test/\"");
    let config =
        Config { path: "transom.toml".into(), settings: parse(Path::new("transom.toml"), &text).unwrap(), text };
    let error = Binding::check(&config.settings.binding[0], &SecretValues::new()).unwrap_err();
    let shown = config.place_of(&error).to_string();
    assert!(shown.starts_with("transom.toml:4:1: binding \"shop\", start: "), "{shown}");
}

#[test]
fn the_file_that_was_named_wins_then_the_local_one_then_the_users() {
    let folder = tempfile::tempdir().unwrap();
    let home = tempfile::tempdir().unwrap();
    let variables = [("HOME", home.path().to_str().unwrap())];
    let here = environment(folder.path(), &variables);
    let load = |explicit: Option<&Path>| Config::load(explicit, &here).map(|config| config.path);

    let missing = load(None).unwrap_err().to_string();
    assert!(missing.starts_with("no configuration: looked for ./transom.toml and /"), "{missing}");

    let users = home.path().join(".config/transom/transom.toml");
    fs::create_dir_all(users.parent().unwrap()).unwrap();
    fs::write(&users, GOOD).unwrap();
    assert_eq!(load(None).unwrap(), users);

    let local = folder.path().join("transom.toml");
    fs::write(&local, GOOD).unwrap();
    assert_eq!(load(None).unwrap(), local);

    let named = folder.path().join("other.toml");
    assert!(load(Some(Path::new("other.toml"))).unwrap_err().to_string().ends_with("other.toml: no such file"));
    fs::write(&named, GOOD).unwrap();
    assert_eq!(load(Some(Path::new("other.toml"))).unwrap(), named);
}

#[test]
fn state_goes_where_the_file_says_relative_to_it_else_where_the_environment_says() {
    let base = Path::new("/etc/transom");
    let of = |configured: Option<&str>, variables: &[(&str, &str)]| {
        state_folder(configured.map(Path::new), base, &environment(base, variables))
            .map(|path| path.display().to_string())
            .unwrap_or_else(|error| error.to_string())
    };
    assert_eq!(of(Some("state"), &[]), "/etc/transom/state");
    assert_eq!(of(Some("/srv"), &[]), "/srv");
    assert_eq!(of(None, &[("HOME", "/home/a")]), "/home/a/.local/state/transom");
    assert_eq!(of(None, &[("HOME", "/home/a"), ("XDG_STATE_HOME", "/s")]), "/s/transom");
    assert_eq!(of(None, &[("HOME", "/home/a"), ("XDG_STATE_HOME", "relative")]), "/home/a/.local/state/transom");
    assert_eq!(of(None, &[]), "no place for state: set `state` under [host], or the environment variable HOME");
}

#[test]
fn a_secret_without_a_value_is_one_line_with_binding_secret_and_source() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("pin"), "12345678\n").unwrap();
    fs::write(folder.path().join("empty"), "\n").unwrap();
    let read = |secret: &str, variables: &[(&str, &str)]| {
        let text = format!("{GOOD}[binding.secrets]\npassword = {secret}\n");
        let settings = parse(Path::new("transom.toml"), &text).unwrap();
        let setting = &settings.binding[0].secrets["password"];
        secrets::value("shop", "password", setting, folder.path(), &environment(folder.path(), variables))
            .unwrap_or_else(|error| error.to_string())
    };
    let env = "{ env = \"SHOP_PASSWORD\" }";
    assert_eq!(read(env, &[("SHOP_PASSWORD", "correct horse")]), "correct horse");
    assert_eq!(read("{ file = \"pin\" }", &[]), "12345678");
    let start = "binding \"shop\", secret \"password\":";
    assert_eq!(read(env, &[]), format!("{start} the environment variable SHOP_PASSWORD is not set"));
    assert_eq!(read(env, &[("SHOP_PASSWORD", "")]), format!("{start} the environment variable SHOP_PASSWORD is empty"));
    assert_eq!(
        read(env, &[("SHOP_PASSWORD", "tiny7")]),
        format!("{start} its value has 5 characters, which would be found in ordinary text: choose one of at least 8")
    );
    assert_eq!(read("{ file = \"nope\" }", &[]), format!("{start} nope: no such file"));
    assert_eq!(read("{ file = \"empty\" }", &[]), format!("{start} empty: the file is empty"));
    assert_eq!(read("{}", &[]), format!("{start} it has no source: write env = \"VARIABLE\" or file = \"PATH\""));
    assert_eq!(
        read("{ env = \"A\", file = \"b\" }", &[]),
        format!("{start} it has two sources: keep one of `env` and `file`")
    );
}

#[test]
fn a_command_for_one_binding_keeps_only_that_one_and_says_which_there_are() {
    let text = format!("{GOOD}{}", GOOD.replace("shop", "bank"));
    let config =
        Config { path: "transom.toml".into(), settings: parse(Path::new("transom.toml"), &text).unwrap(), text };
    let kept = config.clone().only(["bank"]).unwrap();
    assert_eq!(kept.settings.binding.len(), 1);
    assert_eq!(kept.settings.binding[0].prefix, "bank");
    let message = |prefix: &str| config.clone().only([prefix]).unwrap_err().to_string();
    assert_eq!(message("shp"), "no binding \"shp\" in transom.toml: did you mean \"shop\"?");
    assert_eq!(message("mail"), "no binding \"mail\" in transom.toml: there is \"shop\", \"bank\"");
}

#[test]
fn the_template_is_a_configuration_and_is_not_written_over_a_file() {
    let settings = parse(Path::new("template.toml"), TEMPLATE).unwrap();
    Binding::check(&settings.binding[0], &SecretValues::new()).unwrap();

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("transom.toml");
    init(&path, false).unwrap();
    fs::write(&path, "# mine").unwrap();
    assert!(init(&path, false).unwrap_err().to_string().ends_with("it is there already; --force replaces it"));
    assert_eq!(fs::read_to_string(&path).unwrap(), "# mine");
    init(&path, true).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), TEMPLATE);
}

#[test]
fn what_the_template_shows_as_defaults_are_the_defaults() {
    let uncommented: String = TEMPLATE
        .lines()
        .take_while(|line| !line.starts_with("# One binding"))
        .map(|line| line.strip_prefix("# ").filter(|rest| rest.contains(" = ")).unwrap_or(line))
        .filter(|line| {
            !line.starts_with("state") && !line.starts_with("chromium") && !line.starts_with("trusted_models")
        })
        .map(|line| format!("{line}\n"))
        .collect();
    let shown = parse(Path::new("template.toml"), &uncommented).unwrap();
    assert_eq!(toml::to_string(&shown).unwrap(), toml::to_string(&Settings::default()).unwrap(), "{uncommented}");
}
