//! Makes the inverted index usable for readers without write permission, and lists its files.

use std::collections::BTreeSet;
use std::fs::{self, File};
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

/// Tantivy's list of the files it has created. It never checks or deletes other files.
const MANAGED: &str = ".managed.json";
/// Length of a segment name, which is followed by an extension.
const SEGMENT_NAME: usize = 32;

/// Like Tantivy's directory, but readers without write permission can lock it, and its list of
/// files includes files that were copied into the folder.
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

    /// Reads the list of files and adds the segment files found in the folder. Backups don't
    /// contain the list, so restored files would otherwise neither be checked nor be deleted after
    /// a takedown.
    fn managed(&self) -> Result<Vec<u8>, OpenReadError> {
        let stored = match self.inner.atomic_read(Path::new(MANAGED)) {
            Err(OpenReadError::FileDoesNotExist(_)) => b"[]".to_vec(),
            read => read?,
        };
        // Tantivy reports damage to the list.
        let Ok(mut files) = serde_json::from_slice::<BTreeSet<String>>(&stored) else {
            return Ok(stored);
        };
        let failed = |error| OpenReadError::wrap_io_error(error, self.folder.clone());
        for entry in fs::read_dir(&self.folder).map_err(failed)? {
            let name = entry.map_err(failed)?.file_name();
            files.extend(name.to_str().filter(|name| is_of_segment(name)).map(str::to_owned));
        }
        serde_json::to_vec(&files).map_err(|error| failed(error.into()))
    }
}

/// Returns `true` if this is the name of a segment file.
fn is_of_segment(name: &str) -> bool {
    name.split_once('.').is_some_and(|(segment, _)| {
        segment.len() == SEGMENT_NAME && segment.bytes().all(|byte| byte.is_ascii_hexdigit())
    })
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
        if path == Path::new(MANAGED) {
            return self.managed();
        }
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
    use super::super::{EmbeddedIndex, copy_index};
    use super::*;
    use crate::engine::index::{FileIndex, NewFile};
    use crate::engine::journal::{Mode, NamedBucket};
    use crate::model::Attributes;

    /// Publishes a file and copies the index. Returns the copy.
    fn copied_index() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let index = EmbeddedIndex::open_or_create(folder.path()).unwrap();
        let mut writer = index.writer(64).unwrap();
        writer.begin(1).unwrap();
        let attributes = Attributes::from_fn(|_| 1);
        let path = "dir/zyzzyvas.txt".to_owned();
        writer.add(&[NewFile { bucket: 1, kind: 0, path, attributes, is_changed: false }]).unwrap();
        let named = NamedBucket { id: 1, truncated: false, partial: false };
        writer.publish(Mode::Append, vec![named], 1).unwrap();
        let copy = tempfile::tempdir().unwrap();
        copy_index(folder.path(), copy.path()).unwrap();
        copy
    }

    /// Returns the term dictionaries.
    fn dictionaries(index: &Path) -> Vec<PathBuf> {
        let entries = fs::read_dir(index.join("words")).unwrap();
        let paths = entries.map(|entry| entry.unwrap().path());
        paths.filter(|path| path.extension().is_some_and(|it| it == "term")).collect()
    }

    #[test]
    fn damage_in_a_copy_is_found() {
        let copy = copied_index();
        for path in dictionaries(copy.path()) {
            let mut bytes = fs::read(&path).unwrap();
            let middle = bytes.len() / 4;
            bytes[middle] ^= 1;
            // The file might be a hard link.
            fs::remove_file(&path).unwrap();
            fs::write(&path, bytes).unwrap();
        }
        let faults = EmbeddedIndex::open(copy.path()).unwrap().verify().unwrap();
        assert!(faults.iter().any(|fault| fault.ends_with(".term is damaged")), "{faults:?}");
    }

    #[test]
    fn removal_from_a_copy_deletes_the_files_of_its_segments() {
        let copy = copied_index();
        let index = EmbeddedIndex::open_or_create(copy.path()).unwrap();
        let restored = dictionaries(copy.path());
        assert!(!restored.is_empty());
        index.writer(64).unwrap().remove(1, 1, None, None).unwrap();
        assert!(restored.iter().all(|path| !path.exists()));
    }

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
