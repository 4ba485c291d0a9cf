//! The folder for one kind. It contains the corpus files, and `CURRENT`, which holds the name of
//! the corpus in use.

use std::fs::{self, File, TryLockError};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

use crate::model::{Kind, lower_hex};

/// Name of the file that contains the name of the corpus in use.
pub const CURRENT: &str = "CURRENT";
pub(super) const CURRENT_TMP: &str = "CURRENT.tmp";
const LOCK: &str = ".lock";
const EXTENSION: &str = "pwr";
/// File extension for tags, without the dot.
const TAGS: &str = "tags";

/// The folder for one kind.
#[derive(Clone, Debug)]
pub struct KindFolder {
    path: PathBuf,
    kind: Kind,
}

/// A lock that is held while a command is changing the folder. The operating system releases it
/// when the process exits.
#[derive(Debug)]
pub struct FolderLock {
    _file: File,
}

/// Identifies a version of `CURRENT` and the corpus it points to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Signature {
    name: Option<String>,
    /// Whether `CURRENT` exists but can't be used.
    is_damaged: bool,
    file: Option<(u64, u64, i64, i64)>,
}

impl KindFolder {
    /// Returns a kind's folder in the data folder.
    pub fn new(data_dir: &Path, kind: Kind) -> Self {
        Self { path: data_dir.join(kind.name()), kind }
    }

    /// Returns the folder's path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the kind of the folder's corpora.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Returns the path for a corpus with ID `corpus_id`.
    pub fn corpus_path(&self, corpus_id: &[u8; 20]) -> PathBuf {
        self.path.join(format!("{}.{EXTENSION}", lower_hex(corpus_id)))
    }

    /// Returns the corpus file that `CURRENT` points to, or `None` if there is no `CURRENT`.
    ///
    /// # Errors
    /// Returns an error if `CURRENT` cannot be read, or doesn't contain a valid corpus file name.
    pub fn current(&self) -> io::Result<Option<PathBuf>> {
        let text = match fs::read_to_string(self.path.join(CURRENT)) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let name = text.strip_suffix('\n').unwrap_or(&text);
        if !is_corpus_name(name) {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "CURRENT does not contain the name of a corpus file",
            ));
        }
        Ok(Some(self.path.join(name)))
    }

    /// Returns the current signature. A server reloads the corpus when it changes.
    pub fn signature(&self) -> Signature {
        let current = self.current();
        let is_damaged = current.is_err();
        let path = current.ok().flatten();
        let file = path.as_ref().and_then(|path| fs::metadata(path).ok());
        Signature {
            name: path.map(|path| path.display().to_string()),
            is_damaged,
            file: file.map(|file| (file.dev(), file.ino(), file.mtime(), file.mtime_nsec())),
        }
    }

    /// Creates the folder, locks it, and cleans up after crashed commands.
    ///
    /// # Errors
    /// Returns an error if another command holds the lock, or the folder is not writable.
    pub fn lock(&self) -> anyhow::Result<FolderLock> {
        fs::create_dir_all(&self.path)
            .with_context(|| format!("cannot create the folder {}", self.path.display()))?;
        let path = self.path.join(LOCK);
        let file =
            File::create(&path).with_context(|| format!("cannot write {}", path.display()))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                bail!("another command is changing {}; try again later", self.path.display())
            }
            Err(TryLockError::Error(error)) => {
                return Err(error).with_context(|| format!("cannot lock {}", path.display()));
            }
        }
        for leftover in self.leftovers()? {
            fs::remove_file(&leftover)
                .with_context(|| format!("cannot remove {}", leftover.display()))?;
        }
        Ok(FolderLock { _file: file })
    }

    /// Lists unfinished files, which only the holder of the lock writes, and tag files without a
    /// corpus.
    fn leftovers(&self) -> anyhow::Result<Vec<PathBuf>> {
        self.files(|name| {
            let corpus = name.strip_suffix(TAGS).map(|stem| format!("{stem}{EXTENSION}"));
            name == CURRENT_TMP
                || (name.starts_with('.') && name.ends_with(".tmp"))
                || corpus.is_some_and(|corpus| !self.path.join(corpus).exists())
        })
    }

    /// Lists all complete corpus files.
    pub fn corpora(&self) -> anyhow::Result<Vec<PathBuf>> {
        self.files(is_corpus_name)
    }

    /// Lists all complete corpus files, and the tag files of mirrored ones.
    pub fn finished(&self) -> anyhow::Result<Vec<PathBuf>> {
        self.files(|name| {
            let corpus = name.strip_suffix(TAGS).map(|stem| format!("{stem}{EXTENSION}"));
            is_corpus_name(corpus.as_deref().unwrap_or(name))
        })
    }

    fn files(&self, wanted: impl Fn(&str) -> bool) -> anyhow::Result<Vec<PathBuf>> {
        let entries = match fs::read_dir(&self.path) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => {
                return Err(error).with_context(|| format!("cannot read {}", self.path.display()));
            }
        };
        let mut files = Vec::new();
        for entry in entries {
            let entry = entry?;
            if entry.file_name().to_str().is_some_and(&wanted) {
                files.push(entry.path());
            }
        }
        files.sort();
        Ok(files)
    }
}

pub(super) fn is_corpus_name(name: &str) -> bool {
    let stem = name.strip_suffix(EXTENSION).and_then(|stem| stem.strip_suffix('.'));
    stem.is_some_and(|stem| !stem.is_empty() && stem.bytes().all(|b| b.is_ascii_alphanumeric()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::{CorpusWriter, activate_all};

    #[test]
    fn current_names_one_file_of_the_folder() {
        let data = tempfile::tempdir().unwrap();
        let folder = KindFolder::new(data.path(), Kind::Sha1);
        assert_eq!(folder.current().unwrap(), None);
        let lock = folder.lock().unwrap();
        let activate = |path: &Path| activate_all([(&folder, &lock, path)].into_iter());
        let writer = CorpusWriter::create(&folder, &lock).unwrap();
        let (corpus, _) = writer.complete("", 0).unwrap().name().unwrap();
        let before = folder.signature();
        activate(&corpus).unwrap();
        assert_eq!(folder.current().unwrap(), Some(corpus.clone()));
        assert_ne!(folder.signature(), before);
        let other = data.path().join("other.pwr");
        assert!(activate(&other).is_err());
        let damaged = folder.corpus_path(&[0xAB; 20]);
        fs::write(&damaged, "x").unwrap();
        assert!(activate(&damaged).is_err());
        assert_eq!(folder.current().unwrap(), Some(corpus));
        fs::write(folder.path().join(CURRENT), "../secret\n").unwrap();
        assert!(folder.current().is_err());
    }

    #[test]
    fn second_lock_is_refused_and_a_lock_removes_leftovers() {
        let data = tempfile::tempdir().unwrap();
        let folder = KindFolder::new(data.path(), Kind::Ntlm);
        fs::create_dir_all(folder.path()).unwrap();
        for name in [".new.tmp", CURRENT_TMP, "gone.tags", "keep.tags", "keep.pwr"] {
            fs::write(folder.path().join(name), "x").unwrap();
        }
        let lock = folder.lock().unwrap();
        assert_eq!(folder.leftovers().unwrap(), Vec::<PathBuf>::new());
        assert_eq!(folder.corpora().unwrap().len(), 1);
        assert!(folder.lock().unwrap_err().to_string().contains("another command"));
        drop(lock);
        folder.lock().unwrap();
    }
}
