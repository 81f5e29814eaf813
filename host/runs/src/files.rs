//! Run files: bytes that a run holds, known to callers by a handle and never by a path.
//!
//! Each run has a folder of its own, reached through a directory handle ([`cap_std`]), so that no name can lead out of it. A file is
//! stored under its handle; the name that a site or a caller gave it is only data. Files are written whole: into a temporary
//! file, synced, renamed, and the folder synced, so that after a crash a file is all there or not at all.
//!
//! Bytes are copied from an open descriptor that was opened without following links, so a page that plants a link in the
//! download folder gets nothing.
//!
//! Not here: how bytes come from Chromium or go to it (`session.rs`), and who may fetch them (the front ends).

use std::{
    collections::BTreeMap,
    io::{self, Read, Write},
    path::Path,
    sync::{Arc, Mutex, PoisonError},
};

use cap_std::{ambient_authority, fs::Dir};
use cap_tempfile::TempFile;
use transom_policy::filename::FileName;
use transom_verbs::{ErrorCode, FileId, Reason, ToolError, verb::FileInfo};

/// Bytes read at a time when a file is copied in.
const COPY_CHUNK: usize = 64 * 1024;

/// The name of a file whose own name has nothing left once it is made safe.
const UNNAMED: &str = "download";

/// What a run may keep.
#[derive(Clone, Copy, Debug)]
pub struct Quota {
    /// Bytes in all.
    pub bytes: u64,
    /// Files in all.
    pub files: usize,
}

/// The files of one run. A cheap handle.
#[derive(Clone, Debug)]
pub struct RunFiles {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    folder: Dir,
    quota: Quota,
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    files: BTreeMap<FileId, FileInfo>,
    /// Bytes of kept files and of those that are being written.
    bytes: u64,
    /// Files that are being written.
    n_open: usize,
}

/// A file to keep.
#[derive(Clone, Debug)]
pub struct NewFile {
    /// The name as it came: a path, a header's text, anything. It is made safe here.
    pub name: String,
    /// The media type; guessed from the name where there is none.
    pub media_type: Option<String>,
    /// Where it came from.
    pub source_url: Option<String>,
}

impl RunFiles {
    /// Makes the folder of a run at `path`, whose parent exists.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn create(path: &Path, quota: Quota) -> io::Result<RunFiles> {
        std::fs::create_dir(path)?;
        let folder = Dir::open_ambient_dir(path, ambient_authority())?;
        Ok(RunFiles { inner: Arc::new(Inner { folder, quota, kept: Mutex::default() }) })
    }

    fn kept(&self) -> std::sync::MutexGuard<'_, Kept> {
        // Nothing below panics while it holds the lock, so what a poisoned one guards is whole.
        self.inner.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The files, oldest first.
    #[must_use]
    pub fn list(&self) -> Vec<FileInfo> {
        self.kept().files.values().cloned().collect()
    }

    /// What is known of a file of this run.
    ///
    /// # Errors
    /// [`ErrorCode::UploadRefused`] for what is no handle of a file of this run; the text is not repeated.
    pub fn info(&self, handle: &str) -> Result<FileInfo, ToolError> {
        let id = FileId::parse(handle)
            .map_err(|error| ToolError::new(ErrorCode::UploadRefused, format!("refused: {error}")))?;
        self.kept().files.get(&id).cloned().ok_or_else(|| {
            ToolError::new(ErrorCode::UploadRefused, "refused: this run holds no file of that handle")
                .with_hint("use the `id` that `download` returned, or the handle of a file that the run was given")
        })
    }

    /// Opens a file for reading.
    ///
    /// # Errors
    /// As [`RunFiles::info`]; [`ErrorCode::FileNotSaved`] when it is no longer on disk.
    pub fn open(&self, handle: &str) -> Result<(FileInfo, std::fs::File), ToolError> {
        let info = self.info(handle)?;
        let file = self.inner.folder.open(info.id.as_str()).map_err(|error| {
            tracing::error!(%error, file = %info.id, "a run file cannot be opened");
            ToolError::new(ErrorCode::FileNotSaved, "the file is no longer there")
        })?;
        Ok((info, file.into_std()))
    }

    /// Keeps what `bytes` gives until its end. Blocks on the disk.
    ///
    /// # Errors
    /// [`Reason::Quota`] when the run would hold too much; [`ErrorCode::FileNotSaved`] when the disk refuses. Nothing is kept then.
    pub fn keep(&self, new: NewFile, bytes: &mut dyn Read) -> Result<FileInfo, ToolError> {
        let place = Place::take(self)?;
        let id = FileId::parse(format!("file_{}", ulid::Ulid::new()))
            .map_err(|error| ToolError::new(ErrorCode::FileNotSaved, format!("no handle could be made: {error}")))?;
        let size = self.write_whole(&id, bytes, &place).map_err(|stop| match stop {
            Stop::Quota => self.over_quota(),
            Stop::Io(error) => {
                tracing::error!(%error, "a run file could not be written");
                ToolError::new(ErrorCode::FileNotSaved, "the file could not be kept: the host's disk refused it")
            }
        })?;
        let name = FileName::clean(&new.name).map_or_else(|| UNNAMED.to_owned(), |name| name.as_str().to_owned());
        let media_type = new
            .media_type
            .filter(|text| !text.is_empty())
            .unwrap_or_else(|| mime_guess::from_path(&name).first_or_octet_stream().to_string());
        let info = FileInfo { id: id.clone(), name, size, media_type, source_url: new.source_url };
        self.kept().files.insert(id, info.clone());
        place.settle(size);
        Ok(info)
    }

    fn write_whole(&self, id: &FileId, bytes: &mut dyn Read, place: &Place) -> Result<u64, Stop> {
        let mut part = TempFile::new(&self.inner.folder)?;
        let mut chunk = vec![0; COPY_CHUNK];
        let mut size = 0_u64;
        loop {
            let n = match bytes.read(&mut chunk) {
                Ok(0) => break,
                Ok(n) => n,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error.into()),
            };
            size += n as u64;
            place.reserve(size).map_err(|()| Stop::Quota)?;
            part.write_all(chunk.get(..n).unwrap_or_default())?;
        }
        part.as_file().sync_all()?;
        part.replace(id.as_str())?;
        // The rename itself has to reach the disk, which is the folder's own sync.
        self.inner.folder.open(".")?.sync_all()?;
        Ok(size)
    }

    fn over_quota(&self) -> ToolError {
        let Quota { bytes, files } = self.inner.quota;
        ToolError::failed(
            Reason::Quota,
            format!("the run's files are full: it may keep {files} files and {bytes} bytes in all"),
        )
        .with_hint("raise `run_files` or `run_bytes` under [limits] in the host's configuration")
    }
}

