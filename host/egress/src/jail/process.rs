//! One Chromium's process tree: started, watched and ended by one thread.
//!
//! The thread spawns the child and then waits for it. That is not only the simplest way to reap it: the parent-death
//! signal that kills a jail belongs to the spawning *thread*, so this thread must live exactly as long as the child, which
//! no pool thread promises. When the host dies, by whatever signal, the thread dies and the kernel kills the tree.
//!
//! A process id is signalled only while its process is unreaped, under [`Tree`]'s lock: it can't have become another's.
//!
//! Not here: which command it is (the platform), what the launcher does (`launcher`).

use std::io::{self, Read};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions};
use tokio::sync::{oneshot, watch};

use super::stderr_tail::StderrTail;
use super::{JailError, handshake};

/// How long a failed start waits for the last words on its error output. The writers are dead by then.
const LAST_WORDS_WITHIN: Duration = Duration::from_secs(1);

/// Longest failure text that is taken from the launcher, in bytes: one line with two paths.
const FAILURE_BYTES_MAX: usize = 1024;

/// The stack of the watching thread, in bytes. It makes a few system calls; the default of 2 MiB for each browser would
/// only be address space, but nothing needs it.
const WATCHER_STACK: usize = 256 * 1024;

/// A running Chromium with all of its children. Dropping it kills them all.
#[derive(Debug)]
pub struct ChromiumProcess {
    tree: Arc<Tree>,
    life: watch::Receiver<Life>,
    stderr: StderrTail,
}

#[derive(Debug, Clone, Copy)]
enum Life {
    Running,
    Ended(Option<ExitStatus>),
}

/// The child and its process group, as long as the child is not reaped.
#[derive(Debug)]
struct Tree {
    leader: Pid,
    is_reaped: Mutex<bool>,
}

impl Tree {
    fn kill(&self) {
        let is_reaped = self.is_reaped.lock().unwrap_or_else(PoisonError::into_inner);
        if !*is_reaped {
            // The group holds what has not left it; in a jail the leader's death alone ends everything.
            rustix::process::kill_process_group(self.leader, Signal::KILL).ok();
            rustix::process::kill_process(self.leader, Signal::KILL).ok();
        }
    }

    /// Waits until the leader is dead, kills what is left of its group, and reaps it.
    fn bury(&self, child: &mut Child) -> Option<ExitStatus> {
        let until_dead = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        while let Err(rustix::io::Errno::INTR) = rustix::process::waitid(WaitId::Pid(self.leader), until_dead) {}
        let mut is_reaped = self.is_reaped.lock().unwrap_or_else(PoisonError::into_inner);
        // Dead but unreaped, the leader still owns the group's number.
        rustix::process::kill_process_group(self.leader, Signal::KILL).ok();
        let status = child.wait().ok();
        *is_reaped = true;
        status
    }
}

impl ChromiumProcess {
    /// The process id of the tree's root on the host: bubblewrap's in a jail, Chromium's otherwise.
    pub fn pid(&self) -> u32 {
        self.tree.leader.as_raw_nonzero().get().unsigned_abs()
    }

    /// Kills the whole tree and returns at once. The dead are reaped by the thread that started them.
    pub fn kill(&self) {
        self.tree.kill();
    }

    /// Resolves when the root of the tree has ended; in a jail, everything in it has ended then too. `None` where the
    /// system did not say how.
    ///
    /// # Cancel safety
    /// May be dropped and called again.
    pub async fn wait(&self) -> Option<ExitStatus> {
        let mut life = self.life.clone();
        match life.wait_for(|life| matches!(life, Life::Ended(_))).await.as_deref() {
            Ok(Life::Ended(status)) => *status,
            Ok(Life::Running) | Err(_) => None,
        }
    }

    /// Kills the whole tree and waits until it is gone.
    pub async fn end(&self) -> Option<ExitStatus> {
        self.kill();
        self.wait().await
    }

    /// Why Chromium ended by itself, if what it wrote says so; what it wrote goes to the operator's log.
    pub fn explain_end(&self) -> Option<JailError> {
        let output = self.stderr.lines();
        for line in &output {
            tracing::warn!(target: "transom::chromium", "{line}");
        }
        super::Platform::explain(&super::platform::Platform, &output)
    }
}

impl Drop for ChromiumProcess {
    fn drop(&mut self) {
        self.kill();
    }
}

/// What a successful start hands over.
pub(super) struct Started {
    pub(super) process: ChromiumProcess,
    pub(super) cdp_out: OwnedFd,
    pub(super) cdp_in: OwnedFd,
    pub(super) listener: Option<std::net::TcpListener>,
}

/// Why a start failed, and what the process wrote.
pub(super) struct StartError {
    pub(super) error: JailError,
    pub(super) output: Vec<String>,
}

