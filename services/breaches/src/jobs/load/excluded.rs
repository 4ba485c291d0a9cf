//! Addresses that must not be stored again, and links that must not be added again.

use std::collections::BTreeMap;

use database::{DatabaseError, Db};

use super::address_links::AddressLinks;
use super::sorted_text;
use crate::model::{AccountKey, OptOut, RemovedSet, address_text, id_list};
use crate::store::opt_outs::OptOuts;
use crate::store::{jobs, versions};

/// Opt-outs and removals that apply to a load. Reloaded whenever they change.
pub struct Excluded {
    opt_outs: OptOuts,
    /// Addresses and links that were removed since the load began.
    removed: RemovedSet,
    version: i64,
    max: i64,
    job: Option<i64>,
}

impl Excluded {
    /// Creates an empty set that will keep up to `max` opt-outs in memory. `job` is `None` for a
    /// dry run.
    pub fn new(max: i64, job: Option<i64>) -> Self {
        let (opt_outs, removed) = (OptOuts::default(), RemovedSet::default());
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
        let is_removed = self.removed.contains(&digest);
        Ok(is_removed || self.opt_outs.get(db, &digest)? == Some(OptOut::Breaches))
    }

    /// Finds addresses with links that must not be added again. Returns their places in `links` and
    /// the breaches that are left, which may be none.
    pub fn shortened(&self, links: &[AddressLinks<'_>]) -> BTreeMap<usize, Vec<u8>> {
        if self.removed.is_empty() {
            return BTreeMap::new();
        }
        let shorter = |(place, link)| Some((place, self.remaining(link)?));
        links.iter().enumerate().filter_map(shorter).collect()
    }

    /// Returns an address's breaches without those that it was removed from, or `None` if there are
    /// none of these.
    pub fn remaining(&self, link: &AddressLinks<'_>) -> Option<Vec<u8>> {
        if !self.removed.may_contain(AccountKey(link.k)) {
            return None;
        }
        let (local, domain) = sorted_text::split(link.address);
        let digest = address_text::digest(local, domain);
        let kept = |id: &u16| !self.removed.contains_link(&digest, *id);
        let kept: Vec<u16> = id_list::ids(link.breaches).filter(kept).collect();
        let kept = id_list::pack(&kept);
        (kept.len() < link.breaches.len()).then_some(kept)
    }
}

#[cfg(test)]
mod tests {
    use domain::EmailAddress;

    use super::*;

    #[test]
    fn only_removed_links_are_left_out() {
        let digest = |text: &str| EmailAddress::parse(text).unwrap().sha1();
        let records = [
            RemovedSet::record(&digest("ada@corp.example"), Some(300)),
            RemovedSet::record(&digest("bob@corp.example"), Some(7)),
            RemovedSet::record(&digest("eve@corp.example"), None),
        ];
        let removed = RemovedSet::of_records(records.as_flattened());
        let excluded = Excluded { removed, ..Excluded::new(10, None) };
        let both = id_list::pack(&[7, 300]);
        let link = |address, breaches| {
            let k = AccountKey::of(&digest(address)).0;
            AddressLinks { k, address, breaches }
        };
        let links = [
            link("kim@corp.example", &both),
            link("ada@corp.example", &both),
            link("bob@corp.example", &both[..2]),
            link("ada@corp.example", &both[..2]),
            link("eve@corp.example", &both),
        ];
        let expected = BTreeMap::from([(1, both[..2].to_vec()), (2, Vec::new())]);
        assert_eq!(excluded.shortened(&links), expected);
        assert_eq!(Excluded::new(10, None).shortened(&links), BTreeMap::new());
    }
}
