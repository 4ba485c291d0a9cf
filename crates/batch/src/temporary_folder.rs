//! A folder for a command's temporary files.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

const LOCK_SUFFIX: &str = ".lock";

/// A temporary folder that is removed with all of its contents when dropped.
///
/// A process that is killed leaves its folder behind. It is removed by the next process that
/// creates a folder with the same prefix in the same base folder (see [`Self::remove_abandoned`]).
/// Each folder has a lock file next to it, which the operating system unlocks no matter how the
/// process exits. Other files in the base folder are left alone, so several programs can share it.
///
/// ```
/// use batch::TemporaryFolder;
///
/// let base = tempfile::tempdir()?;
/// let folder = TemporaryFolder::create(base.path(), "build")?;
/// std::fs::write(folder.path().join("partition-0001"), "…")?;
/// let path = folder.path().to_owned();
/// drop(folder);
/// assert!(!path.exists());
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct TemporaryFolder {
    path: PathBuf,
    lock_path: PathBuf,
    _lock: File,
}

impl TemporaryFolder {
    /// Creates a folder in `base`, creating `base` first if needed. Also removes folders left
    /// behind by processes that no longer exist.
    ///
    /// # Errors
    /// Returns an error if `base` is not writable.
    pub fn create(base: &Path, prefix: &str) -> io::Result<Self> {
        fs::create_dir_all(base)?;
        Self::remove_abandoned(base, prefix)?;
        let (lock_path, lock) = locked_file(base, prefix)?;
        let path = lock_path.with_extension("");
        if let Err(error) = fs::create_dir(&path) {
            let _ = fs::remove_file(&lock_path);
            return Err(error);
        }
        Ok(Self { path, lock_path, _lock: lock })
    }

    /// Removes folders left behind by processes that no longer exist, except for other users'
    /// folders.
    ///
    /// # Errors
    /// Returns an error if `base` can't be read, or if a folder can't be removed.
    pub fn remove_abandoned(base: &Path, prefix: &str) -> io::Result<()> {
        let entries = match fs::read_dir(base) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            entries => entries?,
        };
        for entry in entries {
            let entry = entry?;
            let name = entry.file_name();
            let ours = name.to_str().is_some_and(|name| is_lock_name(name, prefix));
            // Skip pipes, since opening one would block.
            if ours && entry.file_type()?.is_file() {
                remove_if_abandoned(&entry.path()).or_else(unless_foreign)?;
            }
        }
        Ok(())
    }

    /// Returns the path of the folder.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for TemporaryFolder {
    fn drop(&mut self) {
        let _ = remove(&self.lock_path);
    }
}

/// Creates and locks a file with a new name.
fn locked_file(base: &Path, prefix: &str) -> io::Result<(PathBuf, File)> {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    loop {
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = base.join(format!("{prefix}-{}-{number}{LOCK_SUFFIX}", std::process::id()));
        let file = match OpenOptions::new().write(true).create_new(true).open(&path) {
            // A process in another container might have the same process ID.
            Err(error) if error.kind() == ErrorKind::AlreadyExists => continue,
            file => file?,
        };
        file.lock()?;
        // Before we locked the file, another process might have mistaken it for an abandoned one
        // and removed it.
        if is_still_at(&file, &path)? {
            return Ok((path, file));
        }
    }
}

/// Returns whether a name has the form `PREFIX-PROCESS-NUMBER.lock`.
fn is_lock_name(name: &str, prefix: &str) -> bool {
    let numbers = || {
        let rest = name.strip_suffix(LOCK_SUFFIX)?.strip_prefix(prefix)?.strip_prefix('-')?;
        let (process, number) = rest.split_once('-')?;
        Some(process.parse::<u32>().is_ok() && number.parse::<u32>().is_ok())
    };
    numbers().unwrap_or(false)
}

fn is_still_at(file: &File, path: &Path) -> io::Result<bool> {
    let (ours, there) = (file.metadata()?, fs::symlink_metadata(path));
    match there {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        there => there.map(|there| (there.dev(), there.ino()) == (ours.dev(), ours.ino())),
    }
}

/// Removes a folder and its lock file, unless a process holds the lock.
fn remove_if_abandoned(lock_path: &Path) -> io::Result<()> {
    let lock = File::open(lock_path)?;
    if lock.try_lock().is_err() || !is_still_at(&lock, lock_path)? {
        return Ok(());
    }
    remove(lock_path)
}

/// Removes a folder and then its lock file. If the folder can't be removed, keeps the lock file, so
/// that the next command finds the folder.
fn remove(lock_path: &Path) -> io::Result<()> {
    match fs::remove_dir_all(lock_path.with_extension("")) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => fs::remove_file(lock_path),
    }
}

/// Ignores errors for other users' files and for files that another process has just removed.
fn unless_foreign(error: io::Error) -> io::Result<()> {
    match error.kind() {
        ErrorKind::NotFound | ErrorKind::PermissionDenied => Ok(()),
        _ => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_of_dead_processes_are_removed_and_those_of_live_ones_stay() {
        let base = tempfile::tempdir().unwrap();
        let dead = base.path().join("build-1-0");
        fs::create_dir(&dead).unwrap();
        fs::write(dead.join("sha1-0-0000"), "x").unwrap();
        for lock in ["build-1-0.lock", "other-1-0.lock"] {
            fs::write(base.path().join(lock), "").unwrap();
        }
        let first = TemporaryFolder::create(base.path(), "build").unwrap();
        assert!(!dead.exists());
        let second = TemporaryFolder::create(base.path(), "build").unwrap();
        assert!(first.path().exists() && second.path().exists());
        drop((first, second));
        let mut left: Vec<_> =
            fs::read_dir(base.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
        left.sort();
        assert_eq!(left, [base.path().join("other-1-0.lock")]);
    }

    #[test]
    fn a_folder_that_could_not_be_removed_is_removed_by_the_next_command() {
        let base = tempfile::tempdir().unwrap();
        let folder = TemporaryFolder::create(base.path(), "build").unwrap();
        let path = folder.path().to_owned();
        // A file at this path makes `remove_dir_all` fail.
        fs::remove_dir(&path).unwrap();
        fs::write(&path, "").unwrap();
        drop(folder);
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
        TemporaryFolder::remove_abandoned(base.path(), "build").unwrap();
        assert_eq!(fs::read_dir(base.path()).unwrap().count(), 0);
    }

    #[test]
    fn other_files_in_the_base_are_unchanged() {
        let base = tempfile::tempdir().unwrap();
        let ours = format!("build-{}-0.lock", std::process::id());
        for name in [".guard", "build-7-0", "build.lock", "build-cache.lock", &ours] {
            fs::write(base.path().join(name), "kept").unwrap();
        }
        let held = File::open(base.path().join(&ours)).unwrap();
        held.lock().unwrap();
        let folder = TemporaryFolder::create(base.path(), "build").unwrap();
        assert!(folder.path().is_dir());
        for name in [".guard", "build-7-0", "build.lock", "build-cache.lock", &ours] {
            assert_eq!(fs::read(base.path().join(name)).unwrap(), b"kept", "{name}");
        }
    }

    #[test]
    fn threads_create_and_remove_folders_concurrently() {
        let base = tempfile::tempdir().unwrap();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..50 {
                        let folder = TemporaryFolder::create(base.path(), "build").unwrap();
                        fs::write(folder.path().join("x"), "x").unwrap();
                    }
                });
            }
        });
        assert_eq!(fs::read_dir(base.path()).unwrap().count(), 0);
    }
}
