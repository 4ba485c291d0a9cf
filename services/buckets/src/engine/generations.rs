//! Stores generations in folders or on a cluster.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::cluster::Cluster;
use super::embedded::{EmbeddedIndex, FolderLock, copy_index, restore_index, retry_while};
use super::error::EngineError;
use super::index::FileIndex;
use super::write_lock::{HeldLock, WriteLock};

/// Opens, creates and drops generations, regardless of the engine.
pub trait Generations: Send + Sync {
    /// Takes the write lock. If another process has it, the error contains that process's own
    /// description.
    fn lock(&self, holder: &str) -> Result<WriteLock, EngineError>;

    /// Opens a generation. Returns [`EngineError::Missing`] if it doesn't exist.
    fn open(&self, generation: u32) -> Result<Arc<dyn FileIndex>, EngineError>;

    /// Opens a generation, creating an empty one if it doesn't exist. Requires the write lock,
    /// because this could otherwise overwrite another writer's data.
    fn open_or_create(&self, generation: u32) -> Result<Arc<dyn FileIndex>, EngineError>;

    /// Describes any damage to a generation's files, without searching them. Returns nothing if the
    /// engine doesn't keep the files on this machine.
    fn damage(&self, _generation: u32) -> Result<Vec<String>, EngineError> {
        Ok(Vec::new())
    }

    /// Returns the number of paths in a generation that don't have a checksum, so that
    /// [`damage`](Self::damage) can't check them.
    fn unchecked_paths(&self, _generation: u32) -> Result<u64, EngineError> {
        Ok(0)
    }

    /// Drops an unfinished generation. Requires the write lock.
    fn discard(&self, generation: u32, lock: &dyn HeldLock) -> Result<(), EngineError>;

    /// Drops older generations, unless they are known to be in use. Returns `true` once they are
    /// all gone. Searches in a dropped generation return [`EngineError::Missing`].
    fn sweep(&self, current: u32) -> Result<bool, EngineError>;

    /// The folder with all generations, or `None` if the engine doesn't keep them on this machine.
    fn folder(&self) -> Option<&Path> {
        None
    }

    /// Backs up the last commit of a generation to another folder. Returns `false` if the engine
    /// doesn't keep its generations on this machine.
    fn copy(&self, _generation: u32, _to: &Path) -> Result<bool, EngineError> {
        Ok(false)
    }

    /// Returns the newest generation, finished or not. `None` if there isn't one or the engine
    /// doesn't know.
    fn newest(&self) -> Result<Option<u32>, EngineError> {
        Ok(None)
    }

    /// Returns `true` if a killed rebuild left the generation after `current` unfinished. A server
    /// can then take the write lock and discard it. Engines that return `false` leave this to the
    /// next writer.
    fn has_unfinished(&self, _current: u32) -> Result<bool, EngineError> {
        Ok(false)
    }
}

/// Keeps generations in subfolders of a folder.
pub struct Folders {
    root: PathBuf,
}

impl Folders {
    /// Creates a handle. Doesn't touch the folder yet.
    pub fn new(root: PathBuf) -> Self {
        Self { root }
    }

    fn of(&self, generation: u32) -> PathBuf {
        generation_folder(&self.root, generation)
    }
}

/// Restores all generations from a backup to a new `INDEX_DIR`.
pub fn restore_generations(from: &Path, to: &Path) -> Result<(), EngineError> {
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        restore_index(&entry.path(), &to.join(entry.file_name()))?;
    }
    Ok(())
}

/// Returns the path of a generation's folder.
pub fn generation_folder(root: &Path, generation: u32) -> PathBuf {
    root.join(format!("generation-{generation}"))
}

/// Removes a generation's folder. Returns `false` if another process is reading it or removing it
/// at the same time.
fn remove_unused(folder: &Path) -> Result<bool, EngineError> {
    let remove = || -> Result<bool, EngineError> {
        let Some(_unused) = FolderLock::unused(folder)? else { return Ok(false) };
        std::fs::remove_dir_all(folder)?;
        Ok(true)
    };
    match remove() {
        // Another process might have put a new lock file into the folder in the meantime.
        Err(EngineError::Io(error))
            if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::DirectoryNotEmpty) =>
        {
            Ok(false)
        }
        removed => removed,
    }
}

