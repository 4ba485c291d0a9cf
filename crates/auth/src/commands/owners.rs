//! The owners of keys.

use anyhow::bail;
use database::Db;

/// The owners of a service's keys.
pub trait Owners {
    /// Returns the owner in the form that is stored with the key.
    ///
    /// # Errors
    /// Returns a sentence for the operator if there is no such owner.
    fn canonical(&self, db: &mut Db, owner: &str) -> anyhow::Result<String>;

    /// Returns the default plan of new keys. `None` if keys do not have plans.
    fn default_plan(&self) -> Option<&str> {
        None
    }

    /// Returns whether issuing a key revokes the owner's other keys.
    fn one_live_key(&self) -> bool {
        false
    }
}

/// Owners with any name of 1 to 200 characters on one line.
#[derive(Clone, Copy, Debug, Default)]
pub struct AnyOwner {
    /// The default plan of new keys. `None` if keys do not have plans.
    pub default_plan: Option<&'static str>,
}

impl Owners for AnyOwner {
    fn canonical(&self, _: &mut Db, owner: &str) -> anyhow::Result<String> {
        let name = owner.trim();
        if !(1..=200).contains(&name.chars().count()) || name.chars().any(char::is_control) {
            bail!("an owner's name has 1 to 200 characters on one line");
        }
        Ok(name.to_owned())
    }

    fn default_plan(&self) -> Option<&str> {
        self.default_plan
    }
}
