//! Detects that the file of a SQLite database was moved away, removed or emptied while its journals
//! remain, or replaced while it is in use. SQLite would delete the journals of an empty file, and
//! with them committed data. Changes to a replacement would not reach the running server.

use std::fs::{self, File, TryLockError};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::DatabaseError;

/// Number of attempts to take an exclusive lock; see [`try_lock_alone`].
const ATTEMPTS: usize = 10;
/// Pause between two attempts.
const PAUSE: Duration = Duration::from_millis(5);

/// Returns the path of the lock file that servers use for a SQLite database.
pub(crate) fn lock_path(path: &Path) -> PathBuf {
    path.with_added_extension("server")
}

/// Returns whether a SQLite file exists and is empty, as after a first start on a full disk.
pub(crate) fn is_empty(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|found| found.is_file() && found.len() == 0)
}

/// Checks that a missing or empty SQLite file isn't that of a database in use.
///
/// # Errors
/// Returns [`DatabaseError::Setup`] with the cause and the remedy.
pub(crate) fn refuse_displaced(path: &Path) -> Result<(), DatabaseError> {
    if !is_vacant(path) {
        return Ok(());
    }
    let [wal, shm] = ["-wal", "-shm"].map(|ending| {
        let mut name = path.as_os_str().to_owned();
        name.push(ending);
        PathBuf::from(name)
    });
    let cause = if fs::metadata(&wal).is_ok_and(|found| found.len() > 0) {
        "its journal contains data"
    } else if is_locked(path) {
        "a server or a load is using it"
    } else {
        return Ok(());
    };
    // SQLite writes to a new file before it writes to the journal. If the file isn't empty anymore,
    // another process has just created the database.
    if !is_vacant(path) {
        return Ok(());
    }
    let state = if path.exists() { "is empty" } else { "does not exist" };
    Err(DatabaseError::Setup(format!(
        "the database {} {state}, but {cause}; nothing was changed: stop the service, then put the \
         database file back or restore a backup; for a new database, remove {} and {}",
        path.display(),
        wal.display(),
        shm.display()
    )))
}

/// Records the inode of the database file in the lock file of a server or a load. All records
/// have the same length, so a single write replaces an earlier one.
pub(crate) fn record_inode(lock: &File, inode: u64) {
    if let Err(error) = lock.write_all_at(format!("{inode:020}\n").as_bytes(), 0) {
        log::debug!("the lock of the database cannot be written: {error}");
    }
}

/// Checks that a server or a load that is using a SQLite database has opened the file that is now
/// at its path.
///
/// # Errors
/// Returns [`DatabaseError::Setup`] with the remedy.
pub(crate) fn refuse_replaced(path: &Path) -> Result<(), DatabaseError> {
    let record = fs::read_to_string(lock_path(path)).unwrap_or_default();
    let (Ok(opened), Ok(found)) = (record.trim_end().parse::<u64>(), fs::metadata(path)) else {
        return Ok(());
    };
    // Servers that have ended leave their record behind.
    if found.ino() == opened || !is_locked(path) {
        return Ok(());
    }
    Err(DatabaseError::Setup(format!(
        "the database {} was replaced, but a server or a load is using the earlier file; nothing \
         was changed: put that file back, or stop the service before you replace it",
        path.display()
    )))
}

/// Returns whether a database would be created at the path.
fn is_vacant(path: &Path) -> bool {
    is_empty(path) || matches!(path.try_exists(), Ok(false))
}

/// Takes the lock of a database exclusively. Makes several attempts, because another process might
/// hold the lock briefly to check whether the database is in use.
pub(crate) fn try_lock_alone(lock: &File) -> Result<(), TryLockError> {
    for _ in 1..ATTEMPTS {
        match lock.try_lock() {
            Err(TryLockError::WouldBlock) => std::thread::sleep(PAUSE),
            tried => return tried,
        }
    }
    lock.try_lock()
}

/// Returns whether a server or a load holds the lock of a database.
fn is_locked(path: &Path) -> bool {
    let lock = File::options().write(true).open(lock_path(path));
    lock.is_ok_and(|lock| matches!(try_lock_alone(&lock), Err(TryLockError::WouldBlock)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn concurrent_checks_are_not_mistaken_for_servers() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.db");
        let server = File::create(lock_path(&path)).unwrap();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| assert!((0..500).all(|_| !is_locked(&path))));
            }
        });
        server.lock_shared().unwrap();
        assert!(is_locked(&path));
    }
}