impl Generations for Folders {
    fn folder(&self) -> Option<&Path> {
        Some(&self.root)
    }

    fn lock(&self, holder: &str) -> Result<WriteLock, EngineError> {
        Ok(Box::new(FolderLock::exclusive(&self.root, holder)?))
    }

    fn open(&self, generation: u32) -> Result<Arc<dyn FileIndex>, EngineError> {
        Ok(Arc::new(EmbeddedIndex::open(&self.of(generation))?))
    }

    fn open_or_create(&self, generation: u32) -> Result<Arc<dyn FileIndex>, EngineError> {
        Ok(Arc::new(EmbeddedIndex::open_or_create(&self.of(generation))?))
    }

    fn damage(&self, generation: u32) -> Result<Vec<String>, EngineError> {
        EmbeddedIndex::damage(&self.of(generation))
    }

    fn unchecked_paths(&self, generation: u32) -> Result<u64, EngineError> {
        EmbeddedIndex::unchecked_paths(&self.of(generation))
    }

    fn discard(&self, generation: u32, lock: &dyn HeldLock) -> Result<(), EngineError> {
        let folder = self.of(generation);
        if folder.exists() {
            lock.check()?;
            // If a writer has just failed, one of its merges might still be adding files.
            retry_while(
                || std::fs::remove_dir_all(&folder),
                |done| matches!(done, Err(e) if e.kind() == ErrorKind::DirectoryNotEmpty),
            )?;
        }
        Ok(())
    }

    fn sweep(&self, current: u32) -> Result<bool, EngineError> {
        let mut all = true;
        for generation in 1..current {
            let folder = self.of(generation);
            if !folder.exists() {
                continue;
            }
            all &= remove_unused(&folder)?;
        }
        Ok(all)
    }

    fn copy(&self, generation: u32, to: &Path) -> Result<bool, EngineError> {
        let from = self.of(generation);
        if from.exists() {
            copy_index(&from, &generation_folder(to, generation))?;
        }
        Ok(true)
    }

    fn newest(&self) -> Result<Option<u32>, EngineError> {
        let entries = match std::fs::read_dir(&self.root) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            entries => entries?,
        };
        let mut newest = None;
        for entry in entries {
            let name = entry?.file_name();
            let number = name.to_str().and_then(|name| name.strip_prefix("generation-"));
            newest = newest.max(number.and_then(|number| number.parse().ok()));
        }
        Ok(newest)
    }

    fn has_unfinished(&self, current: u32) -> Result<bool, EngineError> {
        let next = self.of(current + 1);
        if !next.exists() || !self.of(current).exists() {
            return Ok(false);
        }
        // If this generation was published, a newer copy of the database might be using it.
        match EmbeddedIndex::open(&next) {
            Ok(index) => Ok(index.summary().journal.published.is_none()),
            Err(EngineError::Missing(_)) => Ok(true),
            Err(error) => Err(error),
        }
    }
}

impl Generations for Cluster {
    fn lock(&self, holder: &str) -> Result<WriteLock, EngineError> {
        Ok(Box::new(Self::lock(self, holder)?))
    }

    fn open(&self, generation: u32) -> Result<Arc<dyn FileIndex>, EngineError> {
        Ok(Arc::new(Self::open(self, generation)?))
    }

    fn open_or_create(&self, generation: u32) -> Result<Arc<dyn FileIndex>, EngineError> {
        Ok(Arc::new(Self::open_or_create(self, generation)?))
    }

    fn discard(&self, generation: u32, lock: &dyn HeldLock) -> Result<(), EngineError> {
        self.remove(generation, lock)
    }

    fn newest(&self) -> Result<Option<u32>, EngineError> {
        Ok(self.generations()?.last().copied())
    }

    /// There is no way to know which servers still search old generations. Those servers will
    /// notice that the table is missing and look for the new generation.
    fn sweep(&self, current: u32) -> Result<bool, EngineError> {
        let mut old = self.generations()?;
        old.retain(|generation| *generation < current);
        old.into_iter().try_for_each(|generation| self.remove(generation, &()))?;
        Ok(true)
    }
}
