//! Links sorted addresses to breaches.

use std::collections::BTreeMap;

use database::{DatabaseError, Db};

use super::address_links::AddressLinks;
use super::domain_ids::DomainIds;
use super::excluded::Excluded;
use super::sorted_text;
use super::walk::{Apply, Record};
use crate::jobs::context::JobContext;
use crate::jobs::error::JobError;
use crate::jobs::maintenance::domain_index;
use crate::jobs::notices::suppressed_notices::SuppressedNotices;
use crate::model::{Breach, id_list};
use crate::store::accounts::{AccountWriter, Linked, NewAccount, Placement};
use crate::store::breaches;

/// Number of addresses to prepare at once. These fit in the CPU cache.
const PIECE: usize = 8_192;

/// Links sorted addresses batch by batch.
pub struct Linker {
    breaches: Vec<Breach>,
    /// The ids of `breaches`.
    ids: Vec<u16>,
    domains: DomainIds,
    excluded: Excluded,
    placement: Placement,
    /// Whether the first batch postpones the entries of the by-domain index.
    postpones_index: bool,
    /// Number of links per breach, as long as this load is known to be the only one that has added
    /// any.
    own_links: Option<BTreeMap<u16, i64>>,
    /// Records links as already known. Set if notices are suppressed.
    suppress_notices: Option<SuppressedNotices>,
}

impl Linker {
    /// Creates a job's linker with empty caches. If there is more than one breach, the address in
    /// each record must be followed by the index of its breach.
    pub fn new(context: &JobContext, job: i64, breaches: &[Breach]) -> Self {
        Self {
            breaches: breaches.to_vec(),
            ids: breaches.iter().map(|breach| breach.id).collect(),
            domains: DomainIds::default(),
            excluded: Excluded::new(context.settings.optout_memory_max, Some(job)),
            placement: Placement::Table,
            postpones_index: false,
            own_links: Some(BTreeMap::new()),
            suppress_notices: None,
        }
    }

    /// Suppresses notices about new links if `wanted` is set.
    pub fn suppress_notices(self, wanted: bool) -> Self {
        Self { suppress_notices: wanted.then(SuppressedNotices::default), ..self }
    }

    /// Specifies where accounts are written.
    pub fn placed(self, placement: Placement) -> Self {
        Self { placement, ..self }
    }

    /// Lets the first batch postpone the entries of the by-domain index if `wanted` is set.
    pub fn postpone_index(self, wanted: bool) -> Self {
        Self { postpones_index: wanted, ..self }
    }

    /// Reads opt-outs and removals again if they have changed. Call this in the transaction of a
    /// batch.
    pub fn refresh(&mut self, db: &mut Db) -> Result<(), JobError> {
        Ok(self.excluded.refresh(db)?)
    }

    /// Returns `false` if the address was removed from all of these breaches while the load ran.
    pub fn may_link(&self, link: &AddressLinks<'_>) -> bool {
        self.excluded.remaining(link).is_none_or(|list| !list.is_empty())
    }

