//! Copies and hard-links files.

use std::fmt;
use std::fs;
use std::io::{self, ErrorKind};
use std::iter::Sum;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::{ByteSize, Count, copy_atomically, sync_folder};

/// Size of a backup or of a part: the number of files, and their total size in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Size {
    files: u64,
    bytes: u64,
}

impl Sum for Size {
    fn sum<I: Iterator<Item = Self>>(sizes: I) -> Self {
        sizes.fold(Self::default(), |all, one| Self {
            files: all.files + one.files,
            bytes: all.bytes + one.bytes,
        })
    }
}

impl Size {
    /// Formats the exact number of bytes, for comparing sizes that differ by just a few bytes.
    pub(super) fn exact(self) -> String {
        format!("{}, {} B", self.files_only(), Count(self.bytes))
    }

    fn files_only(self) -> String {
        let plural = if self.files == 1 { "" } else { "s" };
        format!("{} file{plural}", Count(self.files))
    }
}

impl fmt::Display for Size {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}, {}", self.files_only(), ByteSize(self.bytes))
    }
}

/// Returns the size of a file, or of everything in a folder.
pub(super) fn size_of(path: &Path) -> io::Result<Size> {
    if path.is_file() {
        return Ok(Size { files: 1, bytes: fs::metadata(path)?.len() });
    }
    fs::read_dir(path)?.map(|entry| size_of(&entry?.path())).sum()
}

/// Returns whether a path doesn't exist or is an empty folder.
pub(super) fn is_free(path: &Path) -> io::Result<bool> {
    match fs::read_dir(path) {
        Ok(mut entries) => Ok(entries.next().is_none()),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(true),
        Err(error) if error.kind() == ErrorKind::NotADirectory => Ok(false),
        Err(error) => Err(error),
    }
}

/// Returns whether a folder can't be replaced by renaming another folder to its path. This applies
/// to mount points, symbolic links, and paths without a name such as `..`.
pub(super) fn is_fixed(folder: &Path) -> io::Result<bool> {
    let Some(parent) = folder.parent().filter(|_| folder.file_name().is_some()) else {
        return Ok(true);
    };
    let found = match fs::symlink_metadata(folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
        found => found?,
    };
    let parent = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
    Ok(found.is_symlink() || found.dev() != fs::metadata(parent)?.dev())
}

/// Calls `work` with the name and path of each file in a folder, including links to files. Hidden
/// files are skipped, and a missing folder counts as empty.
pub(super) fn each_file(
    folder: &Path,
    mut work: impl FnMut(&str, &Path) -> io::Result<()>,
) -> io::Result<()> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        entries => entries?,
    };
    for entry in entries {
        let entry = entry?;
        let name = entry.file_name();
        let Some(name) = name.to_str().filter(|name| !name.starts_with('.')) else { continue };
        match fs::metadata(entry.path()) {
            Ok(found) if found.is_file() => work(name, &entry.path())?,
            // The file was removed after we listed the folder, or is a link to a missing file.
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(())
}

/// Hard-links a file that never changes, or copies it if that isn't possible, for example across
/// file systems. An existing file is kept.
///
/// # Errors
/// Returns an error if a file cannot be read or written.
pub fn link_or_copy(from: &Path, to: &Path) -> io::Result<()> {
    // A hard link to a symbolic link would still depend on the original.
    match fs::canonicalize(from).and_then(|file| fs::hard_link(file, to)) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        Err(error) if error.kind() != ErrorKind::NotFound => copy_atomically(from, to),
        linked => linked,
    }
}

/// Syncs a folder and all of its subfolders.
pub(super) fn sync_folders(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            sync_folders(&entry.path())?;
        }
    }
    sync_folder(folder)
}
