//! Storage of generations, either in folders or in the tables of a cluster.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::cluster::Cluster;
use super::embedded::{EmbeddedIndex, FolderLock, copy_index, restore_index, retry_while};
use super::error::EngineError;
use super::index::FileIndex;
use super::write_lock::{HeldLock, WriteLock};

/// Opens, creates and drops generations of any engine.
pub trait Generations: Send + Sync {
    /// Takes the write lock. If another process holds it, fails with the description that the
    /// holder recorded.
    fn lock(&self, holder: &str) -> Result<WriteLock, EngineError>;

    /// Opens a generation. Returns [`EngineError::Missing`] if it does not exist.
    fn open(&self, generation: u32) -> Result<Arc<dyn FileIndex>, EngineError>;

    /// Opens a generation, or creates an empty one. Only the holder of the write lock may create
    /// one, because that would overwrite the data of another writer.
    fn open_or_create(&self, generation: u32) -> Result<Arc<dyn FileIndex>, EngineError>;

    /// Drops an unfinished generation. Requires the write lock.
    fn discard(&self, generation: u32, lock: &dyn HeldLock) -> Result<(), EngineError>;

    /// Drops older generations, except those known to be in use. Returns true if none is left.
    /// Searches in a dropped generation fail with [`EngineError::Missing`].
    fn sweep(&self, current: u32) -> Result<bool, EngineError>;

    /// Returns the folder of all generations, or `None` if the engine does not store them on this
    /// machine.
    fn folder(&self) -> Option<&Path> {
        None
    }

    /// Copies the last commit of a generation to another folder, for a backup. Returns false if the
    /// engine does not store generations on this machine.
    fn copy(&self, _generation: u32, _to: &Path) -> Result<bool, EngineError> {
        Ok(false)
    }

    /// Returns the newest generation, whether it is finished or not. `None` if there is none or the
    /// engine does not know.
    fn newest(&self) -> Result<Option<u32>, EngineError> {
        Ok(None)
    }

    /// Returns true if a killed rebuild left the generation after `current` unfinished, and a
    /// server may discard it while holding the write lock. Other engines leave that to the next
    /// writer.
    fn has_unfinished(&self, _current: u32) -> Result<bool, EngineError> {
        Ok(false)
    }
}

/// Generations stored in subfolders of a folder.
pub struct Folders {
    root: PathBuf,
}

impl Folders {
    /// Creates a handle to the generations below `root`.
    pub fn new(root: PathBuf) -> Self {
        Self { root }
    }

    fn of(&self, generation: u32) -> PathBuf {
        generation_folder(&self.root, generation)
    }
}

/// Restores all generations of a backup to a new `INDEX_DIR`.
pub fn restore_generations(from: &Path, to: &Path) -> Result<(), EngineError> {
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        restore_index(&entry.path(), &to.join(entry.file_name()))?;
    }
    Ok(())
}

/// Returns the folder of a generation below `INDEX_DIR`.
pub fn generation_folder(root: &Path, generation: u32) -> PathBuf {
    root.join(format!("generation-{generation}"))
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

    fn discard(&self, generation: u32, lock: &dyn HeldLock) -> Result<(), EngineError> {
        let folder = self.of(generation);
        if folder.exists() {
            lock.check()?;
            // A merge of a writer that has just failed may still be adding files.
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
            match FolderLock::unused(&folder)? {
                Some(_unused) => std::fs::remove_dir_all(&folder)?,
                None => all = false,
            }
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
        // A published generation may be in use by a newer database.
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

    /// It is not known which servers still search old generations. Such a server notices that the
    /// table is missing and then looks for the newer generation.
    fn sweep(&self, current: u32) -> Result<bool, EngineError> {
        let mut old = self.generations()?;
        old.retain(|generation| *generation < current);
        old.into_iter().try_for_each(|generation| self.remove(generation, &()))?;
        Ok(true)
    }
}
