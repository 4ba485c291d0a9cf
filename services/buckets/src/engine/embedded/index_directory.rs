//! Makes the inverted index usable for readers without write permission.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tantivy::directory::error::{DeleteError, LockError, OpenReadError, OpenWriteError};
use tantivy::directory::{
    Directory, DirectoryLock, FileHandle, Lock, META_LOCK, MmapDirectory, WatchCallback,
    WatchHandle, WritePtr,
};

use super::lock::open_to_read;
use crate::engine::error::EngineError;

/// Tantivy's directory, except that readers without write permission can lock it.
#[derive(Clone, Debug)]
pub(super) struct IndexDirectory {
    inner: MmapDirectory,
    folder: PathBuf,
}

impl IndexDirectory {
    pub(super) fn open(folder: &Path) -> Result<Self, EngineError> {
        let inner = MmapDirectory::open(folder)
            .map_err(|error| EngineError::Broken(format!("{}: {error}", folder.display())))?;
        Ok(Self { inner, folder: folder.to_owned() })
    }

    /// Locks for reading. If `taken` failed because the lock file isn't writable, tries again with
    /// a read-only handle.
    fn read_lock(
        &self,
        taken: Result<DirectoryLock, LockError>,
    ) -> Result<DirectoryLock, LockError> {
        let Err(LockError::IoError(error)) = &taken else { return taken };
        let path = self.folder.join(&META_LOCK.filepath);
        let refused = Err(io::Error::from(error.kind()));
        match open_to_read(&path, refused).and_then(locked) {
            Ok(file) => Ok(DirectoryLock::from(Box::new(file))),
            Err(_) => taken,
        }
    }
}

fn locked(file: Option<File>) -> io::Result<Option<File>> {
    file.as_ref().map_or(Ok(()), File::lock)?;
    Ok(file)
}

impl Directory for IndexDirectory {
    fn get_file_handle(&self, path: &Path) -> Result<Arc<dyn FileHandle>, OpenReadError> {
        self.inner.get_file_handle(path)
    }

    fn delete(&self, path: &Path) -> Result<(), DeleteError> {
        self.inner.delete(path)
    }

    fn exists(&self, path: &Path) -> Result<bool, OpenReadError> {
        self.inner.exists(path)
    }

    fn open_write(&self, path: &Path) -> Result<WritePtr, OpenWriteError> {
        self.inner.open_write(path)
    }

    fn atomic_read(&self, path: &Path) -> Result<Vec<u8>, OpenReadError> {
        self.inner.atomic_read(path)
    }

    fn atomic_write(&self, path: &Path, data: &[u8]) -> io::Result<()> {
        self.inner.atomic_write(path, data)
    }

    fn sync_directory(&self) -> io::Result<()> {
        self.inner.sync_directory()
    }

    fn acquire_lock(&self, lock: &Lock) -> Result<DirectoryLock, LockError> {
        let taken = self.inner.acquire_lock(lock);
        if lock.filepath == META_LOCK.filepath { self.read_lock(taken) } else { taken }
    }

    fn watch(&self, callback: WatchCallback) -> tantivy::Result<WatchHandle> {
        self.inner.watch(callback)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn read_only_disk_is_locked_without_writing() {
        let folder = tempfile::tempdir().unwrap();
        let directory = IndexDirectory::open(folder.path()).unwrap();
        let failed = |kind: io::ErrorKind| Err(LockError::wrap_io_error(kind.into()));
        assert!(directory.read_lock(failed(io::ErrorKind::ReadOnlyFilesystem)).is_ok());
        assert!(directory.read_lock(failed(io::ErrorKind::StorageFull)).is_err());
        let path = folder.path().join(&META_LOCK.filepath);
        assert!(!path.exists());
        drop(directory.acquire_lock(&META_LOCK).unwrap());
        let held = directory.read_lock(failed(io::ErrorKind::ReadOnlyFilesystem)).unwrap();
        assert!(File::open(&path).unwrap().try_lock().is_err());
        drop(held);
        File::open(&path).unwrap().try_lock().unwrap();
    }
}
