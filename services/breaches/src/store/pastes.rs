//! Pastes and their links to accounts.

use std::collections::HashSet;

use database::{DatabaseError, Db};
use diesel::dsl::auto_type;
use diesel::prelude::*;

use super::schema::{paste, paste_account, paste_source};
use super::shard::{self, KeyIs};
use super::{notices, untold_pastes};
use crate::model::paste::Paste;

/// Query for the row ids of an account's pastes.
#[auto_type]
pub fn by_account(k: i64, seq: i16) -> _ {
    let has_key: KeyIs<paste_account::table> = shard::key_is(k);
    paste_account::table
        .filter(has_key)
        .filter(paste_account::seq.eq(seq))
        .select(paste_account::paste_id)
}

#[derive(Queryable)]
struct Row {
    source: String,
    id: String,
    title: Option<String>,
    date: Option<i64>,
    email_count: i64,
}

impl From<Row> for Paste {
    fn from(row: Row) -> Self {
        let Row { source, id, title, date, email_count } = row;
        Self { source, id, title, date, email_count }
    }
}

/// Reads an account's pastes in no particular order.
pub fn of_account(db: &mut Db, (k, seq): (i64, i16)) -> Result<Vec<Paste>, DatabaseError> {
    let pastes = numbered_of_account(db, (k, seq))?;
    Ok(pastes.into_iter().map(|(_, paste)| paste).collect())
}

/// Reads an account's pastes along with their row ids.
///
/// This takes two queries because a distributed database stores pastes and accounts on different
/// servers. Few accounts have pastes, so the second query is rarely needed.
pub fn numbered_of_account(
    db: &mut Db,
    (k, seq): (i64, i16),
) -> Result<Vec<(i64, Paste)>, DatabaseError> {
    let numbers: Vec<i64> = by_account(k, seq).load(db)?;
    let mut found = Vec::new();
    // Each id is a bind variable, and SQLite limits how many there can be.
    for numbers in numbers.chunks(1_000) {
        let rows: Vec<(i64, Row)> = paste::table
            .inner_join(paste_source::table)
            .filter(paste::id.eq_any(numbers))
            .select((
                paste::id,
                (
                    paste_source::name,
                    paste::paste_id,
                    paste::title,
                    paste::date,
                    paste::email_count,
                ),
            ))
            .load(db)?;
        found.extend(rows.into_iter().map(|(number, row)| (number, row.into())));
    }
    Ok(found)
}

/// Inserts or updates a paste by source and id. Returns its row id.
pub fn upsert(db: &mut Db, new: &Paste) -> Result<i64, DatabaseError> {
    let source = source_id(db, &new.source)?;
    let key = paste::source.eq(source).and(paste::paste_id.eq(&new.id));
    let values = (
        paste::title.eq(&new.title),
        paste::date.eq(new.date),
        paste::email_count.eq(new.email_count),
    );
    let changed = diesel::update(paste::table.filter(key)).set(values).execute(db)?;
    if changed == 0 {
        diesel::insert_into(paste::table)
            .values((
                paste::source.eq(source),
                paste::paste_id.eq(&new.id),
                paste::title.eq(&new.title),
                paste::date.eq(new.date),
                paste::email_count.eq(new.email_count),
            ))
            .execute(db)?;
    }
    Ok(paste::table.filter(key).select(paste::id).first(db)?)
}

/// An account in a paste.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Insertable, Queryable)]
#[diesel(table_name = paste_account, treat_none_as_default_value = false)]
pub struct PasteAccount {
    /// Account key.
    pub k: i64,
    /// Sequence number among accounts with the same key.
    pub seq: i16,
    /// Row id of the paste.
    pub paste_id: i64,
}

/// Links accounts to pastes. Returns the new links.
pub fn add_accounts(
    db: &mut Db,
    links: &[PasteAccount],
) -> Result<HashSet<PasteAccount>, DatabaseError> {
    let mut added = HashSet::new();
    for chunk in links.chunks(1_000) {
        match db {
            Db::Sqlite(conn) => {
                for link in chunk {
                    let rows = diesel::insert_into(paste_account::table)
                        .values(link)
                        .on_conflict_do_nothing()
                        .execute(conn)?;
                    added.extend((rows == 1).then_some(*link));
                }
            }
            Db::Pg(conn) => {
                let sharded =
                    |link: &PasteAccount| (*link, paste_account::shard.eq(shard::of_key(link.k)));
                let new: Vec<PasteAccount> = diesel::insert_into(paste_account::table)
                    .values(chunk.iter().map(sharded).collect::<Vec<_>>())
                    .on_conflict_do_nothing()
                    .returning((paste_account::k, paste_account::seq, paste_account::paste_id))
                    .get_results(conn)?;
                added.extend(new);
            }
        }
    }
    Ok(added)
}

/// Deletes a paste with its links and notice state.
pub fn remove(db: &mut Db, source: &str, id: &str) -> Result<(), DatabaseError> {
    let source = source_id(db, source)?;
    let rows = paste::table.filter(paste::source.eq(source).and(paste::paste_id.eq(id)));
    let number: Option<i64> = rows.select(paste::id).first(db).optional()?;
    if let Some(number) = number {
        let links: Vec<(i64, i16)> = paste_account::table
            .filter(paste_account::paste_id.eq(number))
            .select((paste_account::k, paste_account::seq))
            .load(db)?;
        for (k, seq) in links {
            let row = shard::key_is::<paste_account::table>(k)
                .and(paste_account::seq.eq(seq))
                .and(paste_account::paste_id.eq(number));
            diesel::delete(paste_account::table.filter(row)).execute(db)?;
        }
        untold_pastes::forget(db, number)?;
        notices::forget_paste(db, number)?;
        diesel::delete(paste::table.find(number)).execute(db)?;
    }
    Ok(())
}

pub fn count(db: &mut Db) -> Result<i64, DatabaseError> {
    Ok(paste::table.count().get_result(db)?)
}

fn source_id(db: &mut Db, name: &str) -> Result<i16, DatabaseError> {
    let known = paste_source::table.filter(paste_source::name.eq(name)).select(paste_source::id);
    if let Some(id) = known.first(db).optional()? {
        return Ok(id);
    }
    let highest: Option<i16> =
        paste_source::table.select(diesel::dsl::max(paste_source::id)).first(db)?;
    let id = highest.unwrap_or(0).checked_add(1).ok_or(DatabaseError::Conflict)?;
    diesel::insert_into(paste_source::table)
        .values((paste_source::id.eq(id), paste_source::name.eq(name)))
        .execute(db)?;
    Ok(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn account_in_more_pastes_than_sqlite_has_variables_is_read() {
        let database = testkit::Database::new();
        let pools = database.open(&[&auth::MIGRATIONS, &crate::store::MIGRATIONS]);
        let found = pools.write_blocking(|db| {
            let (source, id) = ("Pastebin".to_owned(), "1".to_owned());
            let paste = Paste { source, id, title: None, date: None, email_count: 1 };
            let number = upsert(db, &paste)?;
            // SQLite allows at most 32,766 variables.
            let links: Vec<PasteAccount> = (number..number + 33_000)
                .map(|paste_id| PasteAccount { k: 1, seq: 0, paste_id })
                .collect();
            assert_eq!(add_accounts(db, &links)?.len(), links.len());
            Ok::<_, DatabaseError>((of_account(db, (1, 0))?, paste))
        });
        let (found, paste) = found.unwrap();
        assert_eq!(found, [paste]);
    }
}
