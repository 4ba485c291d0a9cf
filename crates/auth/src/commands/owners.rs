//! The owners of API keys.

use anyhow::bail;
use database::Db;

/// Decides who can own a service's keys.
pub trait Owners {
    /// Normalizes an owner to the form that is stored with the key.
    ///
    /// # Errors
    /// Returns a one-line message for the operator if the owner doesn't exist.
    fn canonical(&self, db: &mut Db, owner: &str) -> anyhow::Result<String>;

    /// Returns the default plan for new keys, or `None` if the service's keys don't have plans.
    fn default_plan(&self) -> Option<&str> {
        None
    }

    /// Returns whether issuing a key revokes its owner's other keys.
    fn one_live_key(&self) -> bool {
        false
    }

    /// Records a change in the service's audit log. Called in the transaction of the change.
    /// `action` is the command, such as `keys issue`, and `subject` the owner or the key's ID.
    /// `detail` is the ID of a new key, and empty for other changes.
    ///
    /// # Errors
    /// Returns a one-line message for the operator, upon which the transaction is rolled back.
    fn record(&self, db: &mut Db, action: &str, subject: &str, detail: &str) -> anyhow::Result<()> {
        let _ = (db, action, subject, detail);
        Ok(())
    }
}

/// Accepts any single-line owner name of 1 to 200 characters.
#[derive(Clone, Copy, Debug, Default)]
pub struct AnyOwner {
    /// The default plan for new keys, or `None` if keys don't have plans.
    pub default_plan: Option<&'static str>,
}

impl Owners for AnyOwner {
    fn canonical(&self, _: &mut Db, owner: &str) -> anyhow::Result<String> {
        let name = owner.trim();
        if !(1..=200).contains(&name.chars().count()) || name.chars().any(char::is_control) {
            bail!("an owner's name must be 1 to 200 characters on one line");
        }
        Ok(name.to_owned())
    }

    fn default_plan(&self) -> Option<&str> {
        self.default_plan
    }
}
