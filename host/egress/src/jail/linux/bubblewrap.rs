//! The arguments of `bwrap` that are the jail.
//!
//! What Chromium sees is listed here and nowhere else: everything that is not listed does not exist for it. Above all the
//! host's sockets by path (name service, D-Bus, containers), its other processes, and its homes.
//!
//! | seen | how |
//! |---|---|
//! | `/usr`, its links `/bin` `/lib` `/lib64` `/sbin`, a few files of `/etc`, the font cache | read-only |
//! | `/proc`, `/dev` | new; `/proc` of its own process namespace, `/dev` with the harmless devices only |
//! | `/tmp` (profile and HOME are in it), `/dev/shm` | new and empty, in memory |
//! | `/transom/downloads`, `/transom/uploads` | the exchange folders, the second read-only |
//! | a loopback interface | new, with nobody on it but the launcher's listener |
//!
//! Memory and processor time are not limited here: the tmpfs folders have the kernel's default cap of half the memory.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::super::{DOWNLOADS_IN_JAIL, ExchangePaths, JailError, UPLOADS_IN_JAIL};

/// Where `bwrap` is looked for. A fixed list: what builds the jail must not depend on the caller's PATH.
const PLACES: [&str; 3] = ["/usr/bin/bwrap", "/usr/local/bin/bwrap", "/bin/bwrap"];

/// The folders of a system whose `/usr` is merged are links into it; on others they are folders.
const USR_LINKS: [&str; 6] = ["bin", "sbin", "lib", "lib32", "lib64", "libx32"];

/// What Chromium needs besides `/usr`: fonts, its own configuration, and what the dynamic linker reads. Nothing that
/// names users, hosts or services.
const FILES: [&str; 5] = ["etc/fonts", "etc/chromium", "etc/ld.so.cache", "etc/alternatives", "var/cache/fontconfig"];

pub(super) fn find() -> Result<PathBuf, JailError> {
    PLACES.iter().map(PathBuf::from).find(|path| path.is_file()).ok_or(JailError::BubblewrapMissing)
}

/// The namespaces, and how the jail ends.
///
/// As an ordinary user everything is unshared, the user namespace first, in which that is allowed. As root no user
/// namespace is wanted: it would map one user only, and the launcher has to become another.
pub(super) fn namespaces(is_root: bool) -> Vec<OsString> {
    let mut args: Vec<&str> = match is_root {
        false => vec!["--unshare-all"],
        true => vec![
            "--unshare-net",
            "--unshare-pid",
            "--unshare-ipc",
            "--unshare-uts",
            "--unshare-cgroup-try",
            "--cap-drop",
            "ALL",
            "--cap-add",
            "CAP_SETUID",
            "--cap-add",
            "CAP_SETGID",
        ],
    };
    args.extend(["--die-with-parent", "--new-session", "--hostname", "transom", "--chdir", "/"]);
    args.into_iter().map(OsString::from).collect()
}

/// The system's files, as far as Chromium needs them. `root` is `/` but for tests.
pub(super) fn files(root: &Path) -> Vec<OsString> {
    let mut args: Vec<OsString> = ["--ro-bind", "/usr", "/usr"].map(OsString::from).into();
    for name in USR_LINKS {
        let path = root.join(name);
        let seen: OsString = format!("/{name}").into();
        match std::fs::read_link(&path) {
            Ok(target) => args.extend(["--symlink".into(), target.into(), seen]),
            Err(_) if path.is_dir() => args.extend(["--ro-bind".into(), path.into(), seen]),
            Err(_) => {}
        }
    }
    // Given a mode of their own: with bubblewrap's, only the user who made them could pass.
    for folder in ["/etc", "/var", "/var/cache", "/transom"] {
        args.extend(["--perms", "0755", "--dir", folder].map(OsString::from));
    }
    for name in FILES {
        let path: OsString = format!("/{name}").into();
        args.extend(["--ro-bind-try".into(), path.clone(), path]);
    }
    args.extend(["--proc", "/proc", "--dev", "/dev"].map(OsString::from));
    for folder in ["/tmp", "/dev/shm"] {
        args.extend(["--perms", "1777", "--tmpfs", folder].map(OsString::from));
    }
    args
}

/// Shows the folder of a Chromium that is not below `/usr`, if that folder is really its own.
pub(super) fn chromium_folder(program: &Path) -> Result<Vec<OsString>, JailError> {
    if program.starts_with("/usr") {
        return Ok(Vec::new());
    }
    let folder = program.parent().filter(|folder| folder.join("icudtl.dat").is_file());
    let folder = folder.ok_or_else(|| JailError::ChromiumPlace { program: program.to_owned() })?;
    let mut args = Vec::new();
    let mut above: Vec<&Path> = folder.ancestors().skip(1).filter(|path| path.parent().is_some()).collect();
    above.reverse();
    for folder in above.into_iter().filter(|folder| *folder != Path::new("/tmp")) {
        args.extend(["--perms".into(), "0755".into(), "--dir".into(), folder.into()]);
    }
    args.extend(["--ro-bind".into(), folder.into(), folder.into()]);
    Ok(args)
}

pub(super) fn exchange(paths: &ExchangePaths) -> Vec<OsString> {
    vec![
        "--bind".into(),
        paths.downloads.host.clone().into(),
        DOWNLOADS_IN_JAIL.into(),
        "--ro-bind".into(),
        paths.uploads.host.clone().into(),
        UPLOADS_IN_JAIL.into(),
    ]
}

/// The last step: the jail's own root becomes read-only too.
pub(super) fn seal() -> [OsString; 2] {
    ["--remount-ro".into(), "/".into()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_jail_shares_the_network_or_the_processes_of_the_host() {
        let has = |args: &[OsString], wanted: &str| args.iter().any(|arg| arg == wanted);
        let as_user = namespaces(false);
        assert!(has(&as_user, "--unshare-all"));
        let as_root = namespaces(true);
        for wanted in ["--unshare-net", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--cap-drop"] {
            assert!(has(&as_root, wanted), "{wanted}");
        }
        for args in [as_user, as_root] {
            assert!(has(&args, "--die-with-parent") && has(&args, "--new-session"));
            assert!(!has(&args, "--share-net"));
        }
    }

    #[test]
    fn a_chromium_outside_usr_is_shown_only_with_a_folder_of_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("chrome");
        assert!(matches!(chromium_folder(&program), Err(JailError::ChromiumPlace { .. })));
        std::fs::write(folder.path().join("icudtl.dat"), "").unwrap();
        assert!(chromium_folder(&program).unwrap().contains(&folder.path().into()));
        assert!(chromium_folder(Path::new("/usr/lib/chromium/chromium")).unwrap().is_empty());
    }

    #[test]
    fn folders_of_a_split_system_are_bound_and_links_of_a_merged_one_are_links() {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir(root.path().join("lib")).unwrap();
        std::os::unix::fs::symlink("usr/bin", root.path().join("bin")).unwrap();
        let args = files(root.path());
        let follows = |first: &str, second: &Path| args.windows(2).any(|pair| pair[0] == first && pair[1] == second);
        assert!(follows("--symlink", Path::new("usr/bin")));
        assert!(follows("--ro-bind", &root.path().join("lib")));
        assert!(!args.iter().any(|arg| arg == "/lib64"));
    }
}
