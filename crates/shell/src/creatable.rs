//! Whether `serve` can create what is missing, for `serve --check`.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::Path;

use rustix::fs::Access;

/// Checks whether a file or folder that doesn't exist yet could be created, without creating it.
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// shell::require_creatable(&folder.path().join("data/notes.db"))?;
/// std::fs::write(folder.path().join("data"), "not a folder")?;
/// assert!(shell::require_creatable(&folder.path().join("data/notes.db")).is_err());
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
/// Returns an error if the nearest existing folder is not writable.
pub fn require_creatable(path: &Path) -> io::Result<()> {
    for folder in path.ancestors().skip(1) {
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        match fs::metadata(folder) {
            Ok(found) if !found.is_dir() => return Err(ErrorKind::NotADirectory.into()),
            Ok(_) => return Ok(rustix::fs::access(folder, Access::WRITE_OK | Access::EXEC_OK)?),
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
