//! Writing accounts: linking them to a breach, one by one or in batches.

use std::collections::HashMap;

use database::{DatabaseError, Db, on_backend};
use diesel::backend::Backend;
use diesel::pg::Pg;
use diesel::prelude::*;
use diesel::query_builder::{AstPass, QueryFragment, QueryId};
use diesel::serialize::ToSql;
use diesel::sql_types::{BigInt, Binary, HasSqlType, Integer, Text};
use diesel::sqlite::Sqlite;
use domain::EmailAddress;

use super::accounts::AccountRow;
use super::domain_accounts::{self, DomainAccount};
use super::schema::{account, mail_domain, paste_account, stealer_log};
use crate::model::{AccountKey, address_text, id_list};

/// Rows of one statement; a constant, so that the statement is prepared once.
const GROUP: usize = 100;

/// An account that a load brings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewAccount<'a> {
    /// Key.
    pub k: i64,
    /// Domain as A-labels.
    pub domain: &'a str,
    /// Id of the domain.
    pub domain_id: i32,
    /// Local part as stored.
    pub local: &'a str,
}

impl NewAccount<'_> {
    fn filed(&self, seq: i16) -> DomainAccount {
        DomainAccount { domain_id: self.domain_id, k: self.k, seq }
    }
}

/// Inserts accounts that are new, all with one list, and passes over keys that exist.
///
/// SQLite gets `OR IGNORE`, which cannot fail half-way: with any other form it copies every page that
/// the statement touches, to be able to undo that statement alone.
struct InsertNew<'a, const ROWS: usize> {
    rows: &'a [NewAccount<'a>; ROWS],
    list: &'a [u8],
}

impl<const ROWS: usize> InsertNew<'_, ROWS> {
    /// `first` is how the database writes its first parameter: all rows share the list.
    fn values<'b, B>(&'b self, first: &str, out: &mut AstPass<'_, 'b, B>) -> QueryResult<()>
    where
        B: Backend + HasSqlType<BigInt> + HasSqlType<Integer> + HasSqlType<Text>,
        B: HasSqlType<Binary>,
        i64: ToSql<BigInt, B>,
        i32: ToSql<Integer, B>,
        str: ToSql<Text, B>,
        [u8]: ToSql<Binary, B>,
    {
        out.push_sql(" INTO account (breaches, seq, k, domain_id, local) VALUES (");
        out.push_bind_param::<Binary, _>(self.list)?;
        for (index, row) in self.rows.iter().enumerate() {
            if index > 0 {
                out.push_sql("), (");
                out.push_sql(first);
            }
            out.push_sql(", 0, ");
            out.push_bind_param::<BigInt, _>(&row.k)?;
            out.push_sql(", ");
            out.push_bind_param::<Integer, _>(&row.domain_id)?;
            out.push_sql(", ");
            out.push_bind_param::<Text, _>(row.local)?;
        }
        out.push_sql(")");
        Ok(())
    }
}

impl<const ROWS: usize> QueryFragment<Sqlite> for InsertNew<'_, ROWS> {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Sqlite>) -> QueryResult<()> {
        out.push_sql("INSERT OR IGNORE");
        self.values("?1", &mut out)
    }
}

impl<const ROWS: usize> QueryFragment<Pg> for InsertNew<'_, ROWS> {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Pg>) -> QueryResult<()> {
        out.push_sql("INSERT");
        self.values("$1", &mut out)?;
        out.push_sql(" ON CONFLICT DO NOTHING");
        Ok(())
    }
}

/// The text depends on the number of rows alone, so each is prepared once.
impl<const ROWS: usize> QueryId for InsertNew<'_, ROWS> {
    type QueryId = InsertNew<'static, ROWS>;
    const HAS_STATIC_QUERY_ID: bool = true;
}

impl<const ROWS: usize, C> RunQueryDsl<C> for InsertNew<'_, ROWS> {}

/// Links accounts to `breach` and returns how many were not linked before.
///
/// Most rows of a load are new, so a group is inserted first and only looked at more closely
/// when some of its keys existed. `new` is sorted by key and without repetitions.
///
/// What is still to be filed under its domain is added to `filings`.
pub fn link(
    db: &mut Db,
    new: &[NewAccount<'_>],
    breach: u16,
    filings: &mut Vec<DomainAccount>,
) -> Result<i64, DatabaseError> {
    let list = breach.to_le_bytes();
    let mut added = 0;
    for group in groups(new) {
        let inserted = insert_group(db, group, &list)?;
        added += if inserted == group.len() {
            filings.extend(group.iter().map(|new| new.filed(0)));
            i64::try_from(inserted).map_err(DatabaseError::broken)?
        } else {
            link_existing(db, group, breach, inserted, filings)?
        };
    }
    Ok(added)
}

/// Cuts into groups so that equal keys are never in one group: a second address with the same key
/// must see the first one as existing.
fn groups<'s, 'a>(new: &'s [NewAccount<'a>]) -> impl Iterator<Item = &'s [NewAccount<'a>]> {
    new.chunk_by(|a, b| a.k != b.k).flat_map(|distinct| distinct.chunks(GROUP))
}

