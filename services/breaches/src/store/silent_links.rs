//! How many links of a verified domain's addresses loads made without notices.

use std::collections::BTreeMap;

use database::{DatabaseError, Db, on_backend};
use diesel::prelude::*;

use super::schema::silent_link;

/// Adds counts by domain and breach.
pub fn add(db: &mut Db, counts: &BTreeMap<(&str, u16), i64>) -> Result<(), DatabaseError> {
    for ((domain, breach), addresses) in counts {
        let row = (
            silent_link::domain.eq(*domain),
            silent_link::breach_id.eq(i32::from(*breach)),
            silent_link::addresses.eq(*addresses),
        );
        on_backend!(db, conn => diesel::insert_into(silent_link::table)
            .values(row)
            .on_conflict((silent_link::domain, silent_link::breach_id))
            .do_update()
            .set(silent_link::addresses.eq(silent_link::addresses + *addresses))
            .execute(conn))?;
    }
    Ok(())
}

/// The counts of a domain by breach.
pub fn of_domain(db: &mut Db, domain: &str) -> Result<Vec<(i32, i64)>, DatabaseError> {
    Ok(silent_link::table
        .filter(silent_link::domain.eq(domain))
        .select((silent_link::breach_id, silent_link::addresses))
        .load(db)?)
}
