//! The jail, with the real bubblewrap and the real Chromium: what is inside sees, reaches and survives nothing.
//!
//! Run as root, each check also runs as an ordinary user, in a process of its own. What a compromised Chromium could do is
//! tried by a shell that is launched in Chromium's place: same jail, same user, no sandbox of its own.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test may fail where it stands"
)]

mod cdp;
mod pages;
mod support;
mod tree;

use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use serde_json::json;
use support::{TestExchange, again_as_an_ordinary_user, answer_with_page, host_server, next_request, spec, within};
use transom_egress::Isolation;
use transom_egress::jail::{DOWNLOADS_IN_JAIL, UPLOADS_IN_JAIL, launch};

use crate::cdp::Cdp;

/// Every check, by the name that a child process is told.
const CHECKS: [&str; 7] = [
    "what_is_inside_sees_nothing_of_the_host",
    "chromium_answers_and_every_request_of_a_page_arrives_at_the_proxy",
    "chromium_runs_unprivileged_with_its_own_sandbox_on",
    "nothing_survives_a_dropped_launch",
    "nothing_survives_a_killed_host",
    "files_are_shared_at_either_level",
    "pages::a_page_loads_what_the_gate_admits_and_touches_nothing_else",
];

#[test]
fn every_check_also_holds_for_an_ordinary_user() {
    if !rustix::process::geteuid().is_root() {
        // The checks themselves have run as one.
        return;
    }
    for check in CHECKS {
        again_as_an_ordinary_user(check);
    }
}

/// Runs in the jail in Chromium's place. Writes to the CDP pipe, where the test reads it.
const INTRUDER: &str = r#"
exec 1>&4
echo "uid $(id -u) gid $(id -g) groups $(id -G)"
grep -E '^(CapInh|CapPrm|CapEff|CapAmb|NoNewPrivs)' /proc/self/status
for path in /root /home /etc/passwd /etc/hostname /etc/resolv.conf /run /var/run /srv /sys /var/lib "$1" "$2"; do
    test -e "$path" && echo "visible $path"
done
echo "root $(ls / | tr '\n' ' ')"
echo "etc $(ls /etc | tr '\n' ' ')"
echo "processes $(ls /proc | grep -c '^[0-9]')"
echo "interfaces $(tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d ' ' | tr '\n' ' ')"
open=""; for n in {0..99}; do [ -e /proc/$$/fd/$n ] && open="$open $n"; done; echo "descriptors$open"
echo "environment $(env | cut -d= -f1 | sort | tr '\n' ' ')"
for address in "127.0.0.1/$3" "169.254.169.254/80" "1.1.1.1/443"; do
    (exec 9<>"/dev/tcp/$address") 2>/dev/null && echo "reached $address"
done
(exec 9<>/dev/tcp/127.0.0.1/3128) && echo "reached the proxy"
echo x > /transom/downloads/kept && echo "downloads writable"
cat /transom/uploads/given && echo "uploads readable"
echo x > /transom/uploads/planted && echo "uploads writable"
echo x > /usr/planted && echo "usr writable"
echo x > /planted && echo "root writable"
echo x > /tmp/scratch && echo x > /dev/shm/scratch && echo "scratch writable"
echo end
"#;

