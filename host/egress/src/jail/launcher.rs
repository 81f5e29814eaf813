//! The hidden subcommand `jail-launcher`: what our own binary does between the isolation's start and Chromium's.
//!
//! ```text
//! jail-launcher [--listen ADDRESS] [--drop-to ID] --home DIR --profile DIR -- PROGRAM ARGS…
//! ```
//!
//! It has one thread and allocates little: it takes the CDP pipe from the control socket, makes the proxy's listener,
//! becomes an unprivileged user, and turns into Chromium. Its standard input is its own binary (executed by descriptor, so
//! that the binary need not be visible in the jail nor still be on the disk), its standard output the control socket; both
//! are replaced before Chromium starts.
//!
//! Not here: namespaces and mounts, which exist before it runs (bubblewrap).

use std::ffi::{OsStr, OsString};
use std::io::{self, Write};
use std::net::{SocketAddr, TcpListener};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use super::descriptors::{self, FIRST_FREE};
use super::handshake;

/// The exit status of a launcher that failed, as a shell's for a command that can't be run.
const FAILED: u8 = 127;

/// What Chromium's environment holds besides HOME. It sees nothing of the host's environment.
const ENVIRONMENT: [(&str, &str); 3] = [("PATH", "/usr/bin:/bin"), ("LANG", "C.UTF-8"), ("TZ", "UTC")];

/// What the launcher is told to do.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Order {
    /// Make the proxy's listener here and hand it to the host.
    pub(super) listen: Option<SocketAddr>,
    /// Become this user and group.
    pub(super) drop_to: Option<u32>,
    /// Made if missing, for the browser's user alone.
    pub(super) home: PathBuf,
    /// Likewise.
    pub(super) profile: PathBuf,
    /// Chromium.
    pub(super) program: PathBuf,
    /// Its arguments.
    pub(super) args: Vec<OsString>,
}

impl Order {
    /// As arguments, `jail-launcher` first.
    pub(super) fn to_args(&self) -> Vec<OsString> {
        let mut args: Vec<OsString> = vec!["jail-launcher".into()];
        if let Some(address) = self.listen {
            args.extend(["--listen".into(), address.to_string().into()]);
        }
        if let Some(id) = self.drop_to {
            args.extend(["--drop-to".into(), id.to_string().into()]);
        }
        args.extend(["--home".into(), self.home.clone().into()]);
        args.extend(["--profile".into(), self.profile.clone().into()]);
        args.extend(["--".into(), self.program.clone().into()]);
        args.extend(self.args.iter().cloned());
        args
    }

    /// The reverse, without `jail-launcher`.
    fn parse(args: impl Iterator<Item = OsString>) -> Result<Order, String> {
        let (mut listen, mut drop_to, mut home, mut profile) = (None, None, None, None);
        let mut args = args;
        loop {
            let name = args.next().ok_or("`--` and a program are missing")?;
            if name == "--" {
                break;
            }
            let value = args.next().ok_or_else(|| format!("{} needs a value", name.display()))?;
            match name.to_str() {
                Some("--listen") => listen = Some(number(&value)?),
                Some("--drop-to") => drop_to = Some(number(&value)?),
                Some("--home") => home = Some(PathBuf::from(value)),
                Some("--profile") => profile = Some(PathBuf::from(value)),
                _ => return Err(format!("unknown option {}", name.display())),
            }
        }
        Ok(Order {
            listen,
            drop_to,
            home: home.ok_or("--home is missing")?,
            profile: profile.ok_or("--profile is missing")?,
            program: args.next().ok_or("a program is missing")?.into(),
            args: args.collect(),
        })
    }
}

fn number<T: std::str::FromStr>(value: &OsStr) -> Result<T, String> {
    value.to_str().and_then(|value| value.parse().ok()).ok_or_else(|| format!("bad value {}", value.display()))
}

/// Runs the launcher with the arguments after `jail-launcher`; becomes Chromium, or returns the exit code of its failure.
///
/// To be called first thing in `main`, before any thread exists.
pub fn launcher_main(args: impl Iterator<Item = OsString>) -> ExitCode {
    let control = match take_control() {
        Ok(control) => control,
        Err(error) => {
            writeln!(io::stderr(), "jail-launcher: this subcommand is the host's own, not for people: {error}").ok();
            return ExitCode::from(FAILED);
        }
    };
    match Order::parse(args).and_then(|order| Ok((get_ready(&order, &control)?, order))) {
        Ok((verdict, order)) => {
            let mut chromium = Command::new(&order.program);
            chromium.args(&order.args).env_clear().envs(ENVIRONMENT).env("HOME", &order.home);
            let error = chromium.exec();
            writeln!(&verdict, "executing {}: {error}", order.program.display()).ok();
        }
        Err(failure) => drop(writeln!(&control, "{failure}")),
    }
    ExitCode::from(FAILED)
}

/// Moves the control socket away from standard output and gives Chromium harmless standard streams.
fn take_control() -> io::Result<UnixStream> {
    descriptors::close_all_on_exec()?;
    let control = rustix::io::fcntl_dupfd_cloexec(io::stdout(), FIRST_FREE)?;
    rustix::net::sockopt::socket_type(&control)?;
    let null = std::fs::File::open("/dev/null")?;
    rustix::stdio::dup2_stdin(&null)?;
    // Chromium's standard output goes where its error output goes: to the host's bounded tail.
    rustix::stdio::dup2_stdout(io::stderr())?;
    Ok(UnixStream::from(control))
}

