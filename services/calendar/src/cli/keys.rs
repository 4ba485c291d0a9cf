//! `keys`: keys belong to logins.

use anyhow::bail;
use auth::Owners;
use database::Db;

use crate::store::users;

/// The owners of keys: users, by their login.
pub struct Logins;

impl Owners for Logins {
    fn canonical(&self, db: &mut Db, owner: &str) -> anyhow::Result<String> {
        match users::by_login(db, owner)? {
            Some(user) => Ok(user.login),
            None => bail!("there is no user {owner}: add one by `calendar users add`"),
        }
    }
}
