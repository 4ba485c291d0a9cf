//! Links sorted addresses to the websites where they were captured.

use database::{DatabaseError, Db};

use super::address_links::AddressLinks;
use super::domain_ids::DomainIds;
use super::linker::Linker;
use super::sorted_text;
use super::walk::{Apply, Record};
use crate::jobs::error::JobError;
use crate::store::accounts::StagedRow;
use crate::store::stealer_logs::{self, NewPair};
use crate::store::{account_links, accounts};

/// Links pairs batch by batch.
pub(super) struct PairLinker {
    pub(super) linker: Linker,
    pub(super) websites: DomainIds,
    pub(super) breach: u16,
    pub(super) drop_self: bool,
}

impl PairLinker {
    /// Prepares the pairs of all addresses that may be stored. Addresses keep their order, and
    /// pairs stay with their address.
    fn staged_rows<'a>(
        &mut self,
        db: &mut Db,
        links: &[AddressLinks<'a>],
        pairs: &[(&str, &str)],
        websites: &[i32],
    ) -> Result<Vec<StagedRow<'a>>, JobError> {
        let accounts = self.linker.prepare(db, links)?;
        let (mut accounts, mut rows) = (accounts.into_iter().peekable(), Vec::new());
        let mut pairs = pairs.iter().zip(websites).peekable();
        for link in links {
            let local = sorted_text::split(link.address).0;
            let account = accounts.next_if(|account| account.k == link.k && account.local == local);
            while let Some((_, website)) = pairs.next_if(|(pair, _)| pair.0 == link.address) {
                rows.extend(
                    account.map(|account| StagedRow { account, other_id: (*website).into() }),
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
        if self.linker.is_staged() {
            let rows = self.staged_rows(db, &links, &pairs, &ids)?;
            let Db::Pg(conn) = db else { return Ok(0) };
            return Ok(accounts::add_pairs(conn, &rows, self.breach)?);
        }
        let mut new = Vec::with_capacity(pairs.len());
        for ((address, _), website_id) in pairs.into_iter().zip(ids) {
            // A later load may have added an address that was removed during this one.
            let key = account_links::sorted_key(address);
            if self.linker.is_excluded(db, key.0, address)? {
                continue;
            }
            let rows = accounts::in_table(db, key)?;
            if let Some(row) = account_links::pick_sorted(rows, address) {
                let breach_id = i32::from(self.breach);
                new.push(NewPair { k: row.k, seq: row.seq, website_id, breach_id });
            }
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
