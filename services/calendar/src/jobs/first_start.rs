//! What a start finds undone: the first user and its key, the rest of an upgrade.

use auth::{KeyError, issue, issue_with_text};
use database::{Db, Pools};

use crate::config::Settings;
use crate::model::role::Role;
use crate::store::{sql, upgrades, users};

/// Adds the first administrator where there is no user yet; a generated key is printed this once.
pub fn seed(pools: &Pools, settings: &Settings, now: i64) -> anyhow::Result<()> {
    pools.write_blocking(upgrades::finish)?;
    let made = pools.write_blocking(|db| seed_in(db, settings, now))?;
    if let Some(key) = made {
        eprintln!("key of {}, shown this once: {key}", settings.admin_login);
    }
    Ok(())
}

fn seed_in(db: &mut Db, settings: &Settings, now: i64) -> Result<Option<String>, KeyError> {
    sql::one_writer(db)?;
    if users::any(db)? {
        return Ok(None);
    }
    let login = settings.admin_login.as_str();
    users::add(db, login, login, Role::Administrator)?;
    match settings.admin_key.as_deref().filter(|key| !key.is_empty()) {
        Some(key) => issue_with_text(db, key, login, None, None, now).map(|_| None),
        None => issue(db, login, None, None, now).map(|(_, text)| Some(text)),
    }
}
