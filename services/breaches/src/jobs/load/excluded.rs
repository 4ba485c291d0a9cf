//! Addresses that mustn't be stored again.

use database::{DatabaseError, Db};

use super::sorted_text;
use crate::model::{AccountKey, OptOut, address_text};
use crate::store::opt_outs::OptOuts;
use crate::store::versions;

/// Opt-outs that a load has to respect. Reloaded whenever they change.
pub struct Excluded {
    opt_outs: OptOuts,
    version: i64,
    max: i64,
}

impl Excluded {
    /// Creates an empty set that will keep up to `max` opt-outs in memory.
    pub fn new(max: i64) -> Self {
        Self { opt_outs: OptOuts::default(), version: -1, max }
    }

    /// Reloads the opt-outs if they've changed. Call this in the transaction of a batch, when
    /// nothing else can change them.
    pub fn refresh(&mut self, db: &mut Db) -> Result<(), DatabaseError> {
        let version = versions::current(db)?.opt_out;
        if version != self.version {
            self.opt_outs = OptOuts::load(db, self.max)?;
            self.version = version;
        }
        Ok(())
    }

    /// True if this address must not be stored again.
    pub fn contains(&self, db: &mut Db, k: i64, text: &str) -> Result<bool, DatabaseError> {
        if !self.opt_outs.may_contain(AccountKey(k)) {
            return Ok(false);
        }
        let (local, domain) = sorted_text::split(text);
        let digest = address_text::digest(local, domain);
        Ok(self.opt_outs.get(db, &digest)? == Some(OptOut::Breaches))
    }
}
