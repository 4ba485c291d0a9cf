//! Whether what is written is kept: disks become full or read-only while a server runs.

use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use parking_lot::{Mutex, MutexGuard};

use crate::connect::{Connector, Role};
use crate::error::storage_failures;
use crate::target::Target;
use crate::{DatabaseError, Db};

/// How long the outcome of a trial counts: each one writes.
const COUNTS: Duration = Duration::from_secs(5);
/// Bytes of a trial, a block of most file systems.
const BLOCK: [u8; 4_096] = [0; 4_096];

/// What is known of writing to a database and to the folders beside it.
#[derive(Debug)]
pub(crate) struct Writability {
    folders: Mutex<Vec<FolderTrial>>,
    refusals: Mutex<Refusals>,
}

/// Failed writes of requests, until a trial succeeds.
#[derive(Debug, Default)]
struct Refusals {
    /// How many of the process are explained by a trial that succeeded after them.
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

    /// Tries a further folder from now on.
    pub fn watch(&self, name: &'static str, folder: &Path) {
        lock(&self.folders).push(FolderTrial::new(name, folder.to_owned()));
    }

    /// Why something cannot be written; none where all can. Tries it by writing, at most once in
    /// [`COUNTS`].
    pub fn fault(&self, connector: &Connector) -> Option<String> {
        let of_folders = lock(&self.folders).iter_mut().find_map(FolderTrial::fault);
        if of_folders.is_some() {
            return of_folders;
        }
        let (failures, cause) = storage_failures();
        let mut refusals = lock(&self.refusals);
        if failures == refusals.settled {
            return None;
        }
        if refusals.tried.is_none_or(|at| at.elapsed() >= COUNTS) {
            refusals.tried = Some(Instant::now());
            if write(connector).is_ok() {
                *refusals = Refusals { settled: failures, tried: None };
                return None;
            }
        }
        Some(cause)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock()
}

fn folder_of(path: &Path) -> PathBuf {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    folder.unwrap_or(Path::new(".")).to_owned()
}

/// Commits something that changes nothing, but has to be written to the disk.
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

/// Tries from time to time whether a folder takes a new file.
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
        if self.tried.is_none_or(|at| at.elapsed() >= COUNTS) {
            let before = self.fault.take();
            // Without the path, because readiness is public.
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

/// Writes a block to a new file and removes it. A folder that does not exist yet is no fault.
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
        // Another replica that shares the folder, and has the same number in its container, was quicker.
        Err(error) if error.kind() == ErrorKind::NotFound => written,
        removed => written.and(removed),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_of_disks_are_named_without_their_paths() {
        for (code, text) in [
            (libc_errno::ENOSPC, "the disk of media is full"),
            (libc_errno::EROFS, "the disk of media is read-only"),
            (libc_errno::EDQUOT, "the disk of media is full"),
            (libc_errno::EACCES, "the folder of media cannot be written: permission denied"),
        ] {
            assert_eq!(describe("media", &io::Error::from_raw_os_error(code)), text);
        }
    }

    /// Numbers of Linux.
    mod libc_errno {
        pub const EACCES: i32 = 13;
        pub const ENOSPC: i32 = 28;
        pub const EROFS: i32 = 30;
        pub const EDQUOT: i32 = 122;
    }

    #[test]
    fn trials_of_processes_with_the_same_number_do_not_disturb_each_other() {
        let folder = tempfile::tempdir().unwrap();
        std::thread::scope(|scope| {
            let trials = || (0..500).try_for_each(|_| try_write(folder.path()));
            let replicas: Vec<_> = (0..4).map(|_| scope.spawn(trials)).collect();
            replicas.into_iter().for_each(|replica| replica.join().unwrap().unwrap());
        });
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_trial_leaves_nothing_behind_and_a_missing_folder_is_no_fault() {
        let folder = tempfile::tempdir().unwrap();
        let mut trial = FolderTrial::new("media", folder.path().to_owned());
        assert_eq!(trial.fault(), None);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        let mut trial = FolderTrial::new("media", folder.path().join("later"));
        assert_eq!(trial.fault(), None);
    }
}
