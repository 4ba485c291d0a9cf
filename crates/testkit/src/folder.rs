//! Folders that vanish.

use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::must::must;

/// A folder that is removed at the end of the test.
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
    /// Makes an empty folder.
    ///
    /// # Panics
    /// When the system's temporary folder cannot be written.
    #[expect(clippy::new_without_default, reason = "it makes something outside the process")]
    pub fn new() -> Self {
        Self(must("make a temporary folder", TempDir::with_prefix("quintet-")))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// A path inside it.
    pub fn join(&self, name: impl AsRef<Path>) -> PathBuf {
        self.0.path().join(name)
    }

    /// Writes a file, with the folders above it, and returns its path.
    ///
    /// # Panics
    /// When the file cannot be written.
    pub fn write(&self, name: impl AsRef<Path>, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.join(name);
        let shown = path.display().to_string();
        if let Some(parent) = path.parent() {
            must(&shown, std::fs::create_dir_all(parent));
        }
        must(&shown, std::fs::write(&path, content));
        path
    }

    /// The text of a file.
    ///
    /// # Panics
    /// When it cannot be read.
    pub fn read(&self, name: impl AsRef<Path>) -> String {
        let path = self.join(name);
        must(&path.display().to_string(), std::fs::read_to_string(&path))
    }
}
