//! `keys`: API keys, which belong to users.

use anyhow::bail;
use auth::Owners;
use database::Db;

use crate::store::users;

/// Looks up the owner of a key by login.
pub struct Logins;

impl Owners for Logins {
    fn canonical(&self, db: &mut Db, owner: &str) -> anyhow::Result<String> {
        match users::by_login(db, owner)? {
            Some(user) => Ok(user.login),
            None => bail!("user {owner} does not exist; add it with `calendar users add`"),
        }
    }
}
