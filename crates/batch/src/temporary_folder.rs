//! A folder for the temporary files of one command.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

const LOCK_SUFFIX: &str = ".lock";
const GUARD: &str = ".guard";

/// A folder that is removed with what is in it when the command ends.
///
/// A killed process removes nothing; so the next one that makes a folder with the same prefix
/// below the same base removes the folders whose process is gone. Each folder has a locked file
/// beside it, which the system unlocks whatever way the process ends.
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
    /// Makes a folder below `base`, which is made if it is not there, and removes those of
    /// processes that are gone.
    ///
    /// # Errors
    /// `base` cannot be written.
    ///
    /// ```
    /// # let base = tempfile::tempdir()?;
    /// let folder = batch::TemporaryFolder::create(&base.path().join("tmp"), "build")?;
    /// assert!(folder.path().is_dir());
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn create(base: &Path, prefix: &str) -> io::Result<Self> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        fs::create_dir_all(base)?;
        // Whoever holds the guard may make and remove folders; so no new lock is taken for dead.
        let guard = File::create(base.join(GUARD))?;
        guard.lock()?;
        remove_dead(base, prefix)?;
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("{prefix}-{}-{number}", std::process::id());
        let lock_path = base.join(format!("{name}{LOCK_SUFFIX}"));
        let lock = File::create(&lock_path)?;
        lock.lock()?;
        let path = base.join(name);
        fs::create_dir(&path)?;
        Ok(Self { path, lock_path, _lock: lock })
    }

    /// Where the folder lies.
    ///
    /// ```
    /// # let base = tempfile::tempdir()?;
    /// let folder = batch::TemporaryFolder::create(base.path(), "build")?;
    /// assert_eq!(folder.path().parent(), Some(base.path()));
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for TemporaryFolder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.path);
        let _ = fs::remove_file(&self.lock_path);
    }
}

fn remove_dead(base: &Path, prefix: &str) -> io::Result<()> {
    for entry in fs::read_dir(base)? {
        let entry = entry?;
        let name = entry.file_name();
        let Some(folder) = name.to_str().and_then(|name| name.strip_suffix(LOCK_SUFFIX)) else {
            continue;
        };
        let rest = folder.strip_prefix(prefix).and_then(|rest| rest.strip_prefix('-'));
        if rest.is_none() || File::open(entry.path())?.try_lock().is_err() {
            continue;
        }
        match fs::remove_dir_all(base.join(folder)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => fs::remove_file(entry.path())?,
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_of_dead_processes_are_removed_and_live_ones_stay() {
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
            fs::read_dir(base.path()).unwrap().map(|e| e.unwrap().path()).collect();
        left.sort();
        assert_eq!(left, [base.path().join(GUARD), base.path().join("other-1-0.lock")]);
    }
}
