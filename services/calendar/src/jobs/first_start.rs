//! Creates the first user and their key.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use auth::{KeyError, is_live, issue, issue_with_text};
use database::{Db, Pools};

use crate::config::Settings;
use crate::model::role::Role;
use crate::store::{sql, users};

/// Name of the file in the data folder to which a generated key is written.
const KEY_FILE: &str = "admin-key";

/// When to log the location of a generated key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Announce {
    /// At every start until the file is deleted, because the process that wrote it might have been
    /// killed before logging anything.
    Always,
    /// Only if the key has just been generated.
    WhenWritten,
}

/// Adds the first administrator if there are no users yet. A generated key is written to a file
/// that only its owner can read, never to the log.
pub fn seed(
    pools: &Pools,
    settings: &Settings,
    (data_dir, announce): (&Path, Announce),
    now: i64,
) -> anyhow::Result<()> {
    let path = data_dir.join(KEY_FILE);
    let is_written = pools.write_at_start(|db| seed_in(db, settings, &path, now))?;
    if announce == Announce::WhenWritten && is_written != Some(true) {
        return Ok(());
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    if !kept.is_empty() && pools.read_blocking(|db| is_live(db, kept.trim(), now))? {
        let path = path.display();
        log::info!(
            "the key for {} is in {path}: read it, then remove the file",
            settings.admin_login
        );
    }
    Ok(())
}

fn store_key(key: &str, path: &Path) -> std::io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder)?;
    // An existing file might be readable by other users.
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    writeln!(file, "{key}")?;
    file.sync_all()?;
    File::open(folder)?.sync_all()
}

/// Adds the first administrator in a transaction. Returns whether a key was generated.
///
/// A generated key is written to disk before the transaction commits. If the process is killed in
/// between, the key in the file is invalid, and the next start replaces it.
fn seed_in(db: &mut Db, settings: &Settings, path: &Path, now: i64) -> anyhow::Result<bool> {
    sql::one_writer(db)?;
    let given = settings.admin_key.as_deref().filter(|key| !key.is_empty());
    if users::any(db)? {
        return match given {
            Some(key) => warn_unless_known(db, key, now).map(|()| false).map_err(Into::into),
            None => Ok(false),
        };
    }
    let login = settings.admin_login.as_str();
    users::add(db, login, login, Role::Administrator)?;
    let Some(key) = given else {
        let (_, text) = issue(db, login, None, None, now)?;
        if let Err(error) = store_key(&text, path) {
            let path = path.display();
            log::warn!(
                "cannot write the key for {login} to {path}: {error}; `keys issue {login}` issues \
                 another"
            );
        }
        return Ok(true);
    };
    match issue_with_text(db, key, login, None, None, now) {
        Ok(_) => Ok(false),
        Err(error @ KeyError::Malformed) => {
            Err(shell::SettingError(format!("ADMIN_KEY: {error}")).into())
        }
        Err(error) => Err(error.into()),
    }
}

/// Warns if ADMIN_KEY is not a valid key. Without the warning, this would go unnoticed until the
/// first 401. A valid key can remain in the settings.
fn warn_unless_known(db: &mut Db, key: &str, now: i64) -> Result<(), KeyError> {
    if !is_live(db, key, now)? {
        log::warn!(
            "ADMIN_KEY is ignored: it is read on first start only, and it is not an existing \
             user's key; `keys issue` issues another"
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use testkit::Database;

    use super::*;
    use crate::store::MIGRATIONS;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        site: Settings,
    }

    #[test]
    fn start_after_a_killed_one_writes_a_valid_key() {
        let database = Database::new();
        let pools = database.open(&[&auth::MIGRATIONS, &MIGRATIONS]);
        let settings = Line::parse_from(["calendar"]).site;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("data").join(KEY_FILE);
        let read = || std::fs::read_to_string(&path).unwrap().trim().to_owned();
        // Simulates a process that is killed before the commit.
        let killed = pools.write_blocking(|db| {
            seed_in(db, &settings, &path, 7)?;
            assert!(is_live(db, &read(), 7)?);
            Err::<(), _>(anyhow::anyhow!("killed"))
        });
        assert_eq!(killed.unwrap_err().to_string(), "killed");
        let lost = read();
        let folder = (path.parent().unwrap(), Announce::Always);
        seed(&pools, &settings, folder, 8).unwrap();
        let key = read();
        assert_ne!(key, lost);
        assert!(pools.read_blocking(|db| is_live(db, &key, 8)).unwrap());
        assert!(!pools.read_blocking(|db| is_live(db, &lost, 8)).unwrap());
        // Later starts must not change the user.
        seed(&pools, &settings, folder, 9).unwrap();
        assert_eq!(read(), key);
    }
}
