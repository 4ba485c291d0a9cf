//! Counts the breached addresses at a domain.

use std::collections::BTreeMap;

use database::{DatabaseError, Db};

use crate::model::domain_size::Counted;
use crate::model::{Breach, Catalogue, id_list};
use crate::store::accounts::domain_walk;
use crate::store::{stealer_logs, suppressed_links};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DomainCount {
    pub size: Counted,
    /// Number of addresses in visible stealer logs.
    pub captured: i64,
    /// Number of addresses in each visible breach. Links whose notices were suppressed aren't
    /// included, but removed links are, since only increases matter.
    pub announced: BTreeMap<i32, i64>,
}

/// Counts a domain.
///
/// # Errors
/// Returns an error if a query fails.
pub fn count(
    db: &mut Db,
    catalogue: &Catalogue,
    domain: &str,
) -> Result<DomainCount, DatabaseError> {
    let mut found = DomainCount::default();
    domain_walk::each_at_domain(db, domain, |_, row| {
        found.size.add(catalogue, &row.breaches);
        for id in id_list::ids(&row.breaches).filter(|id| is_shown(catalogue, i32::from(*id))) {
            *found.announced.entry(i32::from(id)).or_default() += 1;
        }
        Ok::<(), DatabaseError>(())
    })?;
    for (id, correction) in suppressed_links::of_domain(db, domain)? {
        if is_shown(catalogue, id) {
            *found.announced.entry(id).or_default() -= correction;
        }
    }
    let hidden = catalogue.all().iter().filter(|breach| !breach.shown_for_domain());
    let hidden: Vec<i32> =
        hidden.filter(|breach| breach.flags.stealer_log).map(|breach| breach.id.into()).collect();
    found.captured = stealer_logs::captured_at_domain(db, domain, &hidden)?;
    Ok(found)
}

fn is_shown(catalogue: &Catalogue, id: i32) -> bool {
    let breach = u16::try_from(id).ok().and_then(|id| catalogue.by_id(id));
    breach.is_some_and(Breach::shown_for_domain)
}