    /// Links addresses, which must be sorted and unique, and returns the number of new links. Skips
    /// links that were removed while the load ran.
    pub fn link(&mut self, db: &mut Db, links: &[AddressLinks<'_>]) -> Result<i64, JobError> {
        self.refresh(db)?;
        let shorter = self.excluded.shortened(links);
        if shorter.is_empty() {
            return self.link_all(db, links);
        }
        let mut kept = Vec::with_capacity(links.len());
        for (place, link) in links.iter().enumerate() {
            match shorter.get(&place) {
                None => kept.push(*link),
                Some(list) if list.is_empty() => {}
                Some(list) => kept.push(AddressLinks { breaches: list, ..*link }),
            }
        }
        self.link_all(db, &kept)
    }

    fn link_all(&mut self, db: &mut Db, links: &[AddressLinks<'_>]) -> Result<i64, JobError> {
        for breach in &self.breaches {
            if !breaches::takes_accounts(db, breach.id)? {
                let name = &breach.name;
                return Err(JobError::Rejected(format!("the breach {name} is retired or gone")));
            }
        }
        if let Some(suppress) = &self.suppress_notices {
            suppress.note(db, links, &self.excluded)?;
        }
        let mut linked = Linked::default();
        let has_links = self.placement == Placement::Appended && self.others_linked(db)?;
        let mut writer = AccountWriter::new(db, self.placement, has_links)?;
        for piece in links.chunks(PIECE) {
            let new = self.prepare(db, piece)?;
            writer.write(db, &new, &mut linked)?;
        }
        writer.finish(db, &mut linked)?;
        for (id, added) in &linked.added {
            breaches::add_loaded(db, *id, *added)?;
            if let Some(own) = &mut self.own_links {
                *own.entry(*id).or_default() += added;
            }
        }
        Ok(linked.added.values().sum())
    }

    /// Checks whether any of the breaches has links that this load didn't add.
    fn others_linked(&self, db: &mut Db) -> Result<bool, JobError> {
        let Some(own) = &self.own_links else { return Ok(true) };
        for id in &self.ids {
            if breaches::loaded(db, *id)? != own.get(id).copied().unwrap_or(0) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Prepares accounts for the addresses that aren't excluded, in the same order.
    pub fn prepare<'a>(
        &mut self,
        db: &mut Db,
        links: &[AddressLinks<'a>],
    ) -> Result<Vec<NewAccount<'a>>, JobError> {
        let (mut new, mut domains) = (Vec::with_capacity(links.len()), Vec::new());
        for link in links {
            let AddressLinks { k, address, breaches } = *link;
            if !self.is_excluded(db, k, address)? {
                let (local, domain) = sorted_text::split(address);
                domains.push(domain);
                new.push(NewAccount { k, domain_id: 0, local, breaches });
            }
        }
        let ids = self.domains.of(db, domains.into_iter())?;
        for (account, id) in new.iter_mut().zip(ids) {
            account.domain_id = id;
        }
        Ok(new)
    }

    /// Returns `true` if this address must not be stored again.
    pub fn is_excluded(&self, db: &mut Db, k: i64, address: &str) -> Result<bool, DatabaseError> {
        self.excluded.contains(db, k, address)
    }

    /// Splits a record into its address and breach id.
    fn named<'a>(&self, record: &Record<'a>) -> Option<Named<'a>> {
        let (address, place) = sorted_text::parts(record.text);
        let id = *self.ids.get(place.parse::<usize>().ok()?)?;
        Some(Named { k: record.k, address, id })
    }
}

/// A record in a load with more than one breach.
struct Named<'a> {
    k: i64,
    address: &'a str,
    id: u16,
}

impl Apply for Linker {
    fn begin(&mut self, db: &mut Db, now: i64) -> Result<(), JobError> {
        if self.postpones_index {
            domain_index::postpone(db, now)?;
        }
        Ok(())
    }

    fn apply(&mut self, db: &mut Db, batch: &[Record<'_>]) -> Result<i64, JobError> {
        if let [id] = self.ids[..] {
            let list = id.to_le_bytes();
            let links = batch.iter().map(|record| (record.k, record.text));
            let links: Vec<AddressLinks<'_>> =
                links.map(|(k, address)| AddressLinks { k, address, breaches: &list }).collect();
            return self.link(db, &links);
        }
        let named: Vec<Named<'_>> = batch.iter().filter_map(|record| self.named(record)).collect();
        // Nearly all lists are only two bytes long, so they share a buffer.
        let (mut lists, mut ends) = (Vec::with_capacity(2 * named.len()), Vec::new());
        let groups = || named.chunk_by(|a, b| a.address == b.address);
        for group in groups() {
            match group {
                [one] => lists.extend(one.id.to_le_bytes()),
                _ => {
                    let ids: Vec<u16> = group.iter().map(|record| record.id).collect();
                    lists.extend(id_list::pack(&ids));
                }
            }
            ends.push(lists.len());
        }
        let mut begin = 0;
        let links: Vec<AddressLinks<'_>> = groups()
            .zip(ends)
            .map(|(group, end)| {
                let breaches = &lists[begin..end];
                begin = end;
                AddressLinks { k: group[0].k, address: group[0].address, breaches }
            })
            .collect();
        self.link(db, &links)
    }

    fn is_quick(&self) -> bool {
        self.placement == Placement::Appended
    }

    fn is_staged(&self) -> bool {
        self.placement == Placement::Staged
    }

    fn forget(&mut self) {
        self.domains.forget();
        self.own_links = None;
    }
}