#[tokio::test]
async fn what_is_inside_sees_nothing_of_the_host() {
    let exchange = TestExchange::new();
    let (server, hits) = host_server();
    // A Unix socket of the host, in the folder that the jail has a folder of the same name for, and in another.
    let in_tmp = tempfile::Builder::new().prefix("egress-host-").tempdir_in("/tmp").unwrap();
    let in_var = tempfile::Builder::new().prefix("egress-host-").tempdir_in("/var/tmp").unwrap();
    let sockets = [in_tmp.path().join("socket"), in_var.path().join("socket")];
    let _listeners = sockets.each_ref().map(|path| std::os::unix::net::UnixListener::bind(path).unwrap());
    std::os::unix::net::UnixStream::connect(&sockets[0]).expect("the host itself reaches its socket");

    let mut spec = spec(Isolation::Jail, &exchange);
    spec.program = "/usr/bin/bash".into();
    let [in_tmp, in_var] = sockets.each_ref().map(|path| path.to_str().unwrap());
    spec.args = ["-c", INTRUDER, "intruder", in_tmp, in_var, &server.port().to_string()].map(Into::into).into();
    exchange.prepare();
    std::fs::write(exchange.uploads().join("given"), "for the browser\n").unwrap();
    let launched = launch(spec).await.unwrap();
    launched.paths.hand_over(&exchange.uploads().join("given")).unwrap();
    assert_eq!(launched.paths.downloads.browser.to_str().unwrap(), DOWNLOADS_IN_JAIL);
    assert_eq!(launched.paths.uploads.browser.to_str().unwrap(), UPLOADS_IN_JAIL);
    let accepted = tokio::spawn({
        let listener = launched.listener;
        async move { listener.accept().await.map(drop) }
    });
    let said = within(cdp::read_to_end(launched.cdp_out)).await;
    println!("{said}");
    let line = |name: &str| said.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default().trim().to_owned();
    let says = |text: &str| said.lines().any(|line| line.trim() == text);

    assert!(says("end"), "the intruder ran to its end");
    let me = rustix::process::geteuid().as_raw();
    let uid = if me == 0 { 65534 } else { me };
    assert!(line("uid").starts_with(&format!("{uid} ")));
    for set in ["CapInh:", "CapPrm:", "CapEff:", "CapAmb:"] {
        assert_eq!(line(set), "0000000000000000", "{set}");
    }
    assert_eq!(line("NoNewPrivs:"), "1");
    assert!(!said.contains("visible"), "no host path is visible");
    assert_eq!(line("root"), "bin dev etc lib lib64 proc sbin tmp transom usr var");
    for name in line("etc").split(' ') {
        assert!(["alternatives", "chromium", "fonts", "ld.so.cache"].contains(&name), "/etc/{name}");
    }
    assert!(line("processes").parse::<u32>().unwrap() < 10, "the host's processes are invisible");
    assert_eq!(line("interfaces"), "lo");
    assert_eq!(line("descriptors"), "0 1 2 3 4");
    for name in line("environment").split(' ') {
        assert!(["HOME", "LANG", "PATH", "TZ", "PWD", "SHLVL", "_", "OLDPWD"].contains(&name), "{name}");
    }
    // `reached the proxy` is the control: the shell can connect to something.
    assert_eq!(said.lines().filter(|line| line.starts_with("reached")).collect::<Vec<_>>(), ["reached the proxy"]);
    within(accepted).await.unwrap().unwrap();
    assert_eq!(hits.count(), 0);
    assert!(says("downloads writable") && says("uploads readable") && says("scratch writable"));
    assert!(!says("uploads writable") && !says("usr writable") && !says("root writable"));
    assert_eq!(std::fs::read_to_string(exchange.downloads().join("kept")).unwrap(), "x\n");
    drop(std::net::TcpStream::connect(server).unwrap());
    hits.wait_for(1).await;
}

#[tokio::test]
async fn chromium_answers_and_every_request_of_a_page_arrives_at_the_proxy() {
    for isolation in [Isolation::Jail, Isolation::Proxy] {
        let exchange = TestExchange::new();
        let (server, hits) = host_server();
        let launched = launch(spec(isolation, &exchange)).await.unwrap();
        let mut cdp = Cdp::new(launched.cdp_in, launched.cdp_out);
        let version = cdp.call("Browser.getVersion", json!({})).await;
        assert!(version["product"].as_str().unwrap().contains("Chrome"), "{version}");

        let port = server.port();
        for url in [
            "http://page.test/".to_owned(),
            format!("http://127.0.0.1:{port}/"),
            format!("http://localhost:{port}/"),
            format!("http://[::1]:{port}/"),
            "http://169.254.169.254/latest/meta-data/".to_owned(),
        ] {
            cdp.call("Target.createTarget", json!({ "url": url })).await;
            // Chromium's own requests may come between.
            let connection = loop {
                let (request_line, connection) = within(next_request(&launched.listener)).await;
                if request_line.starts_with(&format!("GET {url} ")) {
                    break connection;
                }
            };
            answer_with_page(connection).await;
        }
        assert_eq!(hits.count(), 0, "at {isolation}, a request reached the host's loopback directly");
        drop(std::net::TcpStream::connect(server).unwrap());
        hits.wait_for(1).await;
    }
}