fn insert_group(
    db: &mut Db,
    group: &[NewAccount<'_>],
    list: &[u8],
) -> Result<usize, DatabaseError> {
    if let Ok(rows) = <&[NewAccount<'_>; GROUP]>::try_from(group) {
        return Ok(on_backend!(db, conn => InsertNew { rows, list }.execute(conn))?);
    }
    let mut inserted = 0;
    for row in group {
        let rows = std::array::from_ref(row);
        inserted += on_backend!(db, conn => InsertNew { rows, list }.execute(conn))?;
    }
    Ok(inserted)
}

/// Handles a group of which some keys existed before.
///
/// Rows inserted just now carry exactly the list of `breach` alone, like rows that an earlier load
/// of the same breach made; both need no change, and `inserted` is how many are new. All of them
/// are added to `filings`: those of an earlier load are passed over where they are filed.
fn link_existing(
    db: &mut Db,
    group: &[NewAccount<'_>],
    breach: u16,
    inserted: usize,
    filings: &mut Vec<DomainAccount>,
) -> Result<i64, DatabaseError> {
    let keys: Vec<i64> = group.iter().map(|new| new.k).collect();
    let mut rows: HashMap<i64, Vec<AccountRow>> = HashMap::with_capacity(keys.len());
    for row in with_keys(db, &keys)? {
        rows.entry(row.k).or_default().push(row);
    }
    let mut added = i64::try_from(inserted).map_err(DatabaseError::broken)?;
    for new in group {
        let same_key = rows.get(&new.k).map_or(&[][..], Vec::as_slice);
        let own = same_key.iter().find(|row| row.local == new.local && row.domain == new.domain);
        match own {
            Some(row) => match id_list::with(&row.breaches, breach) {
                Some(longer) => {
                    set_list(db, (row.k, row.seq), &longer)?;
                    added += 1;
                }
                None if row.breaches == breach.to_le_bytes() => filings.push(new.filed(row.seq)),
                None => {}
            },
            None => {
                insert_behind(db, new, same_key, &breach.to_le_bytes())?;
                added += 1;
            }
        }
    }
    Ok(added)
}

fn with_keys(db: &mut Db, keys: &[i64]) -> Result<Vec<AccountRow>, DatabaseError> {
    Ok(account::table
        .inner_join(mail_domain::table)
        .filter(account::k.eq_any(keys))
        .select((account::k, account::seq, account::local, mail_domain::name, account::breaches))
        .load(db)?)
}

/// Adds an account whose key another address has already.
fn insert_behind(
    db: &mut Db,
    new: &NewAccount<'_>,
    same_key: &[AccountRow],
    list: &[u8],
) -> Result<i16, DatabaseError> {
    let seq = same_key.iter().map(|row| row.seq + 1).max().unwrap_or(0);
    diesel::insert_into(account::table)
        .values((
            account::k.eq(new.k),
            account::seq.eq(seq),
            account::domain_id.eq(new.domain_id),
            account::local.eq(new.local),
            account::breaches.eq(list),
        ))
        .execute(db)?;
    domain_accounts::add(db, &mut [new.filed(seq)])?;
    Ok(seq)
}

/// Replaces the packed list of an account.
pub fn set_list(db: &mut Db, (k, seq): (i64, i16), list: &[u8]) -> Result<(), DatabaseError> {
    diesel::update(account::table.find((k, seq))).set(account::breaches.eq(list)).execute(db)?;
    Ok(())
}

/// The account of an address, created with an empty list if it has none.
pub fn ensure(db: &mut Db, address: &EmailAddress) -> Result<AccountRow, DatabaseError> {
    if let Some(row) = super::accounts::find(db, address)? {
        return Ok(row);
    }
    let k = AccountKey::of(&address.sha1()).0;
    let same_key = with_keys(db, &[k])?;
    let domain = address.domain();
    let ids = super::mail_domains::ids(db, &[domain])?;
    let domain_id = ids.get(domain).copied().ok_or(DatabaseError::NotFound)?;
    let local = address_text::stored_local(address);
    let new = NewAccount { k, domain, domain_id, local: &local };
    let seq = insert_behind(db, &new, &same_key, &[])?;
    Ok(AccountRow {
        k,
        seq,
        local: local.into_owned(),
        domain: domain.to_owned(),
        breaches: Vec::new(),
    })
}

/// Links one address to a breach; whether it was not linked before.
pub fn link_one(db: &mut Db, address: &EmailAddress, breach: u16) -> Result<bool, DatabaseError> {
    let row = ensure(db, address)?;
    let Some(longer) = id_list::with(&row.breaches, breach) else { return Ok(false) };
    set_list(db, (row.k, row.seq), &longer)?;
    Ok(true)
}

/// Removes an account with its stealer-log pairs and its links to pastes.
pub fn remove(db: &mut Db, (k, seq): (i64, i16)) -> Result<(), DatabaseError> {
    diesel::delete(stealer_log::table.filter(stealer_log::k.eq(k).and(stealer_log::seq.eq(seq))))
        .execute(db)?;
    diesel::delete(
        paste_account::table.filter(paste_account::k.eq(k).and(paste_account::seq.eq(seq))),
    )
    .execute(db)?;
    diesel::delete(account::table.find((k, seq))).execute(db)?;
    Ok(())
}

/// The key of the account whose stored local part is before the last `@` of `sorted_text` and whose
/// domain is behind it; none when it is not stored.
pub fn find_sorted(db: &mut Db, sorted_text: &str) -> Result<Option<(i64, i16)>, DatabaseError> {
    let (local, domain) = sorted_text.rsplit_once('@').unwrap_or((sorted_text, ""));
    let digest = address_text::digest(local, domain);
    let rows = super::accounts::with_key(db, AccountKey::of(&digest))?;
    let own = rows.into_iter().find(|row| row.local == local && row.domain == domain);
    Ok(own.map(|row| (row.k, row.seq)))
}
