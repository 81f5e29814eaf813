//! The two folders that host and Chromium share: downloads, which Chromium writes, and uploads, which it only reads.
//!
//! Each launch gets folders of its own. As root, downloads belong to the browser's user, uploads to root with the browser's
//! group allowed to read: Chromium never owns what it may only read. As an ordinary user both are that user's.
//!
//! Not here: what becomes of a file (`transom-runs`). Whoever reads a download must not follow links: a compromised
//! Chromium could leave one in the folder.

use std::io;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};

use super::{JailError, UNPRIVILEGED};

/// The host's side of the shared folders. They are created if they don't exist; their parents must exist.
///
/// Without a jail, and as root, the browser's user may be unable to reach them. Then others are used, which end with the
/// browser: [`ExchangePaths`] always says which.
#[derive(Debug, Clone)]
pub struct Exchange {
    /// Chromium writes here.
    pub downloads: PathBuf,
    /// Chromium reads here.
    pub uploads: PathBuf,
}

/// One shared folder, as each side sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedFolder {
    /// The folder's path on the host.
    pub host: PathBuf,
    /// The same folder's path for Chromium, as CDP commands have to say it.
    pub browser: PathBuf,
}

/// Both shared folders of a launched Chromium.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExchangePaths {
    /// Chromium may write here.
    pub downloads: SharedFolder,
    /// Chromium may only read here (in a jail the kernel sees to that).
    pub uploads: SharedFolder,
    /// The group that must be able to read uploads, where it is not ours.
    reader: Option<u32>,
}

impl ExchangePaths {
    /// Lets Chromium read a file, or pass a folder, that the host has made in the uploads folder, whatever the umask was.
    /// Each folder on the way has to be handed over too.
    ///
    /// # Errors
    /// If it is not there or its owner can't be changed.
    pub fn hand_over(&self, path: &Path) -> io::Result<()> {
        if let Some(group) = self.reader {
            let mode = if path.metadata()?.is_dir() { 0o750 } else { 0o640 };
            std::os::unix::fs::chown(path, None, Some(group))?;
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode))?;
        }
        Ok(())
    }
}

/// Makes the folders, with the owners that the header says, and pairs them with what Chromium sees.
pub(super) fn open(exchange: &Exchange, downloads: PathBuf, uploads: PathBuf) -> Result<ExchangePaths, JailError> {
    let reader = rustix::process::geteuid().is_root().then_some(UNPRIVILEGED);
    let downloads_host = make(&exchange.downloads)?;
    let uploads_host = make(&exchange.uploads)?;
    if let Some(id) = reader {
        own(&downloads_host, Some(id), 0o700)?;
        own(&uploads_host, None, 0o750)?;
    }
    Ok(ExchangePaths {
        downloads: SharedFolder { host: downloads_host, browser: downloads },
        uploads: SharedFolder { host: uploads_host, browser: uploads },
        reader,
    })
}

/// The same for a Chromium that sees the host's files under their own paths. `spare` is a folder that the browser's user
/// can pass: where it can't pass those above the exchange, as root's state folder, the exchange is made in there.
pub(super) fn open_on_the_host(exchange: &Exchange, spare: &Path) -> Result<ExchangePaths, JailError> {
    let above = exchange.downloads.parent().into_iter().chain(exchange.uploads.parent());
    let exchange = match !rustix::process::geteuid().is_root() || above.flat_map(Path::ancestors).all(is_passable) {
        true => exchange.clone(),
        false => Exchange { downloads: spare.join("downloads"), uploads: spare.join("uploads") },
    };
    let paths = open(&exchange, PathBuf::new(), PathBuf::new())?;
    let on_host = |folder: SharedFolder| SharedFolder { browser: folder.host.clone(), host: folder.host };
    Ok(ExchangePaths { downloads: on_host(paths.downloads), uploads: on_host(paths.uploads), reader: paths.reader })
}

/// Whether everybody may pass this folder. A relative path ends in one that is empty: the working folder, not looked at.
fn is_passable(folder: &Path) -> bool {
    folder.as_os_str().is_empty() || folder.metadata().is_ok_and(|folder| folder.permissions().mode() & 0o001 != 0)
}

fn make(folder: &Path) -> Result<PathBuf, JailError> {
    let failed = |source| JailError::Exchange { path: folder.to_owned(), source };
    match std::fs::DirBuilder::new().mode(0o700).create(folder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(failed(error)),
        _ => {}
    }
    let folder = folder.canonicalize().map_err(failed)?;
    match folder.metadata().map_err(failed)?.is_dir() {
        true => Ok(folder),
        false => Err(failed(io::ErrorKind::NotADirectory.into())),
    }
}

fn own(folder: &Path, user: Option<u32>, mode: u32) -> Result<(), JailError> {
    std::os::unix::fs::chown(folder, user, Some(UNPRIVILEGED))
        .and_then(|()| std::fs::set_permissions(folder, std::fs::Permissions::from_mode(mode)))
        .map_err(|source| JailError::Exchange { path: folder.to_owned(), source })
}
