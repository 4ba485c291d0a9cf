//! Suppresses notices about the links of a load. The transaction that adds links also records them
//! as known, so neither a later load nor a restart posts notices about them.

use std::collections::{BTreeMap, HashMap, HashSet};

use database::{DatabaseError, Db};
use domain::EmailAddress;

use crate::jobs::error::JobError;
use crate::jobs::load::address_links::AddressLinks;
use crate::jobs::load::excluded::Excluded;
use crate::jobs::load::sorted_text;
use crate::model::{AccountKey, id_list};
use crate::store::accounts::{AccountFilters, AccountView};
use crate::store::notices::{self, BREACH};
use crate::store::{account_links, accounts, domain_controls, suppressed_links};

/// Records links before they're added.
#[derive(Default)]
pub struct SuppressedNotices {
    filters: AccountFilters,
}

impl SuppressedNotices {
    /// Records new links of these addresses (sorted and unique) as known, provided that a
    /// subscriber wants notices about the address or that its domain is verified.
    pub fn note(
        &self,
        db: &mut Db,
        links: &[AddressLinks<'_>],
        excluded: &Excluded,
    ) -> Result<(), JobError> {
        let (Some(first), Some(last)) = (links.first(), links.last()) else { return Ok(()) };
        let listeners = listeners(db, first.k, last.k)?;
        let verified = verified(db, links)?;
        if listeners.is_empty() && verified.is_empty() {
            return Ok(());
        }
        let view = AccountView::read(db, &self.filters)?;
        let mut counts = BTreeMap::new();
        for link in links {
            let domain = sorted_text::split(link.address).1;
            let listener = listeners.get(link.address);
            let controlled = verified.contains(domain);
            if !(controlled || listener.is_some()) || excluded.contains(db, link.k, link.address)? {
                continue;
            }
            let new = new_links(db, &view, link)?;
            if let Some(subscriber) = listener {
                let ids: Vec<i64> = new.iter().map(|id| i64::from(*id)).collect();
                notices::record(db, *subscriber, BREACH, &ids)?;
            }
            for id in new.into_iter().filter(|_| controlled) {
                *counts.entry((domain, id)).or_default() += 1;
            }
        }
        Ok(suppressed_links::add(db, &counts)?)
    }
}

/// Returns subscribers who want notices, keyed by address as in `sorted_text`.
fn listeners(db: &mut Db, low: i64, high: i64) -> Result<HashMap<String, i64>, DatabaseError> {
    let found = notices::listeners_between(db, low, high)?.into_iter();
    let by_address = found.filter_map(|(subscriber, email)| {
        let address = EmailAddress::parse(&email).ok()?;
        Some((sorted_text::of(&address).into_owned(), subscriber))
    });
    Ok(by_address.collect())
}

/// Returns which of the addresses' domains are verified.
fn verified(db: &mut Db, links: &[AddressLinks<'_>]) -> Result<HashSet<String>, DatabaseError> {
    let domains = links.iter().map(|link| sorted_text::split(link.address).1);
    let domains: HashSet<&str> = domains.collect();
    let domains: Vec<&str> = domains.into_iter().collect();
    Ok(domain_controls::verified_among(db, &domains)?.into_iter().collect())
}

/// Returns the breaches that the address isn't linked to yet.
fn new_links(
    db: &mut Db,
    view: &AccountView,
    link: &AddressLinks<'_>,
) -> Result<Vec<u16>, DatabaseError> {
    let rows = accounts::with_key(db, Some(view), AccountKey(link.k))?;
    let row = account_links::pick_sorted(rows, link.address);
    let linked = row.map(|row| row.breaches).unwrap_or_default();
    Ok(id_list::ids(link.breaches).filter(|id| !id_list::contains(&linked, *id)).collect())
}
