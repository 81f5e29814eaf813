//! Which setting of the machine stands in the jail's way, and what to do about it.
//!
//! bubblewrap and Chromium say that something is forbidden, rarely by whom. The kernel's settings say by whom.

use std::path::Path;

use super::super::JailError;

/// A setting that can forbid user namespaces.
struct Setting {
    /// Below `/proc/sys`.
    name: &'static str,
    forbids: fn(u64) -> bool,
    remedy: &'static str,
}

const SETTINGS: [Setting; 3] = [
    Setting {
        name: "kernel/unprivileged_userns_clone",
        forbids: |value| value == 0,
        remedy: "run `sysctl kernel.unprivileged_userns_clone=1` (and keep it in /etc/sysctl.d)",
    },
    Setting {
        name: "kernel/apparmor_restrict_unprivileged_userns",
        forbids: |value| value != 0,
        remedy: "run `sysctl kernel.apparmor_restrict_unprivileged_userns=0` (and keep it in /etc/sysctl.d), or give \
                 bwrap and Chromium AppArmor profiles that allow `userns`",
    },
    Setting {
        name: "user/max_user_namespaces",
        forbids: |value| value == 0,
        remedy: "run `sysctl user.max_user_namespaces=15000` (and keep it in /etc/sysctl.d)",
    },
];

/// Where no setting forbids them, something around the host does.
const CONTAINER: &str = "no setting of the kernel forbids them, so a container around this host does: allow it user namespaces \
                         and mounts (in Docker `--security-opt seccomp=unconfined --security-opt apparmor=unconfined --cap-add SYS_ADMIN`)";

/// What bubblewrap calls things that it was not allowed to do.
const FORBIDDEN: [&str; 4] = ["namespace", "Operation not permitted", "Permission denied", "No space left on device"];

/// Reads a failed start's output: the first line that speaks of something forbidden becomes an error with its remedy.
pub(super) fn explain(output: &[String]) -> Option<JailError> {
    let line = output.iter().find(|line| is_about_namespaces(line))?;
    Some(JailError::NamespacesForbidden { detail: line.clone(), remedy: remedy(Path::new("/proc/sys")) })
}

fn is_about_namespaces(line: &str) -> bool {
    // A source that can't be bound or a program that can't be run is a matter of paths, not of namespaces.
    let is_about_paths = ["source path", "execvp"].iter().any(|words| line.contains(words));
    let by_bubblewrap = line.starts_with("bwrap: ") && FORBIDDEN.iter().any(|words| line.contains(words));
    (by_bubblewrap && !is_about_paths) || line.contains("No usable sandbox")
}

/// The remedy for namespaces that are forbidden, by the settings below `sys`.
pub(super) fn remedy(sys: &Path) -> String {
    let value = |name: &str| std::fs::read_to_string(sys.join(name)).ok()?.trim().parse::<u64>().ok();
    SETTINGS
        .iter()
        .find(|setting| value(setting.name).is_some_and(setting.forbids))
        .map_or(CONTAINER, |setting| setting.remedy)
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_setting_that_forbids_is_the_one_that_is_named() {
        let sys = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(sys.path().join("kernel")).unwrap();
        std::fs::create_dir_all(sys.path().join("user")).unwrap();
        assert!(remedy(sys.path()).contains("container"));
        std::fs::write(sys.path().join("user/max_user_namespaces"), "0\n").unwrap();
        assert!(remedy(sys.path()).contains("max_user_namespaces=15000"));
        std::fs::write(sys.path().join("kernel/unprivileged_userns_clone"), "1\n").unwrap();
        assert!(remedy(sys.path()).contains("max_user_namespaces=15000"));
        std::fs::write(sys.path().join("kernel/unprivileged_userns_clone"), "0\n").unwrap();
        assert!(remedy(sys.path()).contains("unprivileged_userns_clone=1"));
    }

    #[test]
    fn only_what_was_forbidden_is_explained_as_forbidden() {
        let explained = |line: &str| explain(&["noise".to_owned(), line.to_owned()]).is_some();
        for line in [
            "bwrap: No permissions to creating new namespace, likely because the kernel does not allow non-privileged user namespaces.",
            "bwrap: setting up uid map: Permission denied",
            "bwrap: Can't mount proc on /newroot/proc: Operation not permitted",
            "[1:1:FATAL:zygote_host_impl_linux.cc(128)] No usable sandbox! If you are running on Ubuntu 23.10+",
        ] {
            assert!(explained(line), "{line}");
        }
        for line in [
            "bwrap: Can't find source path /srv/x: Permission denied",
            "bwrap: execvp /proc/self/fd/0: Permission denied",
            "[1:1:ERROR] Permission denied while opening a namespace",
        ] {
            assert!(!explained(line), "{line}");
        }
    }
}
