//! Links sorted addresses to the websites where they were captured.

use database::{DatabaseError, Db};

use super::address_links::AddressLinks;
use super::domain_ids::DomainIds;
use super::linker::Linker;
use super::sorted_text;
use super::walk::{Apply, Record};
use crate::jobs::error::JobError;
use crate::store::accounts::{self, NewLink};
use crate::store::stealer_logs::{self, NewPair};

/// Links pairs batch by batch.
pub(super) struct PairLinker {
    pub(super) linker: Linker,
    pub(super) websites: DomainIds,
    pub(super) breach: u16,
    pub(super) drop_self: bool,
}

impl PairLinker {
    /// Prepares the pairs of all addresses that may be stored. Addresses keep their order, and
    /// pairs stay with their address. A later load may have added an address that was removed
    /// during this one.
    fn prepare_rows<'a>(
        &mut self,
        db: &mut Db,
        links: &[AddressLinks<'a>],
        pairs: &[(&str, &str)],
        websites: &[i32],
    ) -> Result<Vec<NewLink<'a>>, JobError> {
        let accounts = self.linker.prepare(db, links)?;
        let (mut accounts, mut rows) = (accounts.into_iter().peekable(), Vec::new());
        let mut pairs = pairs.iter().zip(websites).peekable();
        for link in links {
            let local = sorted_text::split(link.address).0;
            let account = accounts.next_if(|account| account.k == link.k && account.local == local);
            while let Some((_, website)) = pairs.next_if(|(pair, _)| pair.0 == link.address) {
                rows.extend(
                    account.map(|account| NewLink { account, other_id: (*website).into() }),
                );
            }
        }
        Ok(rows)
    }
}

impl Apply for PairLinker {
    fn apply(&mut self, db: &mut Db, batch: &[Record<'_>]) -> Result<i64, JobError> {
        self.linker.refresh(db)?;
        let list = self.breach.to_le_bytes();
        let (mut links, mut pairs) = (Vec::new(), Vec::new());
        for group in
            batch.chunk_by(|a, b| sorted_text::parts(a.text).0 == sorted_text::parts(b.text).0)
        {
            let Some(first) = group.first() else { continue };
            let (address, site) = sorted_text::parts(first.text);
            let own = group.len() == 1 && site == sorted_text::split(address).1;
            let link = AddressLinks { k: first.k, address, breaches: &list };
            if !(own && self.drop_self) && self.linker.may_link(&link) {
                links.push(link);
                pairs.extend(group.iter().map(|record| sorted_text::parts(record.text)));
            }
        }
        // Do this first, because Citus requires reference tables to be changed before any others.
        let ids = self.websites.of(db, pairs.iter().map(|(_, site)| *site))?;
        self.linker.link(db, &links)?;
        let rows = self.prepare_rows(db, &links, &pairs, &ids)?;
        if let (true, Db::Pg(conn)) = (self.linker.is_staged(), &mut *db) {
            return Ok(accounts::add_pairs(conn, &rows, self.breach)?);
        }
        let breach_id = i32::from(self.breach);
        let mut new = Vec::with_capacity(rows.len());
        for (NewLink { account, other_id }, seq) in accounts::with_sequence(db, &rows)? {
            let website_id = i32::try_from(other_id).map_err(DatabaseError::broken)?;
            new.push(NewPair { k: account.k, seq, website_id, breach_id });
        }
        let added = stealer_logs::add(db, &new)?;
        Ok(i64::try_from(added).map_err(DatabaseError::broken)?)
    }

    fn is_staged(&self) -> bool {
        self.linker.is_staged()
    }

    fn forget(&mut self) {
        self.linker.forget();
        self.websites.forget();
    }
}
