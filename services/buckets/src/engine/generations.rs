//! Where the generations of an index are: folders, or tables of a cluster.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::cluster::Cluster;
use super::embedded::{EmbeddedIndex, FolderLock, retry_while};
use super::error::EngineError;
use super::index::FileIndex;

/// Servers follow a switch within two seconds.
const NOTICED: Duration = Duration::from_secs(3);

/// The write lock, until it is dropped.
pub type WriteLock = Box<dyn Send>;

/// Opens, makes and drops generations, whatever the engine.
pub trait Generations: Send + Sync {
    /// Takes the write lock, or fails with what its holder recorded about itself.
    fn lock(&self, holder: &str) -> Result<WriteLock, EngineError>;

    /// Opens a generation.
    fn open(&self, generation: u32) -> Result<Arc<dyn FileIndex>, EngineError>;

    /// Opens a generation, or makes an empty one.
    fn open_or_create(&self, generation: u32) -> Result<Arc<dyn FileIndex>, EngineError>;

    /// Drops what an earlier attempt left of a generation.
    fn discard(&self, generation: u32) -> Result<(), EngineError>;

    /// Drops older generations that no process reads any more; true when none is left.
    fn sweep(&self, current: u32) -> Result<bool, EngineError>;

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

    fn folder(&self, generation: u32) -> PathBuf {
        generation_folder(&self.root, generation)
    }
}

/// The folder of a generation below `INDEX_DIR`.
pub fn generation_folder(root: &Path, generation: u32) -> PathBuf {
    root.join(format!("generation-{generation}"))
}

impl Generations for Folders {
    fn lock(&self, holder: &str) -> Result<WriteLock, EngineError> {
        Ok(Box::new(FolderLock::exclusive(&self.root, holder)?))
    }

    fn open(&self, generation: u32) -> Result<Arc<dyn FileIndex>, EngineError> {
        Ok(Arc::new(EmbeddedIndex::open(&self.folder(generation))?))
    }

    fn open_or_create(&self, generation: u32) -> Result<Arc<dyn FileIndex>, EngineError> {
        Ok(Arc::new(EmbeddedIndex::open_or_create(&self.folder(generation))?))
    }

    fn discard(&self, generation: u32) -> Result<(), EngineError> {
        let folder = self.folder(generation);
        if folder.exists() {
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
            let folder = self.folder(generation);
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

    fn has_unfinished(&self, current: u32) -> Result<bool, EngineError> {
        let next = self.folder(current + 1);
        if !next.exists() || !self.folder(current).exists() {
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

    fn discard(&self, generation: u32) -> Result<(), EngineError> {
        self.remove(generation)
    }

    /// Waits until every server has noticed the switch: a dropped table cannot be searched.
    fn sweep(&self, current: u32) -> Result<bool, EngineError> {
        let mut old = self.generations()?;
        old.retain(|generation| *generation < current);
        if !old.is_empty() {
            std::thread::sleep(NOTICED);
        }
        old.into_iter().try_for_each(|generation| self.remove(generation))?;
        Ok(true)
    }
}