enum Stop {
    Quota,
    Io(io::Error),
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Stop {
        Stop::Io(error)
    }
}

/// A file that is being written: its bytes count against the quota until it is kept, and no longer if it is not.
struct Place<'a> {
    files: &'a RunFiles,
    reserved: std::cell::Cell<u64>,
}

impl<'a> Place<'a> {
    fn take(files: &'a RunFiles) -> Result<Place<'a>, ToolError> {
        let mut kept = files.kept();
        if kept.files.len() + kept.n_open >= files.inner.quota.files {
            drop(kept);
            return Err(files.over_quota());
        }
        kept.n_open += 1;
        drop(kept);
        Ok(Place { files, reserved: std::cell::Cell::new(0) })
    }

    fn reserve(&self, size: u64) -> Result<(), ()> {
        let mut kept = self.files.kept();
        let more = size.saturating_sub(self.reserved.get());
        if kept.bytes.saturating_add(more) > self.files.inner.quota.bytes {
            return Err(());
        }
        kept.bytes += more;
        self.reserved.set(size);
        Ok(())
    }

    /// The file is kept: its bytes stay counted.
    fn settle(self, size: u64) {
        debug_assert_eq!(size, self.reserved.get());
        self.reserved.set(0);
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        let mut kept = self.files.kept();
        kept.n_open -= 1;
        kept.bytes -= self.reserved.get();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(quota: Quota) -> (tempfile::TempDir, RunFiles) {
        let folder = tempfile::tempdir().unwrap();
        let files = RunFiles::create(&folder.path().join("files"), quota).unwrap();
        (folder, files)
    }

    fn named(name: &str) -> NewFile {
        NewFile { name: name.into(), media_type: None, source_url: None }
    }

    const SMALL: Quota = Quota { bytes: 10, files: 2 };

    #[test]
    fn a_kept_file_is_found_by_its_handle_and_by_nothing_else() {
        let (folder, files) = files(SMALL);
        let info = files.keep(named("../../orders.csv"), &mut "a,b\n".as_bytes()).unwrap();
        assert_eq!((info.name.as_str(), info.size, info.media_type.as_str()), ("orders.csv", 4, "text/csv"));
        let (again, mut file) = files.open(info.id.as_str()).unwrap();
        assert_eq!(again, info);
        let mut text = String::new();
        file.read_to_string(&mut text).unwrap();
        assert_eq!(text, "a,b\n");
        for bad in ["/etc/passwd", "file:///etc/passwd", "../files", "orders.csv", "file_01ARZ3NDEKTSV4RRFFQ69G5FAV"] {
            let error = files.open(bad).unwrap_err();
            assert_eq!(error.code, ErrorCode::UploadRefused, "{bad}");
            assert!(!error.message.contains(bad), "{}", error.message);
        }
        let on_disk: Vec<_> = std::fs::read_dir(folder.path().join("files")).unwrap().collect();
        assert_eq!(on_disk.len(), 1, "nothing but the file itself is left: {on_disk:?}");
    }

    #[test]
    fn what_is_over_quota_is_not_kept_and_gives_its_place_back() {
        let (folder, files) = files(SMALL);
        let error = files.keep(named("big"), &mut [0_u8; 11].as_slice()).unwrap_err();
        assert!(error.is(Reason::Quota), "{error}");
        assert_eq!(std::fs::read_dir(folder.path().join("files")).unwrap().count(), 0);
        files.keep(named("a"), &mut [0_u8; 10].as_slice()).unwrap();
        assert!(files.keep(named("b"), &mut [0_u8; 1].as_slice()).unwrap_err().is(Reason::Quota));
        files.keep(named("empty"), &mut [].as_slice()).unwrap();
        assert!(files.keep(named("third"), &mut [].as_slice()).unwrap_err().is(Reason::Quota));
    }

    #[test]
    fn a_read_that_fails_half_way_leaves_nothing() {
        struct Broken(bool);
        impl Read for Broken {
            fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
                if std::mem::replace(&mut self.0, true) {
                    return Err(io::Error::other("gone"));
                }
                buffer[0] = 1;
                Ok(1)
            }
        }
        let (folder, files) = files(SMALL);
        assert_eq!(files.keep(named("x"), &mut Broken(false)).unwrap_err().code, ErrorCode::FileNotSaved);
        assert_eq!(std::fs::read_dir(folder.path().join("files")).unwrap().count(), 0);
        assert!(files.list().is_empty());
        files.keep(named("y"), &mut [0_u8; 10].as_slice()).unwrap();
    }
}