#[tokio::test]
async fn chromium_runs_unprivileged_with_its_own_sandbox_on() {
    for isolation in [Isolation::Jail, Isolation::Proxy] {
        let exchange = TestExchange::new();
        let launched = launch(spec(isolation, &exchange)).await.unwrap();
        let mut cdp = Cdp::new(launched.cdp_in, launched.cdp_out);
        let text = cdp.text_of_page("chrome://sandbox", "adequately").await;
        assert!(text.contains("You are adequately sandboxed."), "{isolation}: {text}");

        let renderers: Vec<_> = tree::descendants(launched.process.pid())
            .into_iter()
            .filter(|pid| tree::command_line(*pid).contains("--type=renderer"))
            .collect();
        assert!(!renderers.is_empty(), "{isolation}: no renderer found");
        let me = rustix::process::geteuid().as_raw();
        for pid in renderers {
            let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
            let field = |name: &str| {
                let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
                line.split_whitespace().next().unwrap().to_owned()
            };
            assert_eq!(field("Seccomp:"), "2", "{isolation}");
            assert_eq!(field("NoNewPrivs:"), "1", "{isolation}");
            assert_eq!(field("Uid:"), (if me == 0 { 65534 } else { me }).to_string(), "{isolation}");
            if me == 0 {
                let user_namespace = |pid: &str| std::fs::read_link(format!("/proc/{pid}/ns/user")).unwrap();
                assert_ne!(user_namespace(&pid.to_string()), user_namespace("self"), "{isolation}");
            }
        }
    }
}

#[tokio::test]
async fn nothing_survives_a_dropped_launch() {
    for isolation in [Isolation::Jail, Isolation::Proxy] {
        let exchange = TestExchange::new();
        let launched = launch(spec(isolation, &exchange)).await.unwrap();
        let mut cdp = Cdp::new(launched.cdp_in, launched.cdp_out);
        cdp.call("Target.createTarget", json!({ "url": "about:blank" })).await;
        let family = tree::watch(launched.process.pid());
        assert!(family.len() >= 4, "{isolation}: Chromium has children, found {}", family.len());
        // The pipe stays open: it is the drop that kills, not Chromium's own good will.
        drop(launched.process);
        tree::all_gone(family).await;
        drop(cdp);
    }
}

#[tokio::test]
async fn nothing_survives_a_killed_host() {
    for isolation in [Isolation::Jail, Isolation::Proxy] {
        let mut host = support::HostProcess::start(isolation).await;
        let family = tree::watch(host.chromium);
        assert!(family.len() >= 4, "{isolation}: Chromium has children, found {}", family.len());
        // Frozen, it can't leave by its own good will when its pipe ends; a jail takes even frozen processes with it.
        tree::freeze(host.chromium, isolation == Isolation::Jail);
        host.kill();
        tree::all_gone(family).await;
    }
}

/// A host in a process of its own, which the test above kills.
#[tokio::test]
#[ignore = "started by nothing_survives_a_killed_host"]
async fn a_host_that_waits_to_be_killed() {
    let Ok(isolation) = std::env::var("EGRESS_TEST_ISOLATION") else { return };
    let isolation = serde_json::from_value(json!(isolation)).unwrap();
    let exchange = TestExchange::new();
    let launched = launch(spec(isolation, &exchange)).await.unwrap();
    let mut cdp = Cdp::new(launched.cdp_in, launched.cdp_out);
    cdp.call("Target.createTarget", json!({ "url": "about:blank" })).await;
    println!("\nchromium {}", launched.process.pid());
    // Long enough for any test, short enough to leave nothing behind if the test itself dies.
    tokio::time::sleep(Duration::from_secs(50)).await;
}

