//! Corrections to the counts of verified domains. A correction is the number of links added by
//! loads with suppressed notices, minus links removed since. It's updated in the same transaction
//! as the links, so the number of links minus the correction grows only by links that should be
//! announced.

use std::collections::BTreeMap;

use database::{DatabaseError, Db, on_backend};
use diesel::prelude::*;

use super::schema::suppressed_link;

/// Adds to the corrections by domain and breach.
pub fn add(db: &mut Db, counts: &BTreeMap<(&str, u16), i64>) -> Result<(), DatabaseError> {
    for ((domain, breach), addresses) in counts {
        let row = (
            suppressed_link::domain.eq(*domain),
            suppressed_link::breach_id.eq(i32::from(*breach)),
            suppressed_link::addresses.eq(*addresses),
        );
        on_backend!(db, conn => diesel::insert_into(suppressed_link::table)
            .values(row)
            .on_conflict((suppressed_link::domain, suppressed_link::breach_id))
            .do_update()
            .set(suppressed_link::addresses.eq(suppressed_link::addresses + *addresses))
            .execute(conn))?;
    }
    Ok(())
}

/// Returns a domain's corrections by breach. These can be negative after links have been removed.
pub fn of_domain(db: &mut Db, domain: &str) -> Result<Vec<(i32, i64)>, DatabaseError> {
    Ok(suppressed_link::table
        .filter(suppressed_link::domain.eq(domain))
        .select((suppressed_link::breach_id, suppressed_link::addresses))
        .load(db)?)
}
