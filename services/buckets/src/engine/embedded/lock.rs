//! File locks. The operating system releases them when a process exits.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{ErrorKind, Read, Seek, Write};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;

use crate::engine::error::EngineError;
use crate::engine::write_lock::HeldLock;

/// A lock on a folder. Released on drop.
#[derive(Debug)]
pub struct FolderLock {
    /// `None` if there's no lock file and the disk is read-only.
    _file: Option<File>,
}

impl FolderLock {
    /// Locks a folder for reading. Any number of readers can have this lock at the same time.
    pub fn shared(folder: &Path) -> Result<Self, EngineError> {
        let path = folder.join("readers.lock");
        let opened = open_to_read(&path, open(&path)).map_err(|error| named(&path, error))?;
        let Some(file) = opened else { return Ok(Self { _file: None }) };
        match file.try_lock_shared() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                // A deletion takes only a moment, so something else probably has the lock. Report
                // which process it is.
                let holder = holder_of(&file)
                    .map_or_else(String::new, |process| format!(", which process {process} holds"));
                log::warn!("waiting for the lock {}{holder}", path.display());
                file.lock_shared()?;
                log::info!("the lock {} is free", path.display());
            }
            Err(TryLockError::Error(error)) => return Err(error.into()),
        }
        Ok(Self { _file: Some(file) })
    }

    /// Locks a folder for deletion. Returns `None` if another process is reading it.
    pub fn unused(folder: &Path) -> Result<Option<Self>, EngineError> {
        let path = folder.join("readers.lock");
        let file = open(&path).map_err(|error| named(&path, error))?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Self { _file: Some(file) })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error.into()),
        }
    }

    /// Takes the write lock. If another process has it, the error contains that process's own
    /// description.
    pub fn exclusive(folder: &Path, holder: &str) -> Result<Self, EngineError> {
        std::fs::create_dir_all(folder).map_err(|error| named(folder, error))?;
        let path = folder.join("writer.lock");
        let mut file = open(&path).map_err(|error| named(&path, error))?;
        match retry_while(
            || file.try_lock(),
            |taken| matches!(taken, Err(TryLockError::WouldBlock)),
        ) {
            Ok(()) => {
                // Don't fail on a full disk. The lock might be needed to free up space.
                let emptied = file.set_len(0).and_then(|()| file.rewind());
                let _nameless = emptied.and_then(|()| file.write_all(holder.as_bytes()));
                Ok(Self { _file: Some(file) })
            }
            Err(TryLockError::WouldBlock) => {
                let mut text = String::new();
                file.read_to_string(&mut text)?;
                Err(EngineError::Locked(text))
            }
            Err(TryLockError::Error(error)) => Err(error.into()),
        }
    }
}

impl HeldLock for FolderLock {
    /// Always succeeds, because the operating system doesn't revoke file locks.
    fn check(&self) -> Result<(), EngineError> {
        Ok(())
    }
}

/// Keeps trying for 400 ms, because locks are sometimes held by accident for a moment. For example,
/// a forked child shares its parent's locks until it calls `exec`.
pub(in super::super) fn retry_while<T>(
    mut attempt: impl FnMut() -> T,
    is_busy: impl Fn(&T) -> bool,
) -> T {
    for _ in 0..40 {
        let taken = attempt();
        if !is_busy(&taken) {
            return taken;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    attempt()
}

/// Finds the process that has a lock on the file, if the operating system reveals it.
fn holder_of(file: &File) -> Option<u32> {
    let inode = format!(":{}", file.metadata().ok()?.ino());
    let locks = std::fs::read_to_string("/proc/locks").ok()?;
    locks.lines().find_map(|line| {
        // 1: FLOCK  ADVISORY  WRITE 4711 00:2d:1234 0 EOF
        let fields: Vec<&str> = line.split_whitespace().collect();
        let [_, "FLOCK", _, "WRITE", process, place, ..] = fields[..] else { return None };
        process.parse().ok().filter(|_| place.ends_with(&inode))
    })
}

fn open(path: &Path) -> Result<File, std::io::Error> {
    OpenOptions::new().create(true).truncate(false).read(true).write(true).open(path)
}

/// Adds the path to an error.
fn named(path: &Path, error: std::io::Error) -> std::io::Error {
    std::io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

/// Falls back to opening a lock file read-only, which is enough to lock it. Returns `None` if the
/// file doesn't exist and the disk is read-only, since then no process can have the lock.
pub(super) fn open_to_read(
    path: &Path,
    opened: std::io::Result<File>,
) -> std::io::Result<Option<File>> {
    use ErrorKind::{NotFound, PermissionDenied, ReadOnlyFilesystem};
    let refused = match opened {
        Err(error) if matches!(error.kind(), PermissionDenied | ReadOnlyFilesystem) => error,
        file => return file.map(Some),
    };
    match File::open(path) {
        Err(error) if error.kind() != NotFound => Err(error),
        Err(_) if refused.kind() == ReadOnlyFilesystem => Ok(None),
        Err(_) => Err(refused),
        file => file.map(Some),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unwritable_lock_file_is_opened_for_reading() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("readers.lock");
        let read_only = || Err(ErrorKind::ReadOnlyFilesystem.into());
        let forbidden = || Err(ErrorKind::PermissionDenied.into());
        assert!(open_to_read(&path, read_only()).unwrap().is_none());
        assert!(open_to_read(&path, forbidden()).is_err());
        let held = FolderLock::unused(folder.path()).unwrap().unwrap();
        let file = open_to_read(&path, read_only()).unwrap().unwrap();
        assert!(matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)));
        drop(held);
        drop(file);
        let file = open_to_read(&path, forbidden()).unwrap().unwrap();
        file.try_lock_shared().unwrap();
        assert!(FolderLock::unused(folder.path()).unwrap().is_none());
        assert!(open_to_read(&path, Err(ErrorKind::StorageFull.into())).is_err());
    }

    #[test]
    fn lock_holder_is_identified() {
        let folder = tempfile::tempdir().unwrap();
        let other = open(&folder.path().join("readers.lock")).unwrap();
        assert_eq!(holder_of(&other), None);
        let held = FolderLock::unused(folder.path()).unwrap().unwrap();
        // Inside a container, the process id might be hidden.
        assert!(holder_of(&other).is_none_or(|process| process == std::process::id()));
        drop(held);
        assert_eq!(holder_of(&other), None);
    }
}
