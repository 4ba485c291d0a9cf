//! Checks that the disks are writable. They can fill up or become read-only while a server is
//! running.

use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use parking_lot::Mutex;

use crate::connect::{Connector, Role};
use crate::error::storage_failures;
use crate::target::Target;
use crate::{DatabaseError, Db};

/// How long the result of a test write is valid, to limit the load on the disk.
const VALID: Duration = Duration::from_secs(5);
/// The data for a test write: one block on most file systems.
const BLOCK: [u8; 4_096] = [0; 4_096];

/// Keeps track of whether a service's database and folders are writable.
#[derive(Debug)]
pub(crate) struct Writability {
    folders: Mutex<Vec<FolderTrial>>,
    refusals: Mutex<Refusals>,
}

/// Keeps track of requests that failed to write. These count until a test write succeeds.
#[derive(Debug, Default)]
struct Refusals {
    /// Number of storage failures before the last successful test write.
    settled: u64,
    tried: Option<Instant>,
}

impl Writability {
    pub fn new(connector: &Connector) -> Self {
        let folder = match &connector.target {
            Target::Sqlite(path) => Some(FolderTrial::new("the database", folder_of(path))),
            Target::Postgres(_) => None,
        };
        let settled = storage_failures().0;
        let refusals = Mutex::new(Refusals { settled, tried: None });
        Self { folders: Mutex::new(folder.into_iter().collect()), refusals }
    }

    /// Adds a folder to be tested by writing to it.
    pub fn watch(&self, name: &'static str, folder: &Path) {
        self.folders.lock().push(FolderTrial::new(name, folder.to_owned()));
    }

    /// Returns the reason that something isn't writable, or `None` if everything is. Test writes
    /// are done at most once per [`VALID`].
    pub fn fault(&self, connector: &Connector) -> Option<String> {
        let folder_fault = self.folders.lock().iter_mut().find_map(FolderTrial::fault);
        if folder_fault.is_some() {
            return folder_fault;
        }
        let (failures, cause) = storage_failures();
        let mut refusals = self.refusals.lock();
        if failures == refusals.settled {
            return None;
        }
        if refusals.tried.is_none_or(|at| at.elapsed() >= VALID) {
            refusals.tried = Some(Instant::now());
            if write(connector).is_ok() {
                *refusals = Refusals { settled: failures, tried: None };
                return None;
            }
        }
        Some(without_paths(&cause))
    }
}

/// Removes quoted paths, e.g. of files in messages from PostgreSQL, because the result of the
/// readiness check is public.
fn without_paths(cause: &str) -> String {
    let parts = cause.split('"').enumerate();
    let kept = parts.filter(|(index, part)| index.is_multiple_of(2) || !part.contains('/'));
    kept.map(|(_, part)| part).collect::<String>().replace(" :", ":")
}

fn folder_of(path: &Path) -> PathBuf {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    folder.unwrap_or(Path::new(".")).to_owned()
}

/// Commits a change that has no effect but still has to reach the disk.
fn write(connector: &Connector) -> Result<(), DatabaseError> {
    let mut db = connector.connect(Role::Writer)?;
    match &mut db {
        Db::Sqlite(conn) => {
            let version: i32 = diesel::select(diesel::dsl::sql::<diesel::sql_types::Integer>(
                "(SELECT user_version FROM pragma_user_version)",
            ))
            .get_result(conn)?;
            conn.batch_execute(&format!("PRAGMA user_version = {version}"))?;
        }
        Db::Pg(conn) => {
            conn.batch_execute("SELECT pg_logical_emit_message(true, 'quintet', '')")?;
        }
    }
    Ok(())
}

/// Checks at intervals whether files can be created in a folder.
#[derive(Debug)]
struct FolderTrial {
    name: &'static str,
    folder: PathBuf,
    tried: Option<Instant>,
    fault: Option<String>,
}

impl FolderTrial {
    fn new(name: &'static str, folder: PathBuf) -> Self {
        Self { name, folder, tried: None, fault: None }
    }

    fn fault(&mut self) -> Option<String> {
        if self.tried.is_none_or(|at| at.elapsed() >= VALID) {
            let before = self.fault.take();
            // The result of the readiness check is public, so the error must not contain the path.
            let outcome = try_write(&self.folder);
            self.fault = outcome.as_ref().err().map(|error| describe(self.name, error));
            self.tried = Some(Instant::now());
            match (&before, &outcome) {
                (None, Err(error)) => {
                    log::error!("{} cannot be written: {error}", self.folder.display());
                }
                (Some(_), Ok(())) => {
                    log::info!("{} can be written again", self.folder.display());
                }
                _ => {}
            }
        }
        self.fault.clone()
    }
}

fn describe(name: &str, error: &io::Error) -> String {
    match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => format!("the disk of {name} is full"),
        ErrorKind::ReadOnlyFilesystem => format!("the disk of {name} is read-only"),
        other => format!("the folder of {name} cannot be written: {other}"),
    }
}

/// Writes a block to a new file, then removes the file. Also succeeds if the folder doesn't exist
/// yet.
fn try_write(folder: &Path) -> io::Result<()> {
    let path = folder.join(format!(".write-trial-{}", std::process::id()));
    let options =
        OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&path);
    let mut file = match options {
        Err(error) if error.kind() == ErrorKind::NotFound && !folder.is_dir() => return Ok(()),
        file => file?,
    };
    let written = file.write_all(&BLOCK).and_then(|()| file.sync_data());
    match fs::remove_file(&path) {
        // The folder is shared with a replica that has the same process ID in another container,
        // and the replica has removed the file.
        Err(error) if error.kind() == ErrorKind::NotFound => written,
        removed => written.and(removed),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_of_disks_are_reported_without_paths() {
        for (code, text) in [
            (libc_errno::ENOSPC, "the disk of media is full"),
            (libc_errno::EROFS, "the disk of media is read-only"),
            (libc_errno::EDQUOT, "the disk of media is full"),
            (libc_errno::EACCES, "the folder of media cannot be written: permission denied"),
        ] {
            assert_eq!(describe("media", &io::Error::from_raw_os_error(code)), text);
        }
    }

    #[test]
    fn causes_from_the_database_lose_their_paths() {
        for (cause, shown) in [
            (
                "could not extend file \"base/5/16384\": No space left on device",
                "could not extend file: No space left on device",
            ),
            (
                "could not write to file \"pg_wal/x\": Input/output error",
                "could not write to file: Input/output error",
            ),
            ("database or disk is full", "database or disk is full"),
        ] {
            assert_eq!(without_paths(cause), shown);
        }
    }

    mod libc_errno {
        pub const EACCES: i32 = 13;
        pub const ENOSPC: i32 = 28;
        pub const EROFS: i32 = 30;
        pub const EDQUOT: i32 = 122;
    }

    #[test]
    fn concurrent_trials_with_the_same_process_id_succeed() {
        let folder = tempfile::tempdir().unwrap();
        std::thread::scope(|scope| {
            let trials = || (0..500).try_for_each(|_| try_write(folder.path()));
            let replicas: Vec<_> = (0..4).map(|_| scope.spawn(trials)).collect();
            replicas.into_iter().for_each(|replica| replica.join().unwrap().unwrap());
        });
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_trial_leaves_no_file_and_a_missing_folder_is_not_a_fault() {
        let folder = tempfile::tempdir().unwrap();
        let mut trial = FolderTrial::new("media", folder.path().to_owned());
        assert_eq!(trial.fault(), None);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        let mut trial = FolderTrial::new("media", folder.path().join("later"));
        assert_eq!(trial.fault(), None);
    }
}
