//! Temporary folders.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::must::must;

/// A temporary folder that is removed at the end of the test.
///
/// ```
/// let folder = testkit::Folder::new();
/// let file = folder.write("lists/one.txt", "a@example.com\n");
/// assert_eq!(file, folder.join("lists/one.txt"));
/// assert_eq!(folder.read("lists/one.txt"), "a@example.com\n");
/// ```
#[derive(Debug)]
pub struct Folder(TempDir);

impl Folder {
    /// Creates an empty folder.
    ///
    /// # Panics
    /// Panics if the system's temporary folder is not writable.
    #[expect(clippy::new_without_default, reason = "it makes something outside the process")]
    pub fn new() -> Self {
        Self(must("make a temporary folder", TempDir::with_prefix("quintet-")))
    }

    /// Returns the path of the folder.
    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// Returns the path of `name` inside the folder.
    pub fn join(&self, name: impl AsRef<Path>) -> PathBuf {
        self.0.path().join(name)
    }

    /// Writes a file and returns its path. Parent folders are created as needed.
    ///
    /// # Panics
    /// Panics if the file can't be written.
    pub fn write(&self, name: impl AsRef<Path>, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.join(name);
        let shown = path.display().to_string();
        if let Some(parent) = path.parent() {
            must(&shown, std::fs::create_dir_all(parent));
        }
        must(&shown, std::fs::write(&path, content));
        path
    }

    /// Finds everything in the folder that other users can access, and returns the paths with their
    /// modes.
    ///
    /// ```
    /// use std::fs::{Permissions, set_permissions};
    /// use std::os::unix::fs::PermissionsExt;
    ///
    /// let folder = testkit::Folder::new();
    /// let file = folder.write("open.txt", "");
    /// set_permissions(&file, Permissions::from_mode(0o644))?;
    /// assert_eq!(folder.open_to_others(), [(file, 0o644)]);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    ///
    /// # Panics
    /// Panics if a folder cannot be read.
    pub fn open_to_others(&self) -> Vec<(PathBuf, u32)> {
        let (mut open, mut folders) = (Vec::new(), vec![self.path().to_owned()]);
        while let Some(folder) = folders.pop() {
            for entry in must("read a folder", std::fs::read_dir(folder)).flatten() {
                // The file might be gone by now.
                let Ok(found) = entry.metadata() else { continue };
                if found.is_dir() {
                    folders.push(entry.path());
                }
                let mode = found.permissions().mode() & 0o7777;
                if mode & 0o077 != 0 {
                    open.push((entry.path(), mode));
                }
            }
        }
        open.sort();
        open
    }

    /// Reads a file as text.
    ///
    /// # Panics
    /// Panics if it cannot be read.
    pub fn read(&self, name: impl AsRef<Path>) -> String {
        let path = self.join(name);
        must(&path.display().to_string(), std::fs::read_to_string(&path))
    }
}
