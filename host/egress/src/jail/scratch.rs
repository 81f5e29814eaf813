//! Where Chromium keeps its profile without a jail: a private folder on the host, gone when Chromium is, or at the latest
//! when the next one starts.
//!
//! A host that is killed can't delete the folder, and a profile holds cookies. So each folder has a lock that its host
//! holds and the kernel takes away with it; whoever makes a new folder deletes those whose lock is free. The lock is
//! beside what Chromium may write, not inside.
//!
//! Not here: the profile in a jail, which is on the jail's own tmpfs.

use std::fs::File;
use std::io;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, Mode, OFlags, flock, open};

use super::UNPRIVILEGED;

/// How the folders are told from everything else in the system's folder for temporary files.
const PREFIX: &str = "transom-profile-";
const LOCK: &str = "lock";

/// A folder for one Chromium. Dropping it deletes the folder; what resists, since a dying process still writes to it, is
/// left to the next one.
#[derive(Debug)]
pub(super) struct Scratch {
    folder: PathBuf,
    _lock: File,
}

impl Scratch {
    /// Deletes what killed hosts have left, and makes a new folder.
    pub(super) fn new() -> io::Result<Scratch> {
        Scratch::new_in(&std::env::temp_dir())
    }

    fn new_in(parent: &Path) -> io::Result<Scratch> {
        sweep(parent);
        let folder = tempfile::Builder::new().prefix(PREFIX).tempdir_in(parent)?.keep();
        // Passable for the browser's user, who may not list or change it.
        std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o711))?;
        // Locked before it has the name that is looked for: nobody may find it free meanwhile.
        let unnamed = folder.join("unlocked");
        let lock = File::create_new(&unnamed)?;
        flock(&lock, FlockOperation::NonBlockingLockExclusive)?;
        std::fs::rename(unnamed, folder.join(LOCK))?;
        let scratch = Scratch { folder, _lock: lock };
        std::fs::DirBuilder::new().mode(0o700).create(scratch.browsers())?;
        if rustix::process::geteuid().is_root() {
            std::os::unix::fs::chown(scratch.browsers(), Some(UNPRIVILEGED), Some(UNPRIVILEGED))?;
        }
        Ok(scratch)
    }

    /// The folder, which everybody may pass and only its maker may list or change.
    pub(super) fn passable(&self) -> &Path {
        &self.folder
    }

    /// The part that belongs to Chromium.
    pub(super) fn browsers(&self) -> PathBuf {
        self.folder.join("browser")
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        delete(&self.folder).ok();
    }
}

/// The lock goes last: a folder that is deleted half-way, because its host ends meanwhile, can still be found abandoned.
fn delete(folder: &Path) -> io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            std::fs::remove_dir_all(entry.path())?;
        }
    }
    std::fs::remove_dir_all(folder)
}

/// Deletes the folders whose host is gone. What can't be read or deleted is another user's, and stays.
fn sweep(parent: &Path) {
    for entry in std::fs::read_dir(parent).into_iter().flatten().flatten() {
        let is_ours = entry.file_name().to_str().is_some_and(|name| name.starts_with(PREFIX));
        if is_ours && entry.file_type().is_ok_and(|kind| kind.is_dir()) && is_abandoned(&entry.path()) {
            delete(&entry.path()).ok();
        }
    }
}

fn is_abandoned(folder: &Path) -> bool {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let lock = open(folder.join(LOCK), flags, Mode::empty());
    lock.is_ok_and(|lock| flock(lock, FlockOperation::NonBlockingLockExclusive).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_goes_with_its_owner_or_at_the_latest_with_the_next_one() {
        let parent = tempfile::tempdir().unwrap();
        let first = Scratch::new_in(parent.path()).unwrap();
        let alive = first.browsers();
        // What a killed host leaves: the folder, and a lock that nobody holds.
        let left = parent.path().join(format!("{PREFIX}left"));
        std::fs::create_dir_all(left.join("browser/profile")).unwrap();
        std::fs::write(left.join(LOCK), "").unwrap();
        let foreign = parent.path().join("other-left");
        std::fs::create_dir(&foreign).unwrap();
        std::fs::write(foreign.join(LOCK), "").unwrap();

        let second = Scratch::new_in(parent.path()).unwrap();
        assert!(!left.exists(), "what was left is gone");
        assert!(alive.exists() && second.browsers().exists() && foreign.exists(), "what is used or foreign stays");
        drop(first);
        assert!(!alive.exists());
    }
}
