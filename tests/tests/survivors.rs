//! No Chromium outlives the host: not when it stops, not when it is killed.

use std::{collections::BTreeSet, io::Write as _, path::Path, process::Stdio, time::Duration};

use anyhow::{Context, ensure};
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal},
};
use serde_json::Value;
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    process::{Child, Command},
};
use transom_tests::{
    program,
    site::{Page, Site},
    world::Spec,
};

/// How long the tree may take to end. Chromium exits within a quarter of a second of its pipe's end; the rest is a busy machine.
const ENDS_WITHIN: Duration = Duration::from_secs(20);

/// How long the program may take to have a page open.
const READY_WITHIN: Duration = Duration::from_secs(60);

/// All processes below `root`, by the parents that the kernel tells.
fn descendants(root: u32) -> anyhow::Result<BTreeSet<u32>> {
    let mut parents = Vec::new();
    for entry in std::fs::read_dir("/proc")? {
        let name = entry?.file_name();
        let Some(pid) = name.to_str().and_then(|name| name.parse::<u32>().ok()) else { continue };
        // A process that ended in the meantime has no more parent.
        let Ok(stat) = std::fs::read_to_string(Path::new("/proc").join(name).join("stat")) else { continue };
        // The name in parentheses may hold anything; what follows the last one is fields.
        let fields = stat.rsplit(')').next().unwrap_or_default();
        let Some(parent) = fields.split_whitespace().nth(1).and_then(|field| field.parse::<u32>().ok()) else {
            continue;
        };
        parents.push((pid, parent));
    }
    let mut found = BTreeSet::from([root]);
    loop {
        let more: Vec<u32> = parents
            .iter()
            .filter(|(pid, parent)| found.contains(parent) && !found.contains(pid))
            .map(|(pid, _)| *pid)
            .collect();
        if more.is_empty() {
            break;
        }
        found.extend(more);
    }
    found.remove(&root);
    Ok(found)
}

/// A program that has a page open, the processes below it, and handles that see each of them end.
struct Tree {
    host: Child,
    handles: Vec<(u32, String, std::os::fd::OwnedFd)>,
    _folder: tempfile::TempDir,
    _shop: Site,
}

async fn open_a_page(more: &str) -> anyhow::Result<Tree> {
    let shop = Site::start([("/", Page::html("<title>Shop</title>"))]).await?;
    let folder = tempfile::tempdir()?;
    let config = folder.path().join("transom.toml");
    let mut file = std::fs::File::create(&config)?;
    writeln!(file, "[host]\nstate = {:?}\n{}", folder.path().join("state"), Spec::shop(&shop).with(more).config())?;
    let mut host = Command::new(program::path()?)
        .args(["run", "-", "--binding", "shop", "--config"])
        .arg(&config)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()?;
    let mut stdin = host.stdin.take().context("no stdin")?;
    stdin.write_all(b"{\"tool\": \"navigate\", \"args\": {\"url\": \"http://shop.localhost/\"}}\n").await?;
    // Open for as long as the program lives: its end would end the script.
    host.stdin = Some(stdin);
    let stdout = host.stdout.take().context("no stdout")?;
    let line = tokio::time::timeout(READY_WITHIN, BufReader::new(stdout).lines().next_line())
        .await??
        .context("the program ended")?;
    let answer: Value = serde_json::from_str(&line).with_context(|| line.clone())?;
    ensure!(answer["result"]["title"] == "Shop", "{answer}");
    let mut handles = Vec::new();
    for pid in descendants(host.id().context("no pid")?)? {
        let Ok(name) = std::fs::read_to_string(format!("/proc/{pid}/comm")) else { continue };
        let raw = i32::try_from(pid).ok().and_then(Pid::from_raw).context("a pid")?;
        if let Ok(handle) = pidfd_open(raw, PidfdFlags::empty()) {
            handles.push((pid, name.trim().to_owned(), handle));
        }
    }
    let n_chromium = handles.iter().filter(|(_, name, _)| name.starts_with("chrom")).count();
    ensure!(
        n_chromium >= 3,
        "a browser, a zygote and a renderer are there: {:?}",
        handles.iter().map(|(_, name, _)| name).collect::<Vec<_>>()
    );
    Ok(Tree { host, handles, _folder: folder, _shop: shop })
}

fn all_end(tree: &Tree) -> anyhow::Result<()> {
    let until = std::time::Instant::now() + ENDS_WITHIN;
    for (pid, name, handle) in &tree.handles {
        let left = until.saturating_duration_since(std::time::Instant::now());
        let timeout = Timespec { tv_sec: i64::try_from(left.as_secs())?, tv_nsec: i64::from(left.subsec_nanos()) };
        let n_ready = poll(&mut [PollFd::new(handle, PollFlags::IN)], Some(&timeout))?;
        if n_ready == 0 {
            // Not left behind by the test either.
            let _ = pidfd_send_signal(handle, Signal::KILL);
            anyhow::bail!("{name} ({pid}) outlived the host");
        }
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_process_outlives_a_host_that_is_killed() -> anyhow::Result<()> {
    for isolation in ["isolation = \"jail\"", "isolation = \"proxy\""] {
        let mut tree = open_a_page(isolation).await?;
        // SIGKILL: the host has no chance to do anything.
        tree.host.start_kill()?;
        tree.host.wait().await?;
        tokio::task::spawn_blocking(move || all_end(&tree)).await?.context(isolation)?;
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_process_outlives_a_host_that_stops() -> anyhow::Result<()> {
    let mut tree = open_a_page("").await?;
    drop(tree.host.stdin.take());
    let status = tokio::time::timeout(ENDS_WITHIN, tree.host.wait())
        .await
        .context("the program did not end with its input")??;
    ensure!(status.success(), "{status}");
    tokio::task::spawn_blocking(move || all_end(&tree)).await?
}
