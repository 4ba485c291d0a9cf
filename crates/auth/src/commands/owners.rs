//! Whose keys a service may issue.

use anyhow::bail;
use database::Db;

/// What a service knows of the owners of keys.
pub trait Owners {
    /// The owner as it is written into the key's row.
    ///
    /// # Errors
    /// A sentence for the operator when there is no such owner.
    fn canonical(&self, db: &mut Db, owner: &str) -> anyhow::Result<String>;

    /// The plan of a key for which none was named; none where keys carry no plan.
    fn default_plan(&self) -> Option<&str> {
        None
    }

    /// Whether issuing a key ends the owner's other keys.
    fn one_live_key(&self) -> bool {
        false
    }
}

/// Owners that are free names: any text of 1 to 200 characters on one line.
///
/// ```
/// let owners = auth::AnyOwner { default_plan: Some("standard") };
/// # let _ = owners;
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct AnyOwner {
    /// The plan of a key for which none was named; none where keys carry no plan.
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
