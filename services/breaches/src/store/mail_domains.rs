//! Domains of addresses and websites, stored once each.

use std::collections::{BTreeSet, HashMap};

use database::{DatabaseError, Db, on_backend};
use diesel::dsl::{exists, sql};
use diesel::prelude::*;
use diesel::sql_types::{Bool, Text};
use parking_lot::RwLock;

use super::schema::{account, domain_account, mail_domain, stealer_log};
use super::{unfiled_accounts, versions};
use crate::model::{loaded_address, website};

/// Number of names to look up per statement.
const CHUNK: usize = 500;

/// Looks up a domain's id.
pub fn id(db: &mut Db, name: &str) -> Result<Option<i32>, DatabaseError> {
    Ok(mail_domain::table
        .filter(mail_domain::name.eq(name))
        .select(mail_domain::id)
        .first(db)
        .optional()?)
}

/// Looks up the ids of domains, adding those we don't know yet. The caller must hold the lock of
/// [`versions::lock_accounts`], so that nothing else adds the same names.
pub fn ids(db: &mut Db, names: &[&str]) -> Result<HashMap<String, i32>, DatabaseError> {
    let mut found = HashMap::with_capacity(names.len());
    look_up(db, names, &mut found)?;
    let missing: Vec<&str> =
        names.iter().copied().filter(|name| !found.contains_key(*name)).collect();
    if !missing.is_empty() {
        add(db, &missing)?;
        look_up(db, &missing, &mut found)?;
    }
    Ok(found)
}

/// Looks up a domain's name for an account in a run.
pub fn name(conn: &mut SqliteConnection, id: i32) -> Result<String, DatabaseError> {
    let name = mail_domain::table.find(id).select(mail_domain::name);
    name.first::<String>(conn).optional()?.ok_or_else(|| {
        let cause = format!("an account refers to row {id} of mail_domain, which is missing");
        DatabaseError::broken(cause)
    })
}

/// Looks up the names of domains.
pub fn names(db: &mut Db, ids: &[i32]) -> Result<HashMap<i32, String>, DatabaseError> {
    let rows: Vec<(i32, String)> = mail_domain::table
        .filter(mail_domain::id.eq_any(ids))
        .select((mail_domain::id, mail_domain::name))
        .load(db)?;
    Ok(rows.into_iter().collect())
}

/// Domain names cached for all connections of the process. Without the cache, reading accounts in
/// runs would take a statement per domain, and each lookup on PostgreSQL would take a second
/// statement.
///
/// The ids of removed domains aren't reused. On PostgreSQL, however, the id of a domain that a
/// failover has lost can be assigned to another one, so no name is kept for longer than two
/// minutes.
#[derive(Debug, Default)]
pub struct KnownNames(RwLock<Names>);

#[derive(Debug, Default)]
struct Names {
    /// Unix time of the oldest name. Always 0 on SQLite.
    since: i64,
    by_id: HashMap<i32, Box<str>>,
}

/// Maximum number of cached names. These take 10 MB if their lengths are typical, and 40 MB if
/// they're all as long as possible.
const MAX_KNOWN: usize = 131_072;

/// How many names [`KnownNames::renew`] reads.
const RENEWED: i64 = 65_536;

/// How long names are cached on PostgreSQL at most, in seconds.
const LONGEST: i64 = 120;

impl KnownNames {
    /// Looks up the names of domains, in the order of their ids.
    pub fn names(
        &self,
        conn: &mut SqliteConnection,
        ids: impl Iterator<Item = i32>,
    ) -> Result<Vec<String>, DatabaseError> {
        let known: Vec<(i32, Option<String>)> = {
            let known = self.0.read();
            ids.map(|id| (id, known.by_id.get(&id).map(|name| name.to_string()))).collect()
        };
        let read = |(id, known): (i32, Option<String>)| match known {
            Some(name) => Ok(name),
            None => self.read(conn, id),
        };
        known.into_iter().map(read).collect()
    }

    /// Replaces all names with those of the domains that were loaded first, because these tend to
    /// have the most accounts. For PostgreSQL.
    pub fn renew(&self, db: &mut Db, now: i64) -> Result<(), DatabaseError> {
        let rows: Vec<(i32, String)> = mail_domain::table
            .select((mail_domain::id, mail_domain::name))
            .order(mail_domain::id)
            .limit(RENEWED)
            .load(db)?;
        let domains = rows.into_iter().filter(|(_, name)| loaded_address::is_domain(name));
        let by_id = domains.map(|(id, name)| (id, name.into())).collect();
        *self.0.write() = Names { since: now, by_id };
        Ok(())
    }

