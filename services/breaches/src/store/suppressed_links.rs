//! Corrections to the counts of verified domains: links added by loads with suppressed notices,
//! minus links removed since. They change in the same transaction as the links, so a count of links
//! minus its correction only grows by links to announce.

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

/// Returns a domain's corrections by breach. They are negative after removals.
pub fn of_domain(db: &mut Db, domain: &str) -> Result<Vec<(i32, i64)>, DatabaseError> {
    Ok(suppressed_link::table
        .filter(suppressed_link::domain.eq(domain))
        .select((suppressed_link::breach_id, suppressed_link::addresses))
        .load(db)?)
}
