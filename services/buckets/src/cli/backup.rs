//! `buckets backup` and `buckets restore`

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use auth::ServiceSettings;
use batch::{Backup, Restore};
use database::{DatabaseSettings, Pools};
use shell::Service;

use crate::app::{self, SnapshotError};
use crate::config::Settings;
use crate::engine::{EngineError, Folders, Generations, restore_generations};
use crate::service::Buckets;
use crate::store::MIGRATIONS;

/// Number of attempts to get matching copies of the database and the index, since loads might
/// publish in the meantime.
const ATTEMPTS: u32 = 8;
const INDEX: &str = "index";

type AllSettings = ServiceSettings<Settings>;

/// Copies the index, then the database, and starts over until the two match.
pub fn back_up(
    settings: &AllSettings,
    generations: &Arc<dyn Generations>,
    folder: &Path,
) -> anyhow::Result<()> {
    let info = &Buckets::INFO;
    let pools = settings.open_unchanged(info, &[&auth::MIGRATIONS, &MIGRATIONS])?;
    let backup = Backup::begin(folder, info.name, info.version)?;
    backup.copy("tls", &settings.shell.tls_folder())?;
    let mut attempt = 1;
    loop {
        match copy_pair(settings, &pools, generations, &backup) {
            Err(error) if attempt < ATTEMPTS && is_of_a_publish(&error) => attempt += 1,
            copied => {
                copied?;
                return backup.finish();
            }
        }
        log::info!("a load has published in the meantime: copying again");
    }
}

fn copy_pair(
    settings: &AllSettings,
    pools: &Pools,
    generations: &Arc<dyn Generations>,
    backup: &Backup,
) -> anyhow::Result<()> {
    backup.discard(INDEX)?;
    let copy = backup.path(&format!("{}.db", Buckets::INFO.name));
    if copy.exists() {
        fs::remove_file(&copy)?;
    }
    let index = backup.path(INDEX);
    let is_copied = app::copy_index(pools, &**generations, &index)?;
    if !is_copied {
        log::warn!("the index is not in this backup: take the tables of the cluster with BACKUP");
    }
    settings.back_up(&Buckets::INFO, backup.folder())?;
    if is_copied {
        // A PostgreSQL dump can't be opened, so the index is compared with the live database.
        let pools = if copy.exists() { open_copy(&copy)? } else { pools.clone() };
        let generations: Arc<dyn Generations> = Arc::new(Folders::new(index));
        app::open_index(&pools, &generations)?;
    }
    Ok(())
}

fn open_copy(path: &Path) -> anyhow::Result<Pools> {
    let database_url = Some(format!("sqlite://{}", path.display()));
    let settings = DatabaseSettings { database_url, db_pool: 1, ..DatabaseSettings::default() };
    let migrations = [&auth::MIGRATIONS, &MIGRATIONS];
    Ok(settings.open_unchanged(Path::new(""), Buckets::INFO.name, &migrations)?)
}

fn is_of_a_publish(error: &anyhow::Error) -> bool {
    match error.downcast_ref() {
        Some(SnapshotError::Index(EngineError::Mismatch(_) | EngineError::Missing(_))) => true,
        // A rebuild dropped this generation.
        Some(SnapshotError::Index(EngineError::Io(error))) => error.kind() == ErrorKind::NotFound,
        _ => false,
    }
}

/// Restores the TLS files, the index and the database from a backup.
pub fn restore(
    settings: &AllSettings,
    index: Option<PathBuf>,
    folder: &Path,
) -> anyhow::Result<()> {
    let restore = Restore::open(folder, Buckets::INFO.name)?;
    let tls = settings.shell.tls_folder();
    let database = settings.restored_file(&Buckets::INFO, folder)?;
    restore.require_free([&tls].into_iter().chain(&index).chain(&database))?;
    restore.copy("tls", &tls)?;
    match index {
        Some(index) if restore.has(INDEX) => restore_generations(&restore.path(INDEX), &index)?,
        Some(_) => {}
        None => log::warn!("the index is not in this backup: restore the tables of the cluster"),
    }
    Ok(settings.restore(&Buckets::INFO, folder)?)
}
