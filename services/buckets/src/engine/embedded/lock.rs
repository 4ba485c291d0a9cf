//! Locks that the operating system drops with the process that holds them.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::Path;
use std::time::Duration;

use crate::engine::error::EngineError;

/// A lock on a folder, held until it is dropped.
#[derive(Debug)]
pub struct FolderLock {
    _file: File,
}

impl FolderLock {
    /// Shares the folder with other readers.
    pub fn shared(folder: &Path) -> Result<Self, EngineError> {
        let file = open(&folder.join("readers.lock"))?;
        file.lock_shared()?;
        Ok(Self { _file: file })
    }

    /// A lock that shows that no process reads the folder, so that it may be deleted.
    pub fn unused(folder: &Path) -> Result<Option<Self>, EngineError> {
        let file = open(&folder.join("readers.lock"))?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Self { _file: file })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error.into()),
        }
    }

    /// Takes the write lock, or fails with what its holder recorded about itself.
    pub fn exclusive(folder: &Path, holder: &str) -> Result<Self, EngineError> {
        std::fs::create_dir_all(folder)?;
        let mut file = open(&folder.join("writer.lock"))?;
        match retry_while(
            || file.try_lock(),
            |taken| matches!(taken, Err(TryLockError::WouldBlock)),
        ) {
            Ok(()) => {
                // A full disk keeps nobody from the lock: what fills it may be what is to be dropped.
                let emptied = file.set_len(0).and_then(|()| file.rewind());
                let _nameless = emptied.and_then(|()| file.write_all(holder.as_bytes()));
                Ok(Self { _file: file })
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

/// Retries for 400 ms what passes soon: a process that was just forked, for example, shares the locks
/// of its parent until it executes its own program.
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

fn open(path: &Path) -> Result<File, std::io::Error> {
    OpenOptions::new().create(true).truncate(false).read(true).write(true).open(path)
}