/// Starts `command` with the launcher's binary as its standard input, the control socket as its standard output and a
/// bounded tail of its error output, and sees it through to Chromium's execution. `kept` lives until the process has ended.
///
/// Dropping the future kills what was started.
pub(super) async fn start<K: Send + 'static>(
    mut command: Command,
    launcher: &Path,
    kept: K,
    within: Duration,
) -> Result<Started, StartError> {
    let silent = |error| StartError { error, output: Vec::new() };
    let deadline = Instant::now() + within;
    let launcher = std::fs::File::open(launcher)
        .map_err(|source| silent(JailError::LauncherMissing { path: launcher.to_owned(), source }))?;
    let system = |doing| move |source| silent(JailError::system(doing, source));
    let (control, launcher_control) = UnixStream::pair().map_err(system("making the control socket"))?;
    let (commands, cdp_in) = io::pipe().map_err(system("making a CDP pipe"))?;
    let (cdp_out, replies) = io::pipe().map_err(system("making a CDP pipe"))?;
    let (stderr, stderr_writer) = io::pipe().map_err(system("making a pipe for error output"))?;
    let stderr = StderrTail::read(stderr.into()).map_err(system("reading error output"))?;
    command.stdin(launcher).stdout(OwnedFd::from(launcher_control)).stderr(stderr_writer).process_group(0);

    let (answer, answered) = oneshot::channel();
    let (life_sender, life) = watch::channel(Life::Running);
    std::thread::Builder::new()
        .name("chromium".to_owned())
        .stack_size(WATCHER_STACK)
        .spawn(move || {
            let spawned = command.spawn();
            // The command holds our copies of the child's ends; with them open there would be no end of file.
            drop(command);
            let mut child = match spawned {
                Ok(child) => child,
                Err(source) => return drop(answer.send(Err(JailError::system("starting the jail", source)))),
            };
            let Some(leader) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) else {
                child.kill().ok();
                return;
            };
            let tree = Arc::new(Tree { leader, is_reaped: Mutex::new(false) });
            let shaken = shake_hands(&control, commands.into(), replies.into(), deadline, within);
            drop(control);
            match shaken {
                Ok(listener) => {
                    // Whoever launched may be gone: then nobody holds the tree, and it ends.
                    if answer.send(Ok((Arc::clone(&tree), listener))).is_err() {
                        tree.kill();
                    }
                    life_sender.send_replace(Life::Ended(tree.bury(&mut child)));
                }
                Err(error) => {
                    tree.kill();
                    let status = tree.bury(&mut child);
                    let error = match (error, status) {
                        (JailError::Ended { .. }, Some(status)) => {
                            JailError::Ended { status: status.to_string(), last_line: String::new() }
                        }
                        (error, _) => error,
                    };
                    answer.send(Err(error)).ok();
                }
            }
            drop(kept);
        })
        .map_err(system("starting a thread"))?;

    match answered.await {
        Ok(Ok((tree, listener))) => Ok(Started {
            process: ChromiumProcess { tree, life, stderr },
            cdp_out: cdp_out.into(),
            cdp_in: cdp_in.into(),
            listener,
        }),
        Ok(Err(error)) => {
            let output = stderr.finish(LAST_WORDS_WITHIN).await;
            let error = match error {
                JailError::Ended { status, .. } => {
                    let last_line = output.last().cloned().unwrap_or_else(|| "it wrote nothing".to_owned());
                    JailError::Ended { status, last_line }
                }
                error => error,
            };
            Err(StartError { error, output })
        }
        Err(_) => Err(silent(JailError::system("starting the jail", io::Error::other("its thread ended")))),
    }
}

/// The host's half of [`handshake`].
fn shake_hands(
    control: &UnixStream,
    commands: OwnedFd,
    replies: OwnedFd,
    deadline: Instant,
    within: Duration,
) -> Result<Option<std::net::TcpListener>, JailError> {
    let lost = || JailError::Ended { status: "status unknown".to_owned(), last_line: String::new() };
    let failed = |error: io::Error| match error.kind() {
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => JailError::NotReady { within },
        _ => lost(),
    };
    handshake::send(control, handshake::DESCRIPTORS, &[commands.as_fd(), replies.as_fd()]).map_err(|_| lost())?;
    // Only Chromium may hold these ends, or its death would not be the end of the pipe.
    drop((commands, replies));

    wait_until(control, deadline, within)?;
    let (verdict, listener) = match handshake::receive(control).map_err(failed)? {
        None => return Err(lost()),
        Some((handshake::READY, descriptors)) => {
            let mut descriptors = descriptors.into_iter();
            let verdict = descriptors.next().ok_or_else(lost)?;
            (UnixStream::from(verdict), descriptors.next().map(std::net::TcpListener::from))
        }
        Some((first, _)) => return Err(launcher_failure(vec![first], control)),
    };
    wait_until(&verdict, deadline, within)?;
    match handshake::receive(&verdict).map_err(failed)? {
        None => Ok(listener),
        Some((first, _)) => Err(launcher_failure(vec![first], &verdict)),
    }
}

/// Lets the next read from `socket` wait no longer than the deadline.
fn wait_until(socket: &UnixStream, deadline: Instant, within: Duration) -> Result<(), JailError> {
    let left = deadline.saturating_duration_since(Instant::now());
    if left.is_zero() {
        return Err(JailError::NotReady { within });
    }
    socket.set_read_timeout(Some(left)).map_err(|source| JailError::system("setting a timeout", source))
}

fn launcher_failure(mut text: Vec<u8>, rest: &UnixStream) -> JailError {
    // The line is short and was written at once; the launcher may stay, so the end of file is not waited for.
    let mut line = [0; FAILURE_BYTES_MAX];
    let mut rest = rest;
    let n_read = rest.read(&mut line).unwrap_or(0);
    text.extend_from_slice(line.get(..n_read).unwrap_or_default());
    JailError::Launcher(String::from_utf8_lossy(&text).trim().to_owned())
}
