//! New files belong to the owner of the process alone; so does the data folder.
#![allow(unsafe_code)]

use std::fs::{self, File, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::sync::OnceLock;

/// Permissions of everybody but the owner.
const OTHERS_AND_GROUP: u32 = 0o077;
/// Permissions of those who are neither the owner nor in the group.
const OTHERS: u32 = 0o007;
/// The folder gives its group to what is made in it: it is shared with that group on purpose.
const SET_GROUP: u32 = 0o2000;
/// Only the owner of a file may remove it: a folder that many use, such as `/tmp`.
const STICKY: u32 = 0o1000;

/// The umask that the process was started with.
static INHERITED: OnceLock<u32> = OnceLock::new();

/// Makes files and folders of this process private from now on, whatever code makes them: the umask
/// of the process becomes 077. A data folder with the set-group-ID bit keeps the access of its group.
///
/// A data folder or TLS folder that exists and belongs to this user loses the access of others.
/// Folders of other users, such as a volume that is mounted read-only, stay as they are.
pub(crate) fn keep_private(data_dir: &Path, tls_dir: &Path) {
    let shared = fs::metadata(data_dir).is_ok_and(|folder| folder.mode() & SET_GROUP != 0);
    let inherited = tighten_umask(if shared { OTHERS } else { OTHERS_AND_GROUP });
    INHERITED.get_or_init(|| inherited);
    for folder in [data_dir, tls_dir] {
        match close(folder) {
            Ok(true) => log::info!("closed {} to other users", folder.display()),
            Ok(false) => {}
            Err(error) => log::warn!("other users may read {}: {error}", folder.display()),
        }
    }
}

/// Gives a file that the operator named as output the permissions of other new files of this
/// operator. Pipes and devices stay as they are.
///
/// # Errors
/// The permissions cannot be read or changed.
pub fn follow_umask(file: &File) -> io::Result<()> {
    let Some(umask) = INHERITED.get() else { return Ok(()) };
    match file.metadata()?.is_file() {
        true => file.set_permissions(Permissions::from_mode(0o666 & !umask)),
        false => Ok(()),
    }
}

/// The same for a folder that was made for output.
///
/// # Errors
/// The permissions cannot be changed.
pub fn folder_follows_umask(folder: &Path) -> io::Result<()> {
    let Some(umask) = INHERITED.get() else { return Ok(()) };
    fs::set_permissions(folder, Permissions::from_mode(0o777 & !umask))
}

/// Takes the access of others from a folder of this user; returns whether there was any.
fn close(folder: &Path) -> io::Result<bool> {
    let Ok(found) = fs::metadata(folder) else { return Ok(false) };
    // The owner of this entry is the effective user of the process.
    let own = fs::metadata("/proc/self").is_ok_and(|process| process.uid() == found.uid());
    let mode = found.mode() & 0o7777;
    let closed = mode & !if mode & SET_GROUP != 0 { OTHERS } else { OTHERS_AND_GROUP };
    if !own || !found.is_dir() || mode & STICKY != 0 || closed == mode {
        return Ok(false);
    }
    fs::set_permissions(folder, Permissions::from_mode(closed))?;
    Ok(true)
}

/// Adds bits to the umask and returns the one before.
fn tighten_umask(bits: u32) -> u32 {
    // SAFETY: umask has no preconditions and cannot fail. Two calls are needed to add bits; this runs
    // before the process has other threads.
    unsafe {
        let before = libc::umask(OTHERS_AND_GROUP);
        libc::umask(before | bits);
        before
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().mode() & 0o7777
    }

    #[test]
    fn own_folders_are_closed_to_others_and_shared_ones_keep_their_group() {
        let base = tempfile::tempdir().unwrap();
        for (before, after, changed) in [
            (0o755, 0o700, true),
            (0o700, 0o700, false),
            (0o2775, 0o2770, true),
            (0o2770, 0o2770, false),
            (0o1777, 0o1777, false),
        ] {
            fs::set_permissions(base.path(), Permissions::from_mode(before)).unwrap();
            assert_eq!(close(base.path()).unwrap(), changed, "{before:o}");
            assert_eq!(mode(base.path()), after, "{before:o}");
        }
        assert!(!close(&base.path().join("missing")).unwrap());
    }

    #[test]
    fn output_is_left_alone_where_the_umask_was_not_changed() {
        let file = tempfile::NamedTempFile::new().unwrap();
        follow_umask(file.as_file()).unwrap();
        assert_eq!(mode(file.path()), 0o600);
    }
}
