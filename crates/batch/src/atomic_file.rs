//! Writes files atomically, so that they appear either complete or not at all.

use std::fs::{self, File, Permissions};
use std::io::{self, Seek, SeekFrom, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// The mode of a new file before the umask is applied. [`File::create`] uses the same.
const MODE: u32 = 0o666;

/// Readable only by the owner.
const PRIVATE: u32 = 0o600;

/// A file that only gets its final name once it is complete.
///
/// Readers see either the old file or the new one but never half of it, even after a power failure.
/// [`Self::commit`] syncs the content, renames the file and syncs the folder. If the value is
/// dropped without a commit, the file is removed. A process that is killed leaves a `.….tmp` file
/// behind.
///
/// ```
/// use std::io::Write;
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("report.json");
/// let mut file = batch::AtomicFile::create_in(folder.path())?;
/// file.write_all(b"{}")?;
/// assert!(!path.exists());
/// file.commit(&path)?;
/// assert_eq!(std::fs::read(&path)?, b"{}");
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct AtomicFile {
    file: File,
    temporary: PathBuf,
    named: bool,
}

impl AtomicFile {
    /// Creates an empty file with a unique name in `folder`. Use the folder of the final path,
    /// because files can't be renamed across file systems.
    ///
    /// # Errors
    /// Returns an error if the folder is not writable.
    pub fn create_in(folder: &Path) -> io::Result<Self> {
        Self::create_with(folder, MODE)
    }

    /// Like [`create_in`](Self::create_in), but only the owner can read the file.
    ///
    /// # Errors
    /// Returns an error if the folder is not writable.
    pub fn create_private_in(folder: &Path) -> io::Result<Self> {
        Self::create_with(folder, PRIVATE)
    }

    fn create_with(folder: &Path, mode: u32) -> io::Result<Self> {
        let file = tempfile::Builder::new()
            .prefix(".")
            .suffix(".tmp")
            .permissions(Permissions::from_mode(mode))
            .tempfile_in(folder)?;
        let (file, temporary) = file.keep().map_err(|error| error.error)?;
        Ok(Self { file, temporary, named: false })
    }

    /// Creates an empty file with the given name, or truncates one that a killed process left
    /// behind. Use this only if no other process writes to the folder.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written.
    pub fn create_as(temporary: PathBuf) -> io::Result<Self> {
        let file = File::create(&temporary)?;
        Ok(Self { file, temporary, named: false })
    }

    /// Returns the file's temporary path.
    pub fn path(&self) -> &Path {
        &self.temporary
    }

    /// Returns the open file, e.g. for positioned writes or for its length.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Syncs the file and renames it to `path`, replacing any existing file.
    ///
    /// # Errors
    /// Returns an error if the disk is full or fails, or if `path` is on another file system. The
    /// file is then removed and `path` is unchanged. However, if only syncing the folder failed,
    /// the file is already at `path`.
    pub fn commit(mut self, path: &Path) -> io::Result<()> {
        self.file.sync_all()?;
        fs::rename(&self.temporary, path)?;
        self.named = true;
        sync_folder(folder_of(path))
    }
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Seek for AtomicFile {
    fn seek(&mut self, position: SeekFrom) -> io::Result<u64> {
        self.file.seek(position)
    }
}

impl Drop for AtomicFile {
    fn drop(&mut self) {
        if !self.named {
            let _ = fs::remove_file(&self.temporary);
        }
    }
}

/// Atomically replaces the content of a file, creating the file if needed.
///
/// # Errors
/// Returns an error if the folder isn't writable or the disk is full, and leaves the old file
/// unchanged.
///
/// ```
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("CURRENT");
/// batch::write_atomically(&path, b"first\n")?;
/// batch::write_atomically(&path, b"second\n")?;
/// assert_eq!(std::fs::read(&path)?, b"second\n");
/// assert_eq!(std::fs::read_dir(folder.path())?.count(), 1);
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn write_atomically(path: &Path, content: &[u8]) -> io::Result<()> {
    let mut file = AtomicFile::create_in(folder_of(path))?;
    file.write_all(content)?;
    file.commit(path)
}

/// Copies a file atomically, so that the copy is either complete or doesn't appear at all.
///
/// # Errors
/// Returns an error if `from` can't be read or if the folder of `to` isn't writable, and leaves
/// `to` unchanged.
///
/// ```
/// let folder = tempfile::tempdir()?;
/// let (from, to) = (folder.path().join("a"), folder.path().join("b"));
/// std::fs::write(&from, "content")?;
/// batch::copy_atomically(&from, &to)?;
/// assert_eq!(std::fs::read(&to)?, b"content");
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn copy_atomically(from: &Path, to: &Path) -> io::Result<()> {
    let mut source = File::open(from)?;
    let mut copy = AtomicFile::create_in(folder_of(to))?;
    io::copy(&mut source, &mut copy.file)?;
    copy.commit(to)
}

/// Syncs a folder so that renames in it survive a power failure.
///
/// # Errors
/// Returns an error if the folder cannot be opened or synced.
pub fn sync_folder(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}

/// Returns the parent folder of a path, or the current folder if the path doesn't have a parent.
fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    #[test]
    fn a_dropped_file_is_removed_and_the_old_one_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("kept");
        write_atomically(&path, b"old").unwrap();
        let mut file = AtomicFile::create_in(folder.path()).unwrap();
        file.write_all(b"half of the ne").unwrap();
        let name = file.path().file_name().unwrap().to_str().unwrap().to_owned();
        assert!(name.starts_with('.') && name.ends_with(".tmp"), "{name}");
        drop(file);
        assert_eq!(names(folder.path()), ["kept"]);
        assert_eq!(fs::read(&path).unwrap(), b"old");
    }

    #[test]
    fn a_failed_commit_removes_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let file = AtomicFile::create_in(folder.path()).unwrap();
        assert!(file.commit(&folder.path().join("missing/file")).is_err());
        assert_eq!(names(folder.path()), Vec::<String>::new());
    }

    #[test]
    fn a_known_name_replaces_the_file_that_a_crash_left() {
        let folder = tempfile::tempdir().unwrap();
        let temporary = folder.path().join(".x.tmp");
        fs::write(&temporary, "left by a crash").unwrap();
        let mut file = AtomicFile::create_as(temporary).unwrap();
        file.seek(SeekFrom::Start(2)).unwrap();
        file.write_all(b"new").unwrap();
        file.commit(&folder.path().join("x")).unwrap();
        assert_eq!(names(folder.path()), ["x"]);
        assert_eq!(fs::read(folder.path().join("x")).unwrap(), b"\0\0new");
    }

    #[test]
    fn new_files_have_the_mode_that_the_umask_leaves() {
        let folder = tempfile::tempdir().unwrap();
        let (ours, other) = (folder.path().join("a"), folder.path().join("b"));
        write_atomically(&ours, b"x").unwrap();
        fs::write(&other, "x").unwrap();
        let mode = |path| fs::metadata(path).unwrap().permissions().mode();
        assert_eq!(mode(&ours), mode(&other));
    }

    #[test]
    fn private_files_are_private_from_their_creation() {
        let folder = tempfile::tempdir().unwrap();
        let file = AtomicFile::create_private_in(folder.path()).unwrap();
        assert_eq!(file.file().metadata().unwrap().permissions().mode() & 0o777, PRIVATE);
    }

    #[test]
    fn a_failed_copy_leaves_no_file() {
        let folder = tempfile::tempdir().unwrap();
        let to = folder.path().join("to");
        assert!(copy_atomically(&folder.path().join("from"), &to).is_err());
        assert_eq!(names(folder.path()), Vec::<String>::new());
    }
}
