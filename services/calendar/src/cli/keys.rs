//! `keys`: API keys, each of which belongs to a user.

use anyhow::bail;
use auth::Owners;
use database::Db;

use crate::store::users;

/// Finds the owner of a key by login.
pub struct Logins;

impl Owners for Logins {
    fn canonical(&self, db: &mut Db, owner: &str) -> anyhow::Result<String> {
        match users::by_login(db, owner)? {
            Some(user) => Ok(user.login),
            None => bail!("user {owner} does not exist; add it with `calendar users add`"),
        }
    }
}
