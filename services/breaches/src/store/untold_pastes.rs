//! New addresses found in pastes. Subscribers who control their domains are notified at the end of
//! the load.

use std::collections::BTreeMap;

use database::{DatabaseError, Db, on_backend};
use diesel::prelude::*;

use super::domain_controls;
use super::schema::{paste, paste_source, untold_paste};
use crate::model::notice::FoundPaste;

/// Adds to the numbers of new addresses by domain and paste. Skips domains that no subscriber has
/// verified.
pub fn add(db: &mut Db, counts: &BTreeMap<(String, i64), i64>) -> Result<(), DatabaseError> {
    let mut domains: Vec<&str> = counts.keys().map(|(domain, _)| domain.as_str()).collect();
    domains.dedup();
    for domain in domain_controls::verified_among(db, &domains)? {
        let all = (domain.clone(), i64::MIN)..=(domain, i64::MAX);
        for ((domain, paste), addresses) in counts.range(all) {
            add_one(db, domain, *paste, *addresses)?;
        }
    }
    Ok(())
}

fn add_one(db: &mut Db, domain: &str, paste: i64, addresses: i64) -> Result<(), DatabaseError> {
    let row = (
        untold_paste::domain.eq(domain),
        untold_paste::paste_id.eq(paste),
        untold_paste::addresses.eq(addresses),
    );
    on_backend!(db, conn => diesel::insert_into(untold_paste::table)
        .values(row)
        .on_conflict((untold_paste::domain, untold_paste::paste_id))
        .do_update()
        .set(untold_paste::addresses.eq(untold_paste::addresses + addresses))
        .execute(conn))?;
    Ok(())
}

/// Lists domains with pending counts.
pub fn domains(db: &mut Db) -> Result<Vec<String>, DatabaseError> {
    Ok(untold_paste::table
        .select(untold_paste::domain)
        .distinct()
        .order(untold_paste::domain)
        .load(db)?)
}

/// Returns the domain's most recent pastes, along with the total number of pastes.
pub fn of_domain(
    db: &mut Db,
    domain: &str,
    limit: i64,
) -> Result<(Vec<FoundPaste>, i64), DatabaseError> {
    let rows = untold_paste::table.filter(untold_paste::domain.eq(domain));
    let count = rows.count().get_result(db)?;
    let last = rows
        .inner_join(paste::table.inner_join(paste_source::table))
        .order(untold_paste::paste_id.desc())
        .limit(limit)
        .select((paste_source::name, paste::paste_id, untold_paste::addresses))
        .load::<(String, String, i64)>(db)?;
    let found = |(source, id, addresses)| FoundPaste { source, id, addresses };
    Ok((last.into_iter().map(found).collect(), count))
}

/// Deletes all counts. Call this once their notices have been posted.
pub fn clear(db: &mut Db) -> Result<(), DatabaseError> {
    diesel::delete(untold_paste::table).execute(db)?;
    Ok(())
}

/// Deletes the counts of a removed paste.
pub fn forget(db: &mut Db, paste: i64) -> Result<(), DatabaseError> {
    diesel::delete(untold_paste::table.filter(untold_paste::paste_id.eq(paste))).execute(db)?;
    Ok(())
}
