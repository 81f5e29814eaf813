//! A process tree as the host sees it, and whether it is gone.

use std::collections::HashMap;
use std::os::fd::OwnedFd;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open};

/// `root` and everything below it.
pub(crate) fn descendants(root: u32) -> Vec<u32> {
    let mut children: HashMap<u32, Vec<u32>> = HashMap::new();
    for entry in std::fs::read_dir("/proc").unwrap() {
        let Some(pid) = entry.unwrap().file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
        let Ok(stat) = std::fs::read_to_string(format!("/proc/{pid}/stat")) else { continue };
        // After the name, which may hold anything: state, then the parent.
        let parent = stat.rsplit(')').next().unwrap().split_whitespace().nth(1).unwrap().parse().unwrap();
        children.entry(parent).or_default().push(pid);
    }
    let mut found = vec![root];
    let mut next = 0;
    while let Some(pid) = found.get(next) {
        found.extend(children.get(pid).into_iter().flatten());
        next += 1;
    }
    found
}

pub(crate) fn command_line(pid: u32) -> String {
    let bytes = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    String::from_utf8_lossy(&bytes).replace('\0', " ")
}

/// Holds on to every process of a tree, so that another one with the same number can't be mistaken for it.
pub(crate) fn watch(root: u32) -> Vec<(String, OwnedFd)> {
    let open = |pid: &u32| pidfd_open(Pid::from_raw(i32::try_from(*pid).unwrap()).unwrap(), PidfdFlags::NONBLOCK).ok();
    descendants(root).iter().filter_map(|pid| Some((format!("{pid} {}", command_line(*pid)), open(pid)?))).collect()
}

/// Stops `root`, or all of its tree.
pub(crate) fn freeze(root: u32, whole: bool) {
    for pid in descendants(root).into_iter().take(if whole { usize::MAX } else { 1 }) {
        let pid = Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
        rustix::process::kill_process(pid, rustix::process::Signal::STOP).unwrap();
    }
}

/// Resolves when every one of them has ended; fails if one has not within 5 s.
pub(crate) async fn all_gone(family: Vec<(String, OwnedFd)>) {
    let wait = move || {
        for (name, process) in &family {
            let mut ended = [PollFd::new(process, PollFlags::IN)];
            let n_ready = poll(&mut ended, Some(&Timespec { tv_sec: 5, tv_nsec: 0 })).unwrap();
            assert_eq!(n_ready, 1, "still there after 5 s: {name}");
        }
    };
    tokio::task::spawn_blocking(wait).await.unwrap();
}
