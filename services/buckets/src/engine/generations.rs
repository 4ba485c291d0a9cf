//! Where the generations of an index are: folders, or tables of a cluster.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::cluster::Cluster;
use super::embedded::{EmbeddedIndex, FolderLock, retry_while};
use super::error::EngineError;
use super::index::FileIndex;
use super::write_lock::{HeldLock, WriteLock};

/// Opens, makes and drops generations, whatever the engine.
pub trait Generations: Send + Sync {
    /// Takes the write lock, or fails with what its holder recorded about itself.
    fn lock(&self, holder: &str) -> Result<WriteLock, EngineError>;

    /// Opens a generation; [`EngineError::Missing`] where it has not been made.
    fn open(&self, generation: u32) -> Result<Arc<dyn FileIndex>, EngineError>;

    /// Opens a generation, or makes an empty one. Only the holder of the write lock may make one:
    /// beside another writer it would blank what that one has written.
    fn open_or_create(&self, generation: u32) -> Result<Arc<dyn FileIndex>, EngineError>;

    /// Drops what an earlier attempt left of a generation, by the right of a lock that is held.
    fn discard(&self, generation: u32, lock: &dyn HeldLock) -> Result<(), EngineError>;

    /// Drops older generations; true when none is left. Where the engine knows who reads one, it
    /// stays until then; a search in one that is gone fails with [`EngineError::Missing`].
    fn sweep(&self, current: u32) -> Result<bool, EngineError>;

    /// The folder that holds all generations; `None` for an engine that has none on this machine.
    fn folder(&self) -> Option<&Path> {
        None
    }

    /// The newest generation that is there, whole or not; none where there is none, or nobody knows.
    fn newest(&self) -> Result<Option<u32>, EngineError> {
        Ok(None)
    }

    /// Whether a killed rebuild left a part of the generation after `current` that a server, too, may
    /// discard while it holds the write lock; an engine that leaves this to the next writer has none.
    fn has_unfinished(&self, _current: u32) -> Result<bool, EngineError> {
        Ok(false)
    }
}

/// Generations in folders below one folder.
pub struct Folders {
    root: PathBuf,
}

impl Folders {
    /// Generations below `root`.
    pub fn new(root: PathBuf) -> Self {
        Self { root }
    }

    fn of(&self, generation: u32) -> PathBuf {
        generation_folder(&self.root, generation)
    }
}

/// The folder of a generation below `INDEX_DIR`.
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
            // A merge of a writer that has just failed may add a file meanwhile.
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
        // One that was published may be in use, by a database that is newer than this one.
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

    /// Nobody knows which servers still search them; one that does finds the table missing, and looks
    /// for the newer generation at once.
    fn sweep(&self, current: u32) -> Result<bool, EngineError> {
        let mut old = self.generations()?;
        old.retain(|generation| *generation < current);
        old.into_iter().try_for_each(|generation| self.remove(generation, &()))?;
        Ok(true)
    }
}
