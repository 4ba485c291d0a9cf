//! Makes sure that only the user running the process can access new files and the data folder.
#![allow(unsafe_code)]

use std::fs::{self, File, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::sync::OnceLock;

use crate::ServiceInfo;

/// Permissions for anyone but the owner.
const OTHERS_AND_GROUP: u32 = 0o077;
/// Permissions for users who are neither the owner nor in the group.
const OTHERS: u32 = 0o007;
/// The set-group-ID bit, which makes new files belong to the folder's group. A folder that has it
/// is meant to be shared with this group.
const SET_GROUP: u32 = 0o2000;
/// The sticky bit. In folders that have it, such as `/tmp`, files can only be removed by their
/// owner.
const STICKY: u32 = 0o1000;

/// Names that any service's data folder can contain, in addition to names that start with the
/// service's name.
const DATA_FILES: [&str; 2] = ["tls", "lost+found"];
const TLS_FILES: [&str; 5] = ["ca-key.pem", "ca.pem", "cert.pem", "key.pem", "lock"];

/// The umask that the process was started with.
static INHERITED: OnceLock<u32> = OnceLock::new();

/// Sets the umask to 077, so that all files and folders created by the process are private. If the
/// data folder has the set-group-ID bit, its group keeps access.
///
/// Other users also lose access to an existing data folder or TLS folder, provided that the folder
/// belongs to the user running the process and contains nothing but the service's files. Other
/// folders are left alone, whether they belong to another user, like a read-only volume, or serve
/// another purpose, like `/srv`.
pub(crate) fn keep_private(info: &ServiceInfo, data_dir: &Path, tls_dir: &Path) {
    let shared = fs::metadata(data_dir).is_ok_and(|folder| folder.mode() & SET_GROUP != 0);
    let inherited = tighten_umask(if shared { OTHERS } else { OTHERS_AND_GROUP });
    INHERITED.get_or_init(|| inherited);
    let is_data = |name: &str| {
        DATA_FILES.contains(&name) || info.files.contains(&name) || name.starts_with(info.name)
    };
    let is_tls = |name: &str| TLS_FILES.contains(&name) || name.ends_with(".tmp");
    report("DATA_DIR", data_dir, close(data_dir, is_data));
    report("TLS_DIR", tls_dir, close(tls_dir, is_tls));
}

fn report(setting: &str, folder: &Path, closed: io::Result<Closing>) {
    let folder = folder.display();
    match closed {
        Ok(Closing::Unneeded) => {}
        Ok(Closing::Done) => log::info!("closed {folder} to other users"),
        Ok(Closing::OtherFile(name)) => log::warn!(
            "other users may read {folder} ({setting}): its permissions were not changed because it \
             also holds {name}; give the service a folder of its own"
        ),
        Err(error) => log::warn!("other users may read {folder} ({setting}): {error}"),
    }
}

/// Applies the original umask to an output file for the operator, because our umask is stricter.
/// Leaves pipes and devices alone.
///
/// # Errors
/// Returns an error if the permissions cannot be read or changed.
pub fn follow_umask(file: &File) -> io::Result<()> {
    let Some(umask) = INHERITED.get() else { return Ok(()) };
    match file.metadata()?.is_file() {
        true => file.set_permissions(Permissions::from_mode(0o666 & !umask)),
        false => Ok(()),
    }
}

/// Applies the original umask to an output folder for the operator.
///
/// # Errors
/// Returns an error if the permissions cannot be changed.
pub fn folder_follows_umask(folder: &Path) -> io::Result<()> {
    let Some(umask) = INHERITED.get() else { return Ok(()) };
    fs::set_permissions(folder, Permissions::from_mode(0o777 & !umask))
}

/// The outcome of closing a folder to other users.
#[derive(Debug, PartialEq, Eq)]
enum Closing {
    /// Other users don't have access anyway, or the folder belongs to another user.
    Unneeded,
    Done,
    /// The folder was left alone because it contains this file, which isn't one of the service's.
    OtherFile(String),
}

/// Removes other users' access to a folder, provided that it belongs to the user running the
/// process and that all names in it satisfy `is_own`.
fn close(folder: &Path, is_own: impl Fn(&str) -> bool) -> io::Result<Closing> {
    let Ok(found) = fs::metadata(folder) else { return Ok(Closing::Unneeded) };
    // This entry is owned by the process's effective user.
    let own = fs::metadata("/proc/self").is_ok_and(|process| process.uid() == found.uid());
    let mode = found.mode() & 0o7777;
    let closed = mode & !if mode & SET_GROUP != 0 { OTHERS } else { OTHERS_AND_GROUP };
    if !own || !found.is_dir() || mode & STICKY != 0 || closed == mode {
        return Ok(Closing::Unneeded);
    }
    for entry in fs::read_dir(folder)? {
        let name = entry?.file_name();
        let name = name.to_string_lossy();
        if !is_own(&name) {
            return Ok(Closing::OtherFile(name.into_owned()));
        }
    }
    fs::set_permissions(folder, Permissions::from_mode(closed))?;
    Ok(Closing::Done)
}

/// Adds `bits` to the umask, and returns the previous umask.
fn tighten_umask(bits: u32) -> u32 {
    // SAFETY: umask has no preconditions and can't fail. Adding bits takes two calls, but the log
    // and signal threads, which might already be running, don't create files in between.
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
    fn folders_lose_access_for_others_and_setgid_ones_keep_their_group() {
        let base = tempfile::tempdir().unwrap();
        for (before, after, closing) in [
            (0o755, 0o700, Closing::Done),
            (0o700, 0o700, Closing::Unneeded),
            (0o2775, 0o2770, Closing::Done),
            (0o2770, 0o2770, Closing::Unneeded),
            (0o1777, 0o1777, Closing::Unneeded),
        ] {
            fs::set_permissions(base.path(), Permissions::from_mode(before)).unwrap();
            assert_eq!(close(base.path(), |_| true).unwrap(), closing, "{before:o}");
            assert_eq!(mode(base.path()), after, "{before:o}");
        }
        assert_eq!(close(&base.path().join("missing"), |_| true).unwrap(), Closing::Unneeded);
    }

    #[test]
    fn folders_with_foreign_files_keep_their_permissions() {
        let base = tempfile::tempdir().unwrap();
        fs::write(base.path().join("echo.db"), "").unwrap();
        fs::set_permissions(base.path(), Permissions::from_mode(0o755)).unwrap();
        fs::write(base.path().join("www"), "").unwrap();
        let is_own = |name: &str| name == "echo.db";
        assert_eq!(close(base.path(), is_own).unwrap(), Closing::OtherFile("www".to_owned()));
        assert_eq!(mode(base.path()), 0o755);
        fs::remove_file(base.path().join("www")).unwrap();
        assert_eq!(close(base.path(), is_own).unwrap(), Closing::Done);
        assert_eq!(mode(base.path()), 0o700);
    }

    #[test]
    fn output_is_not_changed_without_a_changed_umask() {
        let file = tempfile::NamedTempFile::new().unwrap();
        follow_umask(file.as_file()).unwrap();
        assert_eq!(mode(file.path()), 0o600);
    }
}