    /// Looks up the names of domains at the time `now`. Reads any that aren't cached with a single
    /// statement. For PostgreSQL.
    pub fn by_id(
        &self,
        db: &mut Db,
        ids: &BTreeSet<i32>,
        now: i64,
    ) -> Result<HashMap<i32, String>, DatabaseError> {
        if now - self.0.read().since >= LONGEST {
            *self.0.write() = Names { since: now, by_id: HashMap::new() };
        }
        let mut found = HashMap::with_capacity(ids.len());
        let mut missing = Vec::new();
        {
            let known = self.0.read();
            for id in ids {
                match known.by_id.get(id) {
                    Some(name) => drop(found.insert(*id, name.to_string())),
                    None => missing.push(*id),
                }
            }
        }
        if !missing.is_empty() {
            for (id, name) in names(db, &missing)? {
                self.keep(id, &name);
                found.insert(id, name);
            }
        }
        Ok(found)
    }

    fn read(&self, conn: &mut SqliteConnection, id: i32) -> Result<String, DatabaseError> {
        // A previous account may have added it to the cache in the meantime.
        if let Some(name) = self.0.read().by_id.get(&id) {
            return Ok(name.to_string());
        }
        let name = name(conn, id)?;
        self.keep(id, &name);
        Ok(name)
    }

    fn keep(&self, id: i32, name: &str) {
        if loaded_address::is_domain(name) {
            let mut known = self.0.write();
            if known.by_id.len() >= MAX_KNOWN {
                known.by_id.clear();
            }
            known.by_id.insert(id, name.into());
        }
    }
}