/// All that precedes Chromium. Returns our end of the verdict socket, which closes when Chromium is executed.
fn get_ready(order: &Order, control: &UnixStream) -> Result<UnixStream, String> {
    let failed = |what: &'static str| move |error: io::Error| format!("{what}: {error}");

    let received = handshake::receive(control).map_err(failed("receiving the CDP pipe"))?;
    let Some((handshake::DESCRIPTORS, received)) = received else {
        return Err("the host is gone".to_owned());
    };
    let mut high = received.iter().map(|descriptor| rustix::io::fcntl_dupfd_cloexec(descriptor, FIRST_FREE));
    let (Some(Ok(commands)), Some(Ok(replies))) = (high.next(), high.next()) else {
        return Err("the CDP pipe did not arrive".to_owned());
    };
    drop(received);

    let (verdict, hosts_verdict) = UnixStream::pair().map_err(failed("making the verdict socket"))?;
    let verdict =
        UnixStream::from(rustix::io::fcntl_dupfd_cloexec(verdict, FIRST_FREE).map_err(|error| error.to_string())?);
    let mut for_the_host: Vec<OwnedFd> = vec![hosts_verdict.into()];
    if let Some(address) = order.listen {
        // The loopback of a new network namespace is down until somebody raises it: bubblewrap does.
        for_the_host.push(TcpListener::bind(address).map_err(failed("binding the proxy's listener"))?.into());
    }

    if let Some(id) = order.drop_to {
        drop_privileges(id).map_err(failed("becoming an unprivileged user"))?;
    }
    if rustix::process::geteuid().is_root() || rustix::process::getuid().is_root() {
        return Err("Chromium must not run as root".to_owned());
    }
    #[cfg(target_os = "linux")]
    {
        rustix::thread::set_no_new_privs(true).map_err(|error| format!("setting no_new_privs: {error}"))?;
        // Outside a jail this is what ends Chromium with the host; inside, the jail's own end is faster. Set after the
        // change of user, which clears it.
        rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL))
            .map_err(|error| format!("asking for the parent's death signal: {error}"))?;
    }
    make_private(&order.home)?;
    make_private(&order.profile)?;

    // A host that died before the signal was asked for is noticed here: nobody takes the message, and Chromium is not started.
    handshake::send(control, handshake::READY, &for_the_host.iter().map(AsFd::as_fd).collect::<Vec<_>>())
        .map_err(failed("handing over the proxy's listener"))?;
    // The host holds them now. Chromium must not: whoever can accept on the listener could answer as the proxy.
    drop(for_the_host);
    descriptors::place_cdp(&commands, &replies).map_err(failed("placing the CDP pipe"))?;
    Ok(verdict)
}

fn drop_privileges(id: u32) -> io::Result<()> {
    let (user, group) = (rustix::process::Uid::from_raw(id), rustix::process::Gid::from_raw(id));
    // Groups first: they can't be changed any more once the user has.
    rustix::thread::set_thread_groups(&[])?;
    rustix::thread::set_thread_res_gid(group, group, group)?;
    rustix::thread::set_thread_res_uid(user, user, user)?;
    #[cfg(target_os = "linux")]
    {
        use rustix::thread::{CapabilitySet, CapabilitySets};
        let none = CapabilitySet::empty();
        // The change of user emptied two of the three; the inheritable set would stay.
        let sets = CapabilitySets { effective: none, permitted: none, inheritable: none };
        rustix::thread::set_capabilities(None, sets)?;
    }
    Ok(())
}

fn make_private(folder: &Path) -> Result<(), String> {
    match std::fs::DirBuilder::new().mode(0o700).create(folder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
            Err(format!("making {}: {error}", folder.display()))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order() -> Order {
        Order {
            listen: Some("127.0.0.1:3128".parse().unwrap()),
            drop_to: Some(65534),
            home: "/tmp/home".into(),
            profile: "/tmp/profile".into(),
            program: "/usr/lib/chromium/chromium".into(),
            args: vec!["--".into(), "--listen".into(), "about:blank".into()],
        }
    }

    #[test]
    fn an_order_survives_the_command_line_and_chromium_arguments_are_not_read_as_ours() {
        for order in [order(), Order { listen: None, drop_to: None, ..order() }] {
            let mut args = order.to_args().into_iter();
            assert_eq!(args.next().unwrap(), "jail-launcher");
            assert_eq!(Order::parse(args).unwrap(), order);
        }
    }

    #[test]
    fn an_order_that_lacks_a_part_or_has_an_unknown_one_is_an_error() {
        let parse = |args: &[&str]| Order::parse(args.iter().map(|arg| OsString::from(*arg)));
        assert!(parse(&["--home", "/h", "--profile", "/p", "--", "/c"]).is_ok());
        for wrong in [
            &["--home", "/h", "--profile", "/p"][..],
            &["--home", "/h", "--profile", "/p", "--"],
            &["--home", "/h", "--", "/c"],
            &["--home", "/h", "--profile", "/p", "--drop-to", "nobody", "--", "/c"],
            &["--home", "/h", "--profile", "/p", "--listen", "3128", "--", "/c"],
            &["--home", "/h", "--profile", "/p", "--share-net", "yes", "--", "/c"],
        ] {
            assert!(parse(wrong).is_err(), "{wrong:?}");
        }
    }
}
