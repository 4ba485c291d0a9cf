//! Checks whether missing files and folders could be created, for `serve --check`.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::Path;

use rustix::fs::{Access, PROC_SUPER_MAGIC};

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
/// Returns an error if the nearest existing folder is not writable, is on a read-only file system,
/// or belongs to the kernel, such as `/proc`.
pub fn require_creatable(path: &Path) -> io::Result<()> {
    for folder in path.ancestors().skip(1) {
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        match fs::metadata(folder) {
            Ok(found) if !found.is_dir() => return Err(ErrorKind::NotADirectory.into()),
            Ok(_) if is_of_kernel(folder) => return Err(ErrorKind::ReadOnlyFilesystem.into()),
            Ok(_) => return Ok(rustix::fs::access(folder, Access::WRITE_OK | Access::EXEC_OK)?),
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Returns whether a folder is in procfs or sysfs. Only the kernel creates files there, even though
/// root appears to have all permissions.
fn is_of_kernel(folder: &Path) -> bool {
    let found = rustix::fs::statfs(folder);
    found.is_ok_and(|found| matches!(found.f_type, PROC_SUPER_MAGIC | 0x6265_6572))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_of_the_kernel_are_not_writable_even_for_root() {
        for path in ["/proc/x", "/proc/x/notes.db"] {
            assert!(require_creatable(Path::new(path)).is_err(), "{path}");
        }
    }
}
