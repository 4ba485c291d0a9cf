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
use crate::store::{accounts, domain_controls, suppressed_links};

/// Number of accounts to look up per statement.
const MANY: usize = 1_000;

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
        let mut watched = Vec::new();
        for link in links {
            let is_controlled = verified.contains(sorted_text::split(link.address).1);
            if (is_controlled || listeners.contains_key(link.address))
                && !excluded.contains(db, link.k, link.address)?
            {
                watched.push(link);
            }
        }
        let view = AccountView::read(db, &self.filters)?;
        let mut counts = BTreeMap::new();
        for some in watched.chunks(MANY) {
            let stored = stored_lists(db, &view, some)?;
            for link in some {
                let linked = stored.get(link.address).map_or(&[][..], Vec::as_slice);
                let is_new = |id: &u16| !id_list::contains(linked, *id);
                let new: Vec<u16> = id_list::ids(link.breaches).filter(is_new).collect();
                if let Some(subscriber) = listeners.get(link.address) {
                    let ids: Vec<i64> = new.iter().map(|id| i64::from(*id)).collect();
                    notices::record(db, *subscriber, BREACH, &ids)?;
                }
                let domain = sorted_text::split(link.address).1;
                for id in new.into_iter().filter(|_| verified.contains(domain)) {
                    *counts.entry((domain, id)).or_default() += 1;
                }
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

/// Returns the packed breach ids of stored accounts, keyed by address as in `sorted_text`.
fn stored_lists(
    db: &mut Db,
    view: &AccountView,
    links: &[&AddressLinks<'_>],
) -> Result<HashMap<String, Vec<u8>>, DatabaseError> {
    let keys: Vec<AccountKey> = links.iter().map(|link| AccountKey(link.k)).collect();
    let rows = accounts::with_keys(db, Some(view), &keys)?.into_iter();
    Ok(rows.map(|row| (format!("{}@{}", row.local, row.domain), row.breaches)).collect())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use database::on_backend;
    use diesel::connection::{Connection, InstrumentationEvent};

    use super::*;
    use crate::store::{MIGRATIONS, subscribers};

    #[test]
    fn links_of_a_verified_domain_take_a_few_statements() {
        let database = testkit::Database::new();
        let pools = database.open(&[&auth::MIGRATIONS, &MIGRATIONS]);
        let emails: Vec<String> = (0..100).map(|n| format!("user{n}@corp.example")).collect();
        let key = |email: &str| AccountKey::of(&EmailAddress::parse(email).unwrap().sha1()).0;
        let list = 7_u16.to_le_bytes();
        let link = |email: &String| (key(email), email.clone());
        let mut sorted: Vec<(i64, String)> = emails.iter().map(link).collect();
        sorted.sort();
        let links: Vec<AddressLinks<'_>> = sorted
            .iter()
            .map(|(k, address)| AddressLinks { k: *k, address, breaches: &list })
            .collect();
        let statements = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&statements);
        let noted = pools.write_blocking(|db| -> Result<_, JobError> {
            let owner = EmailAddress::parse("owner@corp.example").unwrap();
            let new = domain_controls::Verification {
                subscriber: subscribers::add(db, &owner, 1)?,
                domain: "corp.example",
                code: "code",
                method: "operator",
                parent: None,
                sizes: Some((0, 0)),
                now: 1,
            };
            domain_controls::verify(db, &new)?;
            let mut excluded = Excluded::new(10, None);
            excluded.refresh(db)?;
            let count = move |event: InstrumentationEvent<'_>| {
                if let InstrumentationEvent::StartQuery { .. } = event {
                    counted.fetch_add(1, Ordering::Relaxed);
                }
            };
            on_backend!(db, conn => conn.set_instrumentation(count));
            SuppressedNotices::default().note(db, &links, &excluded)?;
            Ok(suppressed_links::of_domain(db, "corp.example")?)
        });
        assert_eq!(noted.unwrap(), [(7, 100)]);
        let statements = statements.load(Ordering::Relaxed);
        assert!(statements < 20, "{statements} statements");
    }
}
