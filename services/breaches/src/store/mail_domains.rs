//! Domains of addresses and of websites, each filed once.

use std::collections::HashMap;

use database::{DatabaseError, Db, on_backend};
use diesel::dsl::exists;
use diesel::prelude::*;

use super::schema::{account, mail_domain};
use crate::model::loaded_address;

/// Names looked up in one statement.
const CHUNK: usize = 500;

/// The id of a domain, if it is known.
pub fn id(db: &mut Db, name: &str) -> Result<Option<i32>, DatabaseError> {
    Ok(mail_domain::table
        .filter(mail_domain::name.eq(name))
        .select(mail_domain::id)
        .first(db)
        .optional()?)
}

/// The ids of domains; unknown ones are added.
pub fn ids(db: &mut Db, names: &[&str]) -> Result<HashMap<String, i32>, DatabaseError> {
    let mut found = HashMap::with_capacity(names.len());
    for chunk in names.chunks(CHUNK) {
        look_up(db, chunk, &mut found)?;
        let missing: Vec<&str> =
            chunk.iter().copied().filter(|name| !found.contains_key(*name)).collect();
        if !missing.is_empty() {
            add(db, &missing)?;
            look_up(db, &missing, &mut found)?;
        }
    }
    Ok(found)
}

/// The name of a domain that an account of a run is at.
pub fn name(conn: &mut SqliteConnection, id: i32) -> Result<String, DatabaseError> {
    Ok(mail_domain::table.find(id).select(mail_domain::name).first(conn)?)
}

fn look_up(
    db: &mut Db,
    names: &[&str],
    found: &mut HashMap<String, i32>,
) -> Result<(), DatabaseError> {
    let rows: Vec<(String, i32)> = mail_domain::table
        .filter(mail_domain::name.eq_any(names))
        .select((mail_domain::name, mail_domain::id))
        .load(db)?;
    found.extend(rows);
    Ok(())
}

fn add(db: &mut Db, names: &[&str]) -> Result<(), DatabaseError> {
    let rows: Vec<_> = names
        .iter()
        .map(|name| {
            let reversed: String = name.chars().rev().collect();
            (mail_domain::name.eq(*name), mail_domain::rname.eq(reversed))
        })
        .collect();
    on_backend!(db, conn => diesel::insert_into(mail_domain::table)
        .values(&rows)
        .on_conflict_do_nothing()
        .execute(conn))?;
    Ok(())
}

/// Domains that are read at once.
const PAGE: i64 = 10_000;

/// Counts the filed names that can be no domain, and removes those of which no account is left.
pub fn each_odd(db: &mut Db, remove: bool) -> Result<u64, DatabaseError> {
    let (mut after, mut found) = (i32::MIN, 0);
    loop {
        let rows: Vec<(i32, String)> = mail_domain::table
            .filter(mail_domain::id.gt(after))
            .order(mail_domain::id)
            .limit(PAGE)
            .select((mail_domain::id, mail_domain::name))
            .load(db)?;
        let Some((last, _)) = rows.last() else { return Ok(found) };
        after = *last;
        for (id, _) in rows.iter().filter(|(_, name)| !loaded_address::is_domain(name)) {
            found += 1;
            let accounts = account::table.filter(account::domain_id.eq(id));
            if remove && !diesel::select(exists(accounts)).get_result::<bool>(db)? {
                diesel::delete(mail_domain::table.find(id)).execute(db)?;
            }
        }
    }
}