#[tokio::test]
async fn a_launch_that_can_not_succeed_is_one_clear_line_and_leaves_nothing() {
    let exchange = TestExchange::new();
    let failure = async |change: &dyn Fn(&mut transom_egress::LaunchSpec)| {
        let mut spec = spec(Isolation::Jail, &exchange);
        change(&mut spec);
        let error = within(launch(spec)).await.unwrap_err().to_string();
        assert!(!error.contains('\n'), "{error}");
        error
    };
    let missing = failure(&|spec| spec.program = "/usr/lib/chromium/missing".into()).await;
    assert!(missing.contains("apt-get install chromium"), "{missing}");
    let script = failure(&|spec| spec.program = "/usr/bin/chromium".into()).await;
    assert!(script.contains("is not a binary"), "{script}");
    let place = failure(&|spec| spec.program = std::env::current_exe().unwrap()).await;
    assert!(place.contains("icudtl.dat"), "{place}");
    let launcher = failure(&|spec| spec.launcher = "/missing/launcher".into()).await;
    assert!(launcher.contains("/missing/launcher"), "{launcher}");
    let folder = failure(&|spec| spec.exchange.downloads = "/missing/parent/downloads".into()).await;
    assert!(folder.contains("/missing/parent/downloads"), "{folder}");
    let not_a_launcher = failure(&|spec| spec.launcher = "/usr/bin/true".into()).await;
    assert!(not_a_launcher.contains("ended before Chromium was started"), "{not_a_launcher}");
    let late = failure(&|spec| spec.ready_within = Duration::ZERO).await;
    assert!(late.contains("not started within"), "{late}");
}

#[tokio::test]
async fn files_are_shared_at_either_level() {
    for isolation in [Isolation::Jail, Isolation::Proxy] {
        let exchange = TestExchange::new();
        let mut spec = spec(isolation, &exchange);
        spec.program = "/usr/bin/bash".into();
        let script = r#"echo kept > "$1/kept"; read -r go <&3; cat "$2/folder/given" >&4"#;
        spec.args = ["-c", script, "browser", "{downloads}", "{uploads}"].map(Into::into).into();
        let launched = launch(spec).await.unwrap();
        let folder = launched.paths.uploads.host.join("folder");
        std::fs::create_dir(&folder).unwrap();
        let given = folder.join("given");
        std::fs::write(&given, "for the browser").unwrap();
        // As strict as a umask can be.
        std::fs::set_permissions(&given, std::fs::Permissions::from_mode(0o600)).unwrap();
        std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o700)).unwrap();
        for path in [&folder, &given] {
            launched.paths.hand_over(path).unwrap();
        }
        let mut commands = tokio::net::unix::pipe::Sender::from_owned_fd(launched.cdp_in).unwrap();
        tokio::io::AsyncWriteExt::write_all(&mut commands, b"go\n").await.unwrap();
        assert_eq!(within(cdp::read_to_end(launched.cdp_out)).await, "for the browser", "{isolation}");
        let kept = launched.paths.downloads.host.join("kept");
        assert_eq!(std::fs::read_to_string(kept).unwrap(), "kept\n", "{isolation}");
        within(launched.process.wait()).await.unwrap();
    }
}

#[tokio::test]
async fn a_chromium_that_ends_by_itself_is_noticed() {
    let exchange = TestExchange::new();
    let mut spec = spec(Isolation::Jail, &exchange);
    spec.program = "/usr/bin/bash".into();
    spec.args = ["-c", "exit 7"].map(Into::into).into();
    let launched = launch(spec).await.unwrap();
    let status = within(launched.process.wait()).await.unwrap();
    assert_eq!(status.code(), Some(7));
    launched.process.kill();
    assert_eq!(within(launched.process.end()).await.unwrap().code(), Some(7), "to end twice is harmless");
}

#[tokio::test]
async fn the_probe_finds_what_the_other_tests_use() {
    let report = within(transom_egress::probe()).await;
    assert!(report.is_ready(), "{report:?}");
    assert!(report.bubblewrap.unwrap().1.starts_with("0."));
}
