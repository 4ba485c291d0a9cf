//! The commands `backup` and `restore`.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context;
use auth::ServiceSettings;
use batch::{Backup, Restore};
use database::{DatabaseSettings, Pools};
use shell::Service;

use crate::app::{self, SnapshotError};
use crate::config::Settings;
use crate::engine::{EngineError, Folders, Generations};
use crate::service::Buckets;
use crate::store::MIGRATIONS;

/// How often database and index are copied while loads publish between the two.
const ATTEMPTS: u32 = 8;
const INDEX: &str = "index";
/// The folders of a generation: files that never change, and files that grow.
const WORDS: &str = "words";
const COLUMN: &str = "column";

type AllSettings = ServiceSettings<Settings>;

/// Copies the index and then the database, until both belong together.
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
        log::info!("a load has published meanwhile: copying again");
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
        // With PostgreSQL, the index is compared with the database that is being dumped.
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
    matches!(
        error.downcast_ref(),
        Some(SnapshotError::Index(EngineError::Mismatch(_) | EngineError::Missing(_)))
    )
}

/// Restores index and database.
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
        Some(index) => restore_index(&restore, &index)?,
        None => log::warn!("the index is not in this backup: restore the tables of the cluster"),
    }
    Ok(settings.restore(&Buckets::INFO, folder)?)
}

fn restore_index(restore: &Restore, to: &Path) -> anyhow::Result<()> {
    if !restore.has(INDEX) {
        return Ok(());
    }
    let from = restore.path(INDEX);
    let entries = fs::read_dir(&from).with_context(|| format!("cannot read {}", from.display()))?;
    for entry in entries {
        let name = entry?.file_name();
        let (name, to) = (name.to_string_lossy(), to.join(&name));
        restore.link(&format!("{INDEX}/{name}/{WORDS}"), &to.join(WORDS))?;
        restore.copy(&format!("{INDEX}/{name}/{COLUMN}"), &to.join(COLUMN))?;
    }
    Ok(())
}
