//! What a start finds undone: the first user and its key, the rest of an upgrade.

use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use auth::{KeyError, is_live, issue, issue_with_text};
use database::{Db, Pools};

use crate::config::Settings;
use crate::model::role::Role;
use crate::store::{sql, upgrades, users};

/// The file of the data folder that holds a generated key.
const KEY_FILE: &str = "admin-key";

/// Adds the first administrator where there is no user yet; a generated key goes to a file that
/// only the owner of the process may read, never into the log.
pub fn seed(pools: &Pools, settings: &Settings, data_dir: &Path, now: i64) -> anyhow::Result<()> {
    pools.write_blocking(upgrades::finish)?;
    let made =
        pools.write_blocking(|db| seed_in(db, settings, now)).map_err(|error| match error {
            KeyError::Malformed => anyhow::anyhow!("ADMIN_KEY: {error}"),
            other => other.into(),
        })?;
    let Some(key) = made else { return Ok(()) };
    let (login, path) = (&settings.admin_login, data_dir.join(KEY_FILE));
    match keep(&key, &path) {
        Ok(()) => {
            log::info!("the key of {login} is in {}: read it and remove it", path.display());
        }
        Err(error) => log::warn!(
            "the key of {login} could not be written to {}: {error}; `keys issue {login}` makes another",
            path.display()
        ),
    }
    Ok(())
}

fn keep(key: &str, path: &Path) -> std::io::Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    // A file of an earlier life may be readable by others: it goes.
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    writeln!(file, "{key}")?;
    file.sync_all()
}

fn seed_in(db: &mut Db, settings: &Settings, now: i64) -> Result<Option<String>, KeyError> {
    sql::one_writer(db)?;
    let given = settings.admin_key.as_deref().filter(|key| !key.is_empty());
    if users::any(db)? {
        if let Some(key) = given {
            warn_unless_known(db, key, now)?;
        }
        return Ok(None);
    }
    let login = settings.admin_login.as_str();
    users::add(db, login, login, Role::Administrator)?;
    match given {
        Some(key) => issue_with_text(db, key, login, None, None, now).map(|_| None),
        None => issue(db, login, None, None, now).map(|(_, text)| Some(text)),
    }
}

/// Settings keep the key of the first start, and that is fine; one that opens nothing is a mistake of
/// whoever set it, and would be found out at the first 401.
fn warn_unless_known(db: &mut Db, key: &str, now: i64) -> Result<(), KeyError> {
    if !is_live(db, key, now)? {
        log::warn!(
            "ADMIN_KEY is ignored: it is read at the very first start only, there are users already, \
             and it is no key of theirs; `keys issue` makes another"
        );
    }
    Ok(())
}
