//! Addresses that must not be stored again.

use database::{DatabaseError, Db};

use super::sorted_text;
use crate::model::{AccountKey, OptOut, OptOutSet, address_text};
use crate::store::opt_outs::OptOuts;
use crate::store::{jobs, versions};

/// Opt-outs and removals that apply to a load. Reloaded whenever they change.
pub struct Excluded {
    opt_outs: OptOuts,
    /// Addresses that were removed since the load began.
    removed: OptOutSet,
    version: i64,
    max: i64,
    job: Option<i64>,
}

impl Excluded {
    /// Creates an empty set that will keep up to `max` opt-outs in memory. `job` is `None` for a
    /// dry run.
    pub fn new(max: i64, job: Option<i64>) -> Self {
        let (opt_outs, removed) = (OptOuts::default(), OptOutSet::default());
        Self { opt_outs, removed, version: -1, max, job }
    }

    /// Reloads the set if any opt-outs (which include removals) have changed. Call this in a
    /// batch's transaction, where nothing else can change them.
    pub fn refresh(&mut self, db: &mut Db) -> Result<(), DatabaseError> {
        let version = versions::current(db)?.opt_out;
        if version != self.version {
            self.opt_outs = OptOuts::load(db, self.max)?;
            if let Some(job) = self.job {
                self.removed = jobs::excluded(db, job)?;
            }
            self.version = version;
        }
        Ok(())
    }

    /// Returns `true` if this address must not be stored again.
    pub fn contains(&self, db: &mut Db, k: i64, text: &str) -> Result<bool, DatabaseError> {
        let key = AccountKey(k);
        if !self.opt_outs.may_contain(key) && !self.removed.may_contain(key) {
            return Ok(false);
        }
        let (local, domain) = sorted_text::split(text);
        let digest = address_text::digest(local, domain);
        let is_removed = self.removed.get(&digest).is_some();
        Ok(is_removed || self.opt_outs.get(db, &digest)? == Some(OptOut::Breaches))
    }
}
