//! Cache of domain ids for loads.

use std::collections::HashMap;

use database::{DatabaseError, Db};
use foldhash::fast::RandomState;

use crate::store::{mail_domains, versions};

/// Maximum number of ids to keep in memory.
const MAX_DOMAINS: usize = 400_000;

/// Caches domain ids.
#[derive(Debug)]
pub struct DomainIds {
    known: HashMap<String, i32, RandomState>,
    most: usize,
    /// Value of [`versions::REMOVED_DOMAINS`] when the ids were read.
    removed: Option<i64>,
}

impl Default for DomainIds {
    fn default() -> Self {
        Self { known: HashMap::default(), most: MAX_DOMAINS, removed: None }
    }
}

impl DomainIds {
    /// Returns the ids of domains, in the order of `names`. New domains are added to the database.
    pub fn of<'a>(
        &mut self,
        db: &mut Db,
        names: impl Iterator<Item = &'a str>,
    ) -> Result<Vec<i32>, DatabaseError> {
        let removed = versions::get(db, versions::REMOVED_DOMAINS)?;
        if self.removed != removed {
            self.known.clear();
            self.removed = removed;
        }
        let (mut ids, mut unknown) = (Vec::new(), Vec::new());
        for name in names {
            match self.known.get(name) {
                Some(id) => ids.push(*id),
                None => {
                    unknown.push((ids.len(), name));
                    ids.push(0);
                }
            }
        }
        if unknown.is_empty() {
            return Ok(ids);
        }
        let mut missing: Vec<&str> = unknown.iter().map(|(_, name)| *name).collect();
        missing.sort_unstable();
        missing.dedup();
        let found = mail_domains::ids(db, &missing)?;
        for (place, name) in unknown {
            ids[place] = found.get(name).copied().ok_or(DatabaseError::NotFound)?;
        }
        if self.known.len() + found.len() > self.most {
            self.known.clear();
        }
        self.known.extend(found);
        Ok(ids)
    }

    /// Clears the cache. Call this if a transaction that added domains was rolled back.
    pub fn forget(&mut self) {
        self.known.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::unused_domains;

    #[test]
    fn removed_domain_gets_a_new_id() {
        let database = testkit::Database::new();
        let pools = database.open(&[&auth::MIGRATIONS, &crate::store::MIGRATIONS]);
        let mut domains = DomainIds::default();
        let mut add = || pools.write_blocking(|db| domains.of(db, ["a.example"].into_iter()));
        let old = add().unwrap()[0];
        let removed = pools.write_blocking(|db| unused_domains::remove_if_unused(db, old));
        assert!(removed.unwrap());
        let new = add().unwrap()[0];
        assert!(new > old, "{new} after {old}");
    }

    #[test]
    fn ids_are_correct_after_the_cache_overflows() {
        let database = testkit::Database::new();
        let pools = database.open(&[&auth::MIGRATIONS, &crate::store::MIGRATIONS]);
        let mut domains = DomainIds { most: 2, ..DomainIds::default() };
        let names = ["a.example", "b.example", "c.example", "a.example", "d.example"];
        let ids = pools.write_blocking(|db| {
            domains.of(db, names[..2].iter().copied())?;
            domains.of(db, names.into_iter())
        });
        let known = pools
            .read_blocking(|db| {
                names.iter().map(|name| mail_domains::id(db, name)).collect::<Result<Vec<_>, _>>()
            })
            .unwrap();
        let ids: Vec<Option<i32>> = ids.unwrap().into_iter().map(Some).collect();
        assert_eq!(ids, known);
    }
}
