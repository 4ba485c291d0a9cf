//! Files that are there whole or not at all.

use std::fs::{self, File, Permissions};
use std::io::{self, Seek, SeekFrom, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// What the system's umask leaves of this is the mode of a new file, as with [`File::create`].
const MODE: u32 = 0o666;

/// A file that gets its name when it is complete.
///
/// A reader, also one after a power failure, sees the old file or the new one, never a part:
/// [`Self::commit`] writes the content back to the disk, renames the file, and writes the folder
/// back. Dropped before that, the file removes itself; what a killed process leaves behind is
/// named `.….tmp`.
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
    /// Makes an empty file with a name of its own in `folder`, where the final file will be too:
    /// a rename does not cross file systems. Several writers do not disturb each other.
    ///
    /// # Errors
    /// The folder cannot be written.
    ///
    /// ```
    /// let folder = tempfile::tempdir()?;
    /// let file = batch::AtomicFile::create_in(folder.path())?;
    /// assert!(file.path().exists());
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn create_in(folder: &Path) -> io::Result<Self> {
        let mode = Permissions::from_mode(MODE);
        let file = tempfile::Builder::new()
            .prefix(".")
            .suffix(".tmp")
            .permissions(mode)
            .tempfile_in(folder)?;
        let (file, temporary) = file.keep().map_err(|error| error.error)?;
        Ok(Self { file, temporary, named: false })
    }

    /// Makes an empty file with a known name, or empties the one that a killed process left: for
    /// folders that one process at a time writes.
    ///
    /// # Errors
    /// The file cannot be written.
    ///
    /// ```
    /// let folder = tempfile::tempdir()?;
    /// let file = batch::AtomicFile::create_as(folder.path().join(".build.tmp"))?;
    /// assert!(file.path().ends_with(".build.tmp"));
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn create_as(temporary: PathBuf) -> io::Result<Self> {
        let file = File::create(&temporary)?;
        Ok(Self { file, temporary, named: false })
    }

    /// Where the file lies until it is complete.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// let file = batch::AtomicFile::create_in(folder.path())?;
    /// assert_eq!(file.path().parent(), Some(folder.path()));
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn path(&self) -> &Path {
        &self.temporary
    }

    /// The open file, for positioned writes and its length.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// let file = batch::AtomicFile::create_in(folder.path())?;
    /// file.file().set_len(4096)?;
    /// assert_eq!(file.file().metadata()?.len(), 4096);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Gives the file its name, in place of a file that may have it.
    ///
    /// # Errors
    /// The disk is full or failing, or `path` is on another file system; then the file is removed,
    /// and what was at `path` is as it was. If only the folder could not be written back, the new
    /// file has its name already.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("CURRENT");
    /// batch::AtomicFile::create_in(folder.path())?.commit(&path)?;
    /// assert!(path.exists());
    /// # Ok::<(), std::io::Error>(())
    /// ```
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

/// Replaces the content of a file, or makes the file, in one step.
///
/// # Errors
/// The folder cannot be written, or the disk is full; the old file is as it was.
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

/// Copies a file so that the copy is there whole or not at all.
///
/// # Errors
/// `from` cannot be read, or the folder of `to` cannot be written; what was at `to` is as it was.
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

/// Writes a folder back to the disk, so that a rename in it survives a power failure.
///
/// # Errors
/// The folder cannot be opened or written back.
///
/// ```
/// let folder = tempfile::tempdir()?;
/// std::fs::write(folder.path().join("new"), "x")?;
/// batch::sync_folder(folder.path())?;
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn sync_folder(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}

/// A path without a folder lies in the current one.
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
    fn a_file_that_is_dropped_removes_itself_and_leaves_the_old_one() {
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
    fn a_commit_that_fails_removes_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let file = AtomicFile::create_in(folder.path()).unwrap();
        assert!(file.commit(&folder.path().join("missing/file")).is_err());
        assert_eq!(names(folder.path()), Vec::<String>::new());
    }

    #[test]
    fn a_known_name_takes_the_place_of_what_a_crash_left() {
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
    fn modes_are_those_of_other_new_files() {
        let folder = tempfile::tempdir().unwrap();
        let (ours, other) = (folder.path().join("a"), folder.path().join("b"));
        write_atomically(&ours, b"x").unwrap();
        fs::write(&other, "x").unwrap();
        let mode = |path| fs::metadata(path).unwrap().permissions().mode();
        assert_eq!(mode(&ours), mode(&other));
    }

    #[test]
    fn a_copy_of_nothing_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let to = folder.path().join("to");
        assert!(copy_atomically(&folder.path().join("from"), &to).is_err());
        assert_eq!(names(folder.path()), Vec::<String>::new());
    }
}