/// Lists known subdomains of a domain. Since names are also stored reversed, this is a single index
/// range.
pub fn below(db: &mut Db, domain: &str) -> Result<Vec<String>, DatabaseError> {
    let start: String = domain.chars().rev().chain(['.']).collect();
    // `/` is the character after `.`.
    let end = format!("{}/", start.trim_end_matches('.'));
    Ok(match db {
        Db::Sqlite(conn) => mail_domain::table
            .filter(mail_domain::rname.ge(start).and(mail_domain::rname.lt(end)))
            .select(mail_domain::name)
            .load(conn)?,
        Db::Pg(conn) => mail_domain::table
            .filter(sql::<Bool>(r#"rname COLLATE "C" >= "#).bind::<Text, _>(start))
            .filter(sql::<Bool>(r#"rname COLLATE "C" < "#).bind::<Text, _>(end))
            .select(mail_domain::name)
            .load(conn)?,
    })
}

fn look_up(
    db: &mut Db,
    names: &[&str],
    found: &mut HashMap<String, i32>,
) -> Result<(), DatabaseError> {
    for chunk in names.chunks(CHUNK) {
        let rows: Vec<(String, i32)> = mail_domain::table
            .filter(mail_domain::name.eq_any(chunk))
            .select((mail_domain::name, mail_domain::id))
            .load(db)?;
        found.extend(rows);
    }
    Ok(())
}

#[derive(Insertable)]
#[diesel(table_name = mail_domain, treat_none_as_default_value = false)]
struct NewDomain<'a> {
    name: &'a str,
    rname: String,
}

fn add(db: &mut Db, names: &[&str]) -> Result<(), DatabaseError> {
    // A name might be listed twice.
    let names: BTreeSet<&str> = names.iter().copied().collect();
    let reversed = |name: &str| name.chars().rev().collect();
    let rows: Vec<NewDomain<'_>> =
        names.into_iter().map(|name| NewDomain { name, rname: reversed(name) }).collect();
    match db {
        Db::Sqlite(conn) => {
            for chunk in rows.chunks(CHUNK) {
                diesel::insert_into(mail_domain::table)
                    .values(chunk)
                    .on_conflict_do_nothing()
                    .execute(conn)?;
            }
        }
        // On a distributed database, every server has a copy of this table, and the coordinator
        // writes each row of an INSERT as text into the statement for each server.
        Db::Pg(conn) => {
            diesel::copy_from(mail_domain::table).from_insertable(rows).execute(conn)?;
        }
    }
    Ok(())
}

/// Number of domains to read per query.
const PAGE: i64 = 10_000;

/// Returns the next page of domains, ordered by id.
pub fn page(db: &mut Db, after: i32) -> Result<Vec<(i32, String)>, DatabaseError> {
    Ok(mail_domain::table
        .filter(mail_domain::id.gt(after))
        .order(mail_domain::id)
        .limit(PAGE)
        .select((mail_domain::id, mail_domain::name))
        .load(db)?)
}

/// The ids of the odd names on a page of domains.
#[derive(Debug)]
pub struct OddPage {
    pub ids: Vec<i32>,
    /// Highest id examined. The next page starts after it.
    pub last: i32,
}

/// Finds the odd names among the next few thousand domains with ids above the given one. Returns
/// `None` at the end.
pub type FindOdd = fn(&mut Db, i32) -> Result<Option<OddPage>, DatabaseError>;

/// Counts odd names.
pub fn count_odd(db: &mut Db, find: FindOdd) -> Result<u64, DatabaseError> {
    let (mut after, mut found) = (i32::MIN, 0);
    while let Some(page) = find(db, after)? {
        after = page.last;
        found += page.ids.len() as u64;
    }
    Ok(found)
}

/// Finds names that are neither valid email domains nor websites in stealer logs; see [`FindOdd`].
pub fn odd_domains(db: &mut Db, after: i32) -> Result<Option<OddPage>, DatabaseError> {
    let rows = page(db, after)?;
    let Some(&(last, _)) = rows.last() else { return Ok(None) };
    let mut ids = Vec::new();
    for (id, name) in rows.iter().filter(|(_, name)| !loaded_address::is_domain(name)) {
        if !website::is_stored(name) || !is_website(db, *id)? {
            ids.push(*id);
        }
    }
    Ok(Some(OddPage { ids, last }))
}

/// Returns `true` if any stealer log entry refers to this website.
fn is_website(db: &mut Db, id: i32) -> Result<bool, DatabaseError> {
    let logins = stealer_log::table.filter(stealer_log::website_id.eq(id)).select(stealer_log::k);
    Ok(diesel::select(exists(logins)).get_result(db)?)
}

/// Deletes a domain unless it's used by an account in the table or by a stealer log. Returns whether
/// it did.
pub fn remove_unused(db: &mut Db, id: i32) -> Result<bool, DatabaseError> {
    if is_used_in_tables(db, id)? { Ok(false) } else { delete(db, id) }
}

/// Deletes domains, and returns their number; see [`remove_unused`].
pub fn remove_all_unused(db: &mut Db, ids: &[i32]) -> Result<u64, DatabaseError> {
    let mut removed = 0;
    for id in ids {
        removed += u64::from(remove_unused(db, *id)?);
    }
    Ok(removed)
}

/// Deletes a domain, which makes running loads drop their cached ids. Returns `false` if there was
/// none.
pub(super) fn delete(db: &mut Db, id: i32) -> Result<bool, DatabaseError> {
    let deleted = diesel::delete(mail_domain::table.find(id)).execute(db)?;
    versions::bump_removed_domains(db)?;
    Ok(deleted > 0)
}

/// Deletes domains; see [`delete`].
pub(super) fn delete_all(db: &mut Db, ids: &[i32]) -> Result<(), DatabaseError> {
    for chunk in ids.chunks(CHUNK) {
        let domains = mail_domain::table.filter(mail_domain::id.eq_any(chunk));
        on_backend!(db, conn => diesel::delete(domains).execute(conn))?;
    }
    if ids.is_empty() { Ok(()) } else { versions::bump_removed_domains(db) }
}

/// Returns `true` if the domain is used by an account in the table or by a stealer log. While the
/// by-domain index is incomplete, every domain counts as used.
pub(super) fn is_used_in_tables(db: &mut Db, id: i32) -> Result<bool, DatabaseError> {
    if unfiled_accounts::any(db)? {
        return Ok(true);
    }
    let is_used = match db {
        Db::Sqlite(conn) => {
            let entries = domain_account::table.filter(domain_account::domain_id.eq(id));
            let is_filed = exists(entries.select(domain_account::k));
            diesel::select(is_filed).get_result::<bool>(conn)?
        }
        Db::Pg(conn) => {
            let accounts = account::table.filter(account::domain_id.eq(id)).select(account::k);
            diesel::select(exists(accounts)).get_result::<bool>(conn)?
        }
    };
    Ok(is_used || is_website(db, id)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::{MIGRATIONS, stealer_logs};

    #[test]
    fn id_of_a_removed_name_is_not_reused() {
        let database = testkit::Database::new();
        let pools = database.open(&[&auth::MIGRATIONS, &MIGRATIONS]);
        let given = pools.write_blocking(|db| {
            let odd = ids(db, &["odd domain"])?["odd domain"];
            remove_all_unused(db, &[odd])?;
            Ok::<_, DatabaseError>((odd, ids(db, &["next.example"])?["next.example"]))
        });
        let (odd, next) = given.unwrap();
        assert!(next > odd, "{next} after {odd}");
    }

    #[test]
    fn cleaning_keeps_websites_of_stealer_logs() {
        let database = testkit::Database::new();
        let pools = database.open(&[&auth::MIGRATIONS, &MIGRATIONS]);
        let left = pools.write_blocking(|db| {
            let website_id = ids(db, &["odd website"])?["odd website"];
            let pair = stealer_logs::NewPair { k: 1, seq: 0, website_id, breach_id: 1 };
            stealer_logs::add(db, &[pair])?;
            remove_all_unused(db, &[website_id])?;
            id(db, "odd website")
        });
        assert!(left.unwrap().is_some());
    }

    #[test]
    fn website_that_cannot_be_a_mail_domain_is_not_odd() {
        let database = testkit::Database::new();
        let pools = database.open(&[&auth::MIGRATIONS, &MIGRATIONS]);
        let odd = pools.write_blocking(|db| {
            let known = ids(db, &["my--shop.example", "com.example.8ball", "my--mail.example"])?;
            for website in ["my--shop.example", "com.example.8ball"] {
                let website_id = known[website];
                let pair = stealer_logs::NewPair { k: 1, seq: 0, website_id, breach_id: 1 };
                stealer_logs::add(db, &[pair])?;
            }
            let found = odd_domains(db, i32::MIN)?.ok_or(DatabaseError::NotFound)?;
            assert!(odd_domains(db, found.last)?.is_none());
            Ok::<_, DatabaseError>((found.ids, known["my--mail.example"]))
        });
        let (odd, expected) = odd.unwrap();
        assert_eq!(odd, [expected]);
    }

    #[test]
    fn known_name_is_not_read_again() {
        let database = testkit::Database::new();
        let pools = database.open(&[&auth::MIGRATIONS, &MIGRATIONS]);
        let known = KnownNames::default();
        let names = pools.write_blocking(|db| {
            let kept = ids(db, &["kept.example"])?["kept.example"];
            let names = |db: &mut Db| match db {
                Db::Sqlite(conn) => known.names(conn, [kept, kept].into_iter()).map(Some),
                Db::Pg(_) => Ok(None),
            };
            names(db)?;
            diesel::update(mail_domain::table.find(kept))
                .set(mail_domain::name.eq("read.again.example"))
                .execute(db)?;
            names(db)
        });
        if let Some(names) = names.unwrap() {
            assert_eq!(names, ["kept.example", "kept.example"]);
        }
    }

    #[test]
    fn only_names_that_are_not_known_are_read_together() {
        let database = testkit::Database::new();
        let pools = database.open(&[&auth::MIGRATIONS, &MIGRATIONS]);
        let known = KnownNames::default();
        let (found, expected) = pools
            .write_blocking(|db| {
                let new = ids(db, &["one.example", "two.example", "odd domain"])?;
                let (one, two, odd) = (new["one.example"], new["two.example"], new["odd domain"]);
                known.by_id(db, &[one, odd].into(), 0)?;
                for id in [one, odd] {
                    diesel::update(mail_domain::table.find(id))
                        .set(mail_domain::name.eq(format!("changed{id}.example")))
                        .execute(db)?;
                }
                let expected = HashMap::from([
                    (one, "one.example".to_owned()),
                    (two, "two.example".to_owned()),
                    // A name that is not a domain may be removed, so it is not cached.
                    (odd, format!("changed{odd}.example")),
                ]);
                let wanted = [one, two, odd, i32::MAX].into();
                Ok::<_, DatabaseError>((known.by_id(db, &wanted, 59)?, expected))
            })
            .unwrap();
        assert_eq!(found, expected);
    }

    #[test]
    fn name_is_read_again_after_two_minutes_and_when_all_are_renewed() {
        let database = testkit::Database::new();
        let pools = database.open(&[&auth::MIGRATIONS, &MIGRATIONS]);
        let known = KnownNames::default();
        let found = pools.write_blocking(|db| {
            let id = ids(db, &["lost.example"])?["lost.example"];
            let name = |db: &mut Db, now| -> Result<String, DatabaseError> {
                Ok(known.by_id(db, &[id].into(), now)?[&id].clone())
            };
            name(db, 60)?;
            diesel::update(mail_domain::table.find(id))
                .set(mail_domain::name.eq("other.example"))
                .execute(db)?;
            let found = [name(db, 119)?, name(db, 120)?];
            diesel::update(mail_domain::table.find(id))
                .set(mail_domain::name.eq("third.example"))
                .execute(db)?;
            let kept = name(db, 130)?;
            known.renew(db, 131)?;
            diesel::delete(mail_domain::table.find(id)).execute(db)?;
            let [lost, other] = found;
            Ok::<_, DatabaseError>([lost, other, kept, name(db, 250)?])
        });
        let expected = ["lost.example", "other.example", "other.example", "third.example"];
        assert_eq!(found.unwrap(), expected);
    }
}
